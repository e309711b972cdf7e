"""parked and foreign: what could not be applied is listed, shown, applied again, or skipped."""

import pytest

from mnemolog.ledgers import applied
from mnemolog.projections.kinds import NAMES
from mnemolog.projections.memories import projection as memories
from mnemolog.schemas.records import NewRecord
from mnemolog.schemas.values import json_bytes, parse_json
from support.parked import FAULT, failing
from support.remembering import opened

JSON_TYPE = (("content-type", b"application/cloudevents+json"),)


@pytest.fixture
def fault(monkeypatch):
    """Let the memories' fold fail on a text that has the fault's name, until it is mended."""
    failing(monkeypatch, memories, "changes_of")
    return monkeypatch


def said(data, *texts, agent="ops-1"):
    with opened(data, agent=agent) as mem:
        tokens = [mem.observe(text).token for text in texts]
        mem.engine.dispatcher.wait_until(
            lambda: tokens[-1].is_covered_by(applied(mem.engine, "memories")),
            what="applying",
            timeout_seconds=30,
        )


def recalled(cli, question="room"):
    return sorted(one["text"] for one in cli("recall", question, "--json").json["memories"])


def parked_with_two_behind(data):
    return said(data, "room 1", FAULT, "room 2", "room 3")


def test_nothing_is_parked_at_first(cli, say):
    say("room 1")
    assert cli("parked", "list", "--json").json == {"parked": [], "next": None}
    assert cli("parked", "retry").out == "nothing is parked\n"
    assert cli("foreign", "list", "--json").json == {"foreign": [], "next": None}


def test_a_parked_event_is_listed_with_its_error_and_how_many_wait(cli, data, fault):
    parked_with_two_behind(data)
    done = cli("parked", "list")
    head, row = (line.split("\t") for line in done.out.splitlines())
    assert head == ["position", "projection", "type", "agent", "since", "behind it", "error"]
    assert row[:4] == ["0@1", "memories", "observation.recorded", "ops-1"]
    assert row[5:] == ["2", f"ValueError: {FAULT}"]
    assert row[4].startswith("20")
    told = cli("parked", "list", "--behind", "--json").json["parked"]
    assert [(one["position"], one["behind"]) for one in told] == [
        ("0@1", False),
        ("0@2", True),
        ("0@3", True),
    ]


def test_lists_are_filtered_and_go_on_where_a_page_ended(cli, data, fault):
    parked_with_two_behind(data)
    said(data, FAULT, agent="ops-2")
    pages, after = [], ()
    while True:
        told = cli("parked", "list", "--rows", "1", "--json", *after).json
        pages.append([one["key"] for one in told["parked"]])
        if told["next"] is None:
            break
        after = ("--after", told["next"])
    assert pages == [["ops-1"], ["ops-2"]]
    assert len(cli("parked", "list", "--agent", "ops-2", "--json").json["parked"]) == 1
    assert cli("parked", "list", "--projection", "weights", "--json").json["parked"] == []
    assert "more: --after memories:0@1" in cli("parked", "list", "--rows", "1").err
    assert cli("parked", "list", "--projection", "dreams").code == 2
    assert cli("parked", "list", "--after", "dreams").code == 2


def test_a_parked_event_is_shown_whole_with_what_to_do_and_no_traceback(cli, data, fault):
    parked_with_two_behind(data)
    done = cli("parked", "show", "0@1")
    assert done.code == 0
    assert f"ValueError: {FAULT}" in done.out
    assert "behind it   0@2, 0@3" in done.out
    assert "to do       Mend what failed and retry" in done.out
    assert "application/cloudevents+json" in done.out
    assert "Traceback" not in done.out + done.err
    (told,) = cli("parked", "show", "0@1", "--json").json
    assert parse_json(told["value"].encode())["data"]["text"] == FAULT
    assert told["record_key"] == "ops-1"
    (behind,) = cli("parked", "show", "0@2", "--json").json
    assert behind["advice"] == "It waits behind 0@1: look at that one."
    assert cli("parked", "show", "0@0").code == 3
    assert cli("parked", "show", "first").code == 2


