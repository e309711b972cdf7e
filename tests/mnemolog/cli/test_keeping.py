"""verify names what differs, rebuild mends it, doctor and status say what needs a look."""

import shlex
import shutil
import sqlite3
from contextlib import closing

import pytest

from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.records import NewRecord
from mnemolog.schemas.values import json_bytes, parse_json
from mnemolog.streams.publishing import Draft
from support import markdown
from support.remembering import opened, texts
from support.sources import ROOT


def tamper(data, projection, file, statement):
    """Change a row of what serves, as no code of ours would."""
    folder = data / "default" / projection
    serving = folder / (folder / "CURRENT").read_text().strip()
    with closing(sqlite3.connect(serving / file)) as store, store:
        assert store.execute(statement).rowcount > 0


def put_raw(mem, value, *, key=b"ops-1", content="0" * 32):
    """Append a record that is not checked, as another publisher may."""
    new = NewRecord(
        key, value, (("content-type", b"application/cloudevents+json"),), content, content
    )
    return mem.engine.log.append([new])[0]


def document(mem, *, event_id, text="x"):
    draft = Draft(model=ObservationRecorded, fields={"text": text}, agent="ops-1", id=event_id)
    built = mem.engine.publisher._built(draft, mem.engine.publisher._present())
    return parse_json(mem.engine.publisher.record(*built).value)


def test_what_is_sound_is_equal(cli, say):
    say("the pool of auth")
    done = cli("verify")
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split(":")[0] for line in lines] == list(NAMES)
    assert all(": equal, " in line for line in lines)
    told = cli("verify", "weights", "--json").json
    assert [(one["projection"], one["equal"]) for one in told] == [("weights", True)]
    assert told[0]["digests"][0] == told[0]["digests"][1]


@pytest.mark.parametrize(
    ("projection", "file", "statement", "shown"),
    [
        (
            "checkpoints",
            "index.db",
            "UPDATE timeline SET text = 'the POOL of auth' WHERE text = 'the pool of auth'",
            "the POOL of auth",
        ),
        ("checkpoints", "index.db", "DELETE FROM timeline", "None"),
    ],
)
def test_a_tampered_row_is_named_and_a_rebuild_mends_it(
    cli, say, data, projection, file, statement, shown
):
    say("the pool of auth")
    say("the pool of pay")
    tamper(data, projection, file, statement)
    done = cli("verify", projection)
    assert done.code == 1
    assert f"{projection}: differs, " in done.out
    assert "first: " in done.out
    assert "of ops-1" in done.out
    assert shown in done.out
    rebuilt = cli("rebuild", projection)
    assert rebuilt.code == 0
    assert "what served before differed" in rebuilt.err
    assert cli("verify", projection).code == 0
    assert len(cli("timeline", "--agent", "ops-1", "--json").json) == 2


@pytest.mark.parametrize("name", NAMES)
def test_a_projection_whose_folder_is_gone_is_rebuilt_equal(cli, say, data, name):
    say("the pool of auth")
    before = {one["projection"]: one["digests"][0] for one in cli("verify", "--json").json}
    shutil.rmtree(data / "default" / name)
    (rebuilt,) = cli("rebuild", name, "--json").json
    assert (rebuilt["projection"], rebuilt["digest"]) == (name, before[name])
    assert rebuilt["equal_to_former"] is None
    assert cli("verify").code == 0
    assert cli("recall", "pool", "--json", "--no-record").json["memories"]


def test_rebuilding_all_says_each_ones_digest(cli, say):
    say("the pool of auth")
    done = cli("rebuild")
    assert (done.code, done.err) == (0, "")
    assert [line.split(":")[0] for line in done.out.splitlines()] == list(NAMES)
    assert all("digest" in line for line in done.out.splitlines())


def test_an_unknown_projection_ends_with_2(cli, say):
    say("x")
    for command in ("rebuild", "verify"):
        done = cli(command, "memory")
        assert done.code == 2
        assert "memories, analytics, checkpoints, weights" in done.err


@pytest.mark.bad_input(65)
def test_another_embedder_re_embeds_and_questions_follow_it_from_then_on(cli, say, monkeypatch):
    say("the connection pool of the auth service is exhausted")
    say("lunch is at noon")
    monkeypatch.delenv("MNEMOLOG_EMBEDDER")
    refused = cli("recall", "pool", "--embedder", "fast")
    assert refused.code == 2
    assert "mnemolog rebuild memories" in refused.err
    done = cli("rebuild", "memories", "--embedder", "fast")
    assert done.code == 0, done.err
    told = cli("recall", "database connections run out", "--json", "--explain", "--no-record").json
    assert told["missing"] == []
    first = told["memories"][0]
    assert first["text"].startswith("the connection pool")
    assert first["signals"]["dense"]["rank"] == 1
    assert cli("verify", "memories").code == 0


