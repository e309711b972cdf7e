"""control: whoever keeps the folder obeys, says so, and stays paused until it is resumed."""

import threading

import pytest

from mnemolog.ledgers import applied
from mnemolog.projections.memories import projection as memories
from mnemolog.schemas.errors import TimedOut
from mnemolog.status import status
from support.parked import FAULT, failing
from support.polling import eventually
from support.remembering import opened


@pytest.fixture
def keeper(data):
    with opened(data, agent="ops-1") as mem:
        yield mem


def asked(cli, *words):
    done = cli("control", *words, "--wait", "--timeout", "30", "--json")
    assert done.err == ""
    return done.code, done.json


def test_a_pause_lets_nothing_be_applied_until_it_is_resumed_and_shows(cli, keeper):
    code, told = asked(cli, "pause")
    assert (code, told["outcome"]) == (0, "done")
    said = keeper.observe("room 1")
    with pytest.raises(TimedOut, match="it is paused"):
        keeper.wait_for(said.token, timeout_seconds=0.1)
    assert applied(keeper.engine, "weights") == {}
    assert any("paused since" in text for text in status(keeper.engine).warnings)
    assert "paused since" in cli("status").out
    assert asked(cli, "rebuild")[1]["outcome"] == "refused"
    assert asked(cli, "resume")[0] == 0
    keeper.wait_for(said.token)
    assert not any("paused" in text for text in status(keeper.engine).warnings)


def test_a_pause_outlives_its_keeper(cli, data):
    with opened(data, agent="ops-1") as mem:
        mem.wait_for(mem.observe("room 1").token)
        asked(cli, "pause")
    with opened(data, agent="ops-1") as mem:
        assert mem.engine.dispatcher.held_by == {"the folder"}
        said = mem.observe("room 2")
        eventually(lambda: mem.engine.control._control is not None, what="a look")
        assert applied(mem.engine, "weights") == {0: 0}
        asked(cli, "resume")
        mem.wait_for(said.token)


def test_a_rebuild_and_a_verification_are_done_by_the_keeper(cli, keeper):
    keeper.wait_for(keeper.observe("room 1").token)
    before = keeper.engine.shelf.generations("weights").serving()
    code, told = asked(cli, "rebuild", "weights")
    assert (code, told["outcome"]) == (0, "done"), told
    now = keeper.engine.shelf.generations("weights").serving()
    assert told["result"] == [now.name] != [before.name]
    assert asked(cli, "verify", "weights")[1]["result"] == {"weights": True}
    code, told = asked(cli, "verify", "dreams")
    assert (code, told["outcome"]) == (1, "failed")
    assert "dreams" in told["text"]


def test_what_is_not_built_is_refused_and_says_so(cli, keeper):
    for verb in ("cancel", "swap"):
        code, told = asked(cli, verb)
        assert (code, told["outcome"]) == (1, "refused")
        assert told["text"] == f"this release has no {verb}: nothing was done"
    listed = cli("control", "list", "--json").json
    assert [(one["verb"], one["outcome"]) for one in listed] == [
        ("cancel", "refused"),
        ("swap", "refused"),
    ]
    assert "this release has no swap" in cli("control", "list").out


def test_without_a_keeper_a_request_waits_for_one(cli, data):
    opened(data).close()
    done = cli("control", "pause")
    assert done.code == 0
    assert "nobody keeps" in done.err
    assert [one["outcome"] for one in cli("control", "list", "--json").json] == ["waiting"]
    assert cli("control", "pause", "--wait", "--timeout", "0.1").code == 4
    with opened(data) as mem:
        eventually(lambda: mem.engine.dispatcher.held_by, what="the pause")
    assert cli("control", "pause", "--data", ":memory:").code == 2


def test_a_retry_is_done_by_the_process_that_keeps_the_folder(cli, data, monkeypatch):
    with monkeypatch.context() as fault, opened(data, agent="ops-1") as mem:
        failing(fault, memories, "changes_of")
        for text in ("room 1", FAULT, "room 2"):
            mem.observe(text)
        eventually(lambda: mem.parked().events, what="the parking")
        still = cli("parked", "retry", "0@1")
        assert (still.code, "2 still parked" in still.out) == (5, True), still
        fault.undo()
        done = cli("parked", "retry", MNEMOLOG_EMBEDDER="hashing", MNEMOLOG_DATA=str(data))
        assert (done.code, done.out) == (0, "memories, ops-1: 2 went on\n"), done
        eventually(lambda: len(mem.recall("room").memories) == 3, what="all three")


def test_what_a_killed_worker_left_of_its_topic_s_pause_is_taken_back(data):
    opened(data).close()
    marker = data / "default" / "paused.json"
    marker.write_text('{"the topic": "2030-01-01T00:00:00+00:00"}')
    with opened(data, agent="ops-1") as mem:
        assert mem.engine.dispatcher.held_by == frozenset()
        assert not marker.exists()


def test_closing_leaves_no_thread_of_control(data):
    with opened(data) as mem:
        assert mem.engine.control is not None
    assert not [one for one in threading.enumerate() if one.name.startswith("mnemolog-control")]
