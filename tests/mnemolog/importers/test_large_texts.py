"""A history with more than an event may hold comes in whole, once, and beside its neighbours."""

import gzip
import json

import pytest

from mnemolog.doctor import repeats
from mnemolog.doctor.patient import Patient
from mnemolog.importers.importing import import_paths
from mnemolog.maintaining import digests
from mnemolog.schemas.events.experience import ActionFinished, MessageExchanged
from support.chats import answer, asks, call, says, user
from support.import_log import json_file
from support.large import OUTPUT, PNG, size_on_log
from support.remembering import opened, recorded, texts

LOOK = [
    {"type": "text", "text": "why is the login button grey?"},
    {"type": "image_url", "image_url": {"url": PNG}},
]
HISTORY = [user(LOOK), asks(call("logs")), answer(OUTPUT), says("db-7 refuses connections")]


@pytest.fixture
def mem(tmp_path):
    with opened(tmp_path / "data", agent="a") as memory:
        yield memory


def taken(mem, *paths, **more):
    engine = mem.engine
    return import_paths(
        paths, publisher=engine.publisher, log=engine.log, blobs=engine.blobs, **more
    )


@pytest.mark.bad_input(47)
def test_a_history_with_three_megabytes_of_tool_output_comes_in_whole(mem, tmp_path):
    report = taken(mem, json_file(tmp_path, HISTORY))
    assert report.problems_total == 0
    found = {type(one.event): one for one in recorded(mem)}
    mem.wait_for(mem.end())
    answered = mem.get(found[ActionFinished].id)
    assert answered.event.result == OUTPUT
    assert answered.envelope.cause is not None
    assert texts(mem.recall("which host refuses connections?", hits_max=2))
    assert len(list(mem.engine.blobs.stored())) == 2


@pytest.mark.bad_input(89)
def test_a_picture_in_a_message_goes_beside_the_log_and_its_words_are_found(mem, tmp_path):
    taken(mem, json_file(tmp_path, HISTORY))
    mem.wait_for(mem.end())
    asked = next(one for one in recorded(mem) if isinstance(one.event, MessageExchanged))
    assert len(mem.engine.log.at(asked.position).value) < 65_536
    assert PNG in json.dumps(mem.get(asked.id).event.model_dump(mode="json"))
    answer_ = mem.recall("grey login button", hits_max=1, tokens_max=100)
    assert answer_[0].text == "why is the login button grey?"
    assert answer_.tokens < 60


def test_imported_twice_packed_or_not_it_is_there_once(mem, tmp_path):
    first = taken(mem, path := json_file(tmp_path, HISTORY))
    packed = tmp_path / "again.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    again = taken(mem, path, packed)
    assert (again.added, again.problems_total) == (0, 0)
    assert again.already_there == 2 * first.added
    assert len(list(mem.engine.blobs.stored())) == 2


def test_a_dry_run_says_the_same_and_puts_nothing_beside_the_log(mem, tmp_path):
    path = json_file(tmp_path, HISTORY)
    dry = taken(mem, path, dry_run=True)
    assert list(mem.engine.blobs.stored()) == []
    assert not (mem.engine.folder / "blobs").exists()
    real = taken(mem, path)
    assert (dry.added, dry.by_type, dry.problems_total) == (real.added, real.by_type, 0)


def test_what_no_blob_may_hold_is_a_problem_with_both_sizes_and_the_rest_comes_in(mem, tmp_path):
    path = json_file(tmp_path, [user("before"), user("x" * 16_777_217), user("after")])
    report = taken(mem, path)
    (problem,) = report.problems
    assert "16777217 bytes; a text has at most 16777216" in problem.reason
    said = [one.event.text for one in recorded(mem) if isinstance(one.event, MessageExchanged)]
    assert said == ["before", "after"]


def test_without_blobs_it_is_a_problem_with_both_sizes(tmp_path):
    with opened(tmp_path / "data", agent="a", blobs=False) as mem:
        report = taken(mem, json_file(tmp_path, HISTORY))
    assert len(report.problems) == 2
    assert f"has {len(OUTPUT)} characters; an event's text has at most" in str(report.problems)
    assert f"at most 1000000 characters, not {len(PNG)}" in str(report.problems)


def test_sizes_that_change_between_two_imports_change_no_event(mem, tmp_path, monkeypatch):
    path = json_file(tmp_path, [user("x" * 300_000)])
    taken(mem, path)
    size, before = size_on_log(mem, recorded(mem)[1]), digests(mem.engine)
    mem.close()
    monkeypatch.setenv("MNEMOLOG_BLOB_TEXT_BYTES", "400000")
    with opened(tmp_path / "data", agent="a") as again:
        assert taken(again, path).added == 1  # an event is known by what stands in it
        assert taken(again, path).added == 0
        said = [one for one in recorded(again) if isinstance(one.event, MessageExchanged)]
        assert [size_on_log(again, one) > 300_000 for one in said] == [False, True]
        assert size_on_log(again, said[0]) == size
        assert digests(again.engine) == before
        assert again.get(said[0].id).event.text == "x" * 300_000
        (repeat,) = repeats.check(Patient.of(again.engine))
        assert str(said[1].position) in repeat.detail