def test_a_retry_says_what_still_waits_and_after_the_mend_all_go_on_in_order(cli, data, fault):
    parked_with_two_behind(data)
    still = cli("parked", "retry", "0@1")
    assert still.code == 5
    assert still.out == f"memories, ops-1: 0 went on, 3 still parked: ValueError: {FAULT}\n"
    fault.undo()
    done = cli("parked", "retry", "0@1", MNEMOLOG_EMBEDDER="hashing", MNEMOLOG_DATA=str(data))
    assert (done.code, done.out) == (0, "memories, ops-1: 3 went on\n")


def test_a_retry_within_a_process_that_keeps_the_folder_says_it_too(fault):
    with opened(agent="ops-1") as mem:
        for text in ("room 1", FAULT, "room 2"):
            token = mem.observe(text).token
        mem.wait_for(token, projections=("weights",))
        mem.engine.dispatcher.wait_until(
            lambda: mem.parked().events, what="parking", timeout_seconds=30
        )
        (still,) = mem.retry(agent="ops-1")
        assert (still.went_on, still.left) == (0, 2)
        assert mem.retry(agent="nobody") == []
        fault.undo()
        (done,) = mem.retry("0@1")
        assert (done.projection, done.went_on, done.left) == ("memories", 2, 0)
        assert sorted(m.text for m in mem.recall("room", after=token)) == ["room 1", "room 2"]


def test_a_skip_needs_a_yes_and_holds_for_a_rebuild(cli, data, fault):
    parked_with_two_behind(data)
    refused = cli("parked", "skip", "0@1", stdin=b"n\n")
    assert refused.code == 1
    assert "2 wait behind it" in refused.err
    assert cli("parked", "skip", "0@2", "--yes").code == 2  # that one only waits
    done = cli("parked", "skip", "0@1", "--yes", "--reason", "no text", "--json")
    assert done.code == 0, done.err
    assert [(one["went_on"], one["left"]) for one in done.json["became"]] == [(3, 0)]
    assert recalled(cli) == ["room 1", "room 2", "room 3"]
    assert cli("rebuild", "memories").code == 0
    assert recalled(cli) == ["room 1", "room 2", "room 3"]
    assert cli("parked", "list", "--json").json["parked"] == []


def test_what_analytics_has_parked_is_listed_too(cli, data, fault):
    with opened(data, agent="ops-1") as mem:
        newer = parse_json(mem.engine.log.at(mem.observe("room 1").position).value)
        newer["id"], newer["dataschema"] = "newer", newer["dataschema"][:-1] + "99"
        put(mem, json_bytes(newer))
        last = mem.observe("room 2")
        mem.engine.dispatcher.wait_until(
            lambda: len(mem.parked().events) == len(NAMES), what="parking", timeout_seconds=30
        )
    told = cli("parked", "list", "--json").json["parked"]
    assert [(one["projection"], one["waiting"], one["newer"]) for one in told] == [
        (name, 1, True) for name in NAMES
    ]
    assert all(one["recorded_at"] for one in told)
    shown = cli("parked", "show", "0@1", "--projection", "analytics", "--json").json
    assert parse_json(shown[0]["value"].encode()) == newer
    assert shown[0]["followers"] == [str(last.position)]
    assert "upgrade" in shown[0]["advice"]


def put(mem, value, *, key=b"ops-1", content="0" * 32):
    mem.engine.log.append([NewRecord(key, value, JSON_TYPE, content, content)])


def test_foreign_records_are_listed_and_shown_with_their_bytes(cli, data, say):
    say("room 1")
    with opened(data) as mem:
        for number in range(3):
            put(mem, b"\xff no json %d" % number, content=f"{number:032x}")
        mem.wait_for(mem.end())
    first = cli("foreign", "list", "--rows", "2", "--json").json
    assert [one["position"] for one in first["foreign"]] == ["0@1", "0@2"]
    rest = cli("foreign", "list", "--after", first["next"], "--json").json
    assert [one["position"] for one in rest["foreign"]] == ["0@3"]
    assert rest["next"] is None
    table = cli("foreign", "list", "--rows", "2")
    assert table.out.splitlines()[1].split("\t")[0] == "0@1"
    assert "more: --after 0@2" in table.err
    shown = cli("foreign", "show", "0@2", "--json").json
    assert (shown["value"], shown["record_key"]) == ("\\xff no json 1", "ops-1")
    assert "no json 1" in cli("foreign", "show", "0@2").out
    assert cli("foreign", "show", "0@0").code == 3