def test_an_open_handle_asks_with_the_model_of_the_generation_that_serves(data, cli, say):
    say("the pool of auth is exhausted")
    with opened(data, read_only=True) as mem:
        assert mem.recall("which pool?").missing == ()
        assert cli("rebuild", "memories", "--embedder", "fast").code == 0
        answer = mem.recall("which pool?", explain=True)
        assert (texts(answer), answer.missing) == (["the pool of auth is exhausted"], ())
        assert "dense" in answer[0].signals


# doctor and status


def findings(done):
    return {(one["check"], one["state"]): one["detail"] for one in done.json}


def test_doctor_finds_nothing_bad_in_what_is_sound(cli, say):
    say("x")
    done = cli("doctor", "--json")
    assert done.code == 0
    assert {one["state"] for one in done.json} <= {"ok", "look"}
    assert "1 records" in findings(done)["log", "ok"]


def test_doctor_names_a_foreign_record_a_repeat_and_a_parked_event(cli, data):
    with opened(data, agent="ops-1") as mem:
        foreign = put_raw(mem, b"no event at all", content="1" * 32)
        put_raw(mem, json_bytes(document(mem, event_id="e-1", text="first")), content="2" * 32)
        repeat = put_raw(
            mem, json_bytes(document(mem, event_id="e-1", text="other")), content="3" * 32
        )
        broken = document(mem, event_id="e-2")
        del broken["data"]["text"]
        parked = put_raw(mem, json_bytes(broken), content="4" * 32)
        mem.wait_for(mem.observe("of another", agent="ops-2").token)
        assert texts(mem.recall("first", agent="ops-1")) == ["first"]
    done = cli("doctor", "--json")
    assert done.code == 1
    found = findings(done)
    assert found["foreign records", "look"].startswith(f"{foreign} is no event of this log")
    assert found["repeats", "look"].startswith(f"{repeat} repeats an id with other content")
    assert f"at {parked}" in found["parked", "bad"]
    assert "text" in found["parked", "bad"]
    lines = cli("doctor").out.splitlines()
    assert any(line.startswith("bad   parked: ") for line in lines)
    (memories,) = [
        one for one in cli("status", "--json").json["projections"] if one["name"] == "memories"
    ]
    assert (memories["parked"], memories["foreign"], memories["repeats"]) == (1, 1, 1)
    stopped = cli("rebuild", "weights")
    assert stopped.code == 5
    assert f"parked {parked}" in stopped.err


def test_the_page_skips_an_event_as_doctor_names_it(cli, data):
    with opened(data, agent="ops-1") as mem:
        broken = document(mem, event_id="e-1")
        del broken["data"]["text"]
        put_raw(mem, json_bytes(broken), content="1" * 32)
        mem.observe("behind it")
        mem.wait_for(mem.observe("of another", agent="ops-2").token, projections=NAMES)
    named = findings(cli("doctor", "--json"))["parked", "bad"]
    place = named.partition(" at ")[2].partition(",")[0]
    section = markdown.section((ROOT / "docs" / "cli.md").read_text(), "`mnemolog parked skip`")
    ((_, written),) = markdown.blocks(section, "console")
    command = shlex.split(written.strip().removeprefix("$ ").replace("0@17", place))
    assert command[:4] == ["mnemolog", "parked", "skip", "0@0"]
    assert cli(*command[1:]).code == 0
    assert ("parked", "bad") not in findings(cli("doctor", "--json"))
    with opened(data) as mem:
        assert texts(mem.recall("behind it", agent="ops-1")) == ["behind it"]


def test_doctor_on_an_empty_folder_says_what_to_do_and_makes_nothing(cli, data):
    done = cli("doctor", "--json")
    assert done.code == 0
    assert "has no log yet" in findings(done)["opening", "ok"]
    assert not data.exists()


def test_doctor_before_anything_is_projected_says_so(cli):
    cli("append", "observation.recorded", '{"text": "x"}', "--no-wait")
    done = cli("doctor", "--json")
    assert done.code == 0
    assert "has not been built" in findings(done)["projections", "look"]


def test_status_says_how_far_each_projection_is(cli, say, data):
    say("one")
    with opened(data, projects=False, agent="ops-1") as mem:
        mem.observe("two")
    told = cli("status", "--json").json
    assert (told["tenant"], told["partitions"], told["ends"]) == ("default", 1, {"0": 2})
    assert [one["name"] for one in told["projections"]] == list(NAMES)
    assert {one["behind"] for one in told["projections"]} == {1}
    assert {one["generation"] for one in told["projections"]} == {"000001"}
    assert told["vectors_outstanding"] == 0
    lines = cli("status").out.splitlines()
    assert any(line.startswith("log ") and "2 records" in line for line in lines)
    cli("recall", "one", "--no-record")
    cli("sql", "SELECT 1")
    told = cli("status", "--json").json
    assert {one["behind"] for one in told["projections"]} == {0}


def test_status_of_nothing_builds_nothing(cli, data):
    told = cli("status", "--json").json
    assert {one["generation"] for one in told["projections"]} == {None}
    assert [path.name for path in (data / "default").iterdir()] == ["log"]
