"""How a memory is opened and closed: read-only, in memory, twice, or by nobody."""

import gc
import os
import subprocess
import sys
import tempfile
import threading

import pytest

from mnemolog.engine import LEASE_FILE
from mnemolog.projections.generations import DESCRIPTION
from mnemolog.projections.lease import Lease
from mnemolog.schemas.errors import (
    InvalidSetting,
    LeaseHeld,
    LogUnavailable,
    NotFound,
    ReadOnly,
)
from mnemolog.schemas.positions import Token
from support.polling import eventually
from support.remembering import opened, recorded, texts

# Everything that a closed handle, or one that only reads, may be asked for.
APPENDING = {
    "observe": lambda m: m.observe("x"),
    "message": lambda m: m.message("x"),
    "plan": lambda m: m.plan("x"),
    "decide": lambda m: m.decide("x"),
    "act": lambda m: m.act("x").__enter__(),
    "feedback": lambda m: m.feedback("e-1", 1),
    "checkpoint": lambda m: m.checkpoint("x", plan_summary="y"),
    "remember": lambda m: m.remember("x"),
    "used": lambda m: m.used("mem_" + "0" * 32),
    "pin": lambda m: m.pin("mem_" + "0" * 32),
    "forget": lambda m: m.forget("e-1"),
}
KEEPING = {
    "rebuild": lambda m: m.rebuild("weights"),
    "verify": lambda m: m.verify("weights"),
    "digests": lambda m: m.digests(),
    "import_histories": lambda m: m.import_histories("x.json"),
}
ASKING = {
    "recall": lambda m: m.recall("x"),
    "get": lambda m: m.get("e-1"),
    "history": lambda m: m.history("mem_" + "0" * 32),
    "why": lambda m: m.why("e-1"),
    "resume": lambda m: m.resume("t-1"),
    "timeline": lambda m: m.timeline(agent="ops-1"),
    "checkpoints": lambda m: m.checkpoints(),
    "sql": lambda m: m.sql("SELECT 1"),
    "end": lambda m: m.end(),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("data")
    with opened(path, agent="ops-1") as mem:
        mem.wait_for(mem.observe("the pool of auth is exhausted").token)
        mem.sql("SELECT 1")
    return path


@pytest.fixture(scope="module")
def reading(folder):
    with opened(folder, read_only=True) as mem:
        yield mem


def everything_below(path):
    return {p: p.stat().st_mtime_ns for p in path.rglob("*") if p.is_file()}


# Read-only


@pytest.mark.parametrize("call", (APPENDING | KEEPING).values(), ids=APPENDING | KEEPING)
def test_a_handle_that_only_reads_refuses_what_writes(reading, call):
    with pytest.raises(ReadOnly):
        call(reading)


def test_a_handle_that_only_reads_answers(reading):
    assert texts(reading.recall("which pool?")) == ["the pool of auth is exhausted"]
    assert reading.sql("SELECT count(*) FROM events").rows == [(1,)]
    assert [entry.text for entry in reading.timeline(agent="ops-1")] == [
        "the pool of auth is exhausted"
    ]


def test_reading_writes_no_event_and_takes_no_lease(folder):
    before = (folder / "default" / LEASE_FILE).read_bytes()
    with opened(folder, read_only=True, record_recalls=True) as mem:
        end = mem.end()
        mem.recall("which pool?")
        mem.wait_for(end)
        assert not mem.engine.is_owner
        assert mem.end() == end
    assert (folder / "default" / LEASE_FILE).read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_can_be_read(folder):
    paths = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in paths}
    try:
        for path in paths:
            path.chmod(modes[path] & ~0o222)
        with opened(folder, read_only=True) as mem:
            assert texts(mem.recall("which pool?")) == ["the pool of auth is exhausted"]
            assert mem.sql("SELECT count(*) FROM events").rows == [(1,)]
    finally:
        for path in paths:
            path.chmod(modes[path])


def test_reading_makes_nothing_where_nothing_is(tmp_path):
    with pytest.raises(NotFound, match="no log"):
        opened(tmp_path / "none", read_only=True)
    assert list(tmp_path.iterdir()) == []


# Closing


@pytest.fixture(scope="module", params=["memory", "disk"])
def closed(request, tmp_path_factory):
    where = ":memory:" if request.param == "memory" else tmp_path_factory.mktemp("closed")
    mem = opened(where, agent="ops-1")
    mem.wait_for(mem.observe("x").token)
    mem.recall("x")
    mem.close()
    mem.close()
    return mem


@pytest.mark.parametrize(
    "call", (APPENDING | KEEPING | ASKING).values(), ids=APPENDING | KEEPING | ASKING
)
def test_a_closed_memory_says_so_whatever_it_is_asked(closed, call):
    if closed.engine.settings.is_in_memory and call is ASKING["end"]:
        pytest.skip("what was appended to a log in memory can still be read")
    with pytest.raises(LogUnavailable, match="this handle was closed"):
        call(closed)


def test_a_closed_memory_takes_no_lease_again(tmp_path):
    mem = opened(tmp_path)
    token = mem.observe("x").token
    mem.close()
    with pytest.raises(LogUnavailable):
        mem.wait_for(token)
    Lease.take(tmp_path / "default" / LEASE_FILE).release()


def test_who_waits_while_it_is_closed_hears_so(tmp_path):
    mem = opened(tmp_path)
    heard, waiting = [], threading.Event()

    def wait():
        with pytest.raises(LogUnavailable) as raised:
            mem.wait_for(Token({0: 10_000}), tell=lambda _: waiting.set())
        heard.append(raised.value)

    thread = threading.Thread(target=wait)
    thread.start()
    assert waiting.wait(30)
    mem.close()
    thread.join(30)
    assert len(heard) == 1


def test_what_lives_in_memory_leaves_no_folder_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with opened(agent="ops-1") as mem:
        seen = mem.observe("the pool of auth")
        assert texts(mem.recall("pool", after=seen.token)) == ["the pool of auth"]
        mem.sql("SELECT 1")
        assert list(tmp_path.iterdir())
    assert list(tmp_path.iterdir()) == []


def test_two_memories_in_memory_know_nothing_of_one_another():
    with opened(agent="ops-1") as one, opened(agent="ops-1") as two:
        one.wait_for(one.observe("only here").token)
        assert recorded(two) == []


def test_a_memory_that_nobody_closes_is_closed_when_it_is_collected(tmp_path):
    mem = opened(tmp_path)
    mem.observe("x")
    del mem
    gc.collect()
    eventually(lambda: is_free(tmp_path), what="the lease is free")


def is_free(folder):
    try:
        Lease.take(folder / "default" / LEASE_FILE).release()
    except LeaseHeld:
        return False
    return True


FORGETFUL = """
import sys
from mnemolog import Memory
memory = Memory(sys.argv[1], embedder="hashing", agent="ops-1")
for number in range(200):
    seen = memory.observe(f"reading {number}")
memory.recall("reading", after=seen.token)
"""


def test_a_program_that_forgets_to_close_ends_well_and_its_recall_is_recorded(tmp_path):
    command = [sys.executable, "-c", FORGETFUL, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    with opened(tmp_path) as mem:
        assert recorded(mem)[-1].event.event_type == "memory.recalled"


def test_what_was_appended_is_there_when_it_is_opened_again(tmp_path):
    with opened(tmp_path, agent="ops-1") as mem:
        seen = mem.observe("the pool of auth")
    with opened(tmp_path) as mem:
        assert texts(mem.recall("pool", after=mem.end())) == ["the pool of auth"]
        assert mem.get(seen).event.text == "the pool of auth"


# Arguments


def test_a_folder_may_be_a_path_or_a_text(tmp_path):
    with opened(tmp_path) as mem:
        mem.observe("x")
    with opened(str(tmp_path)) as mem:
        assert len(recorded(mem)) == 1


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("partitions", {"partitions": 0}),
        ("partitions", {"partitions": 5_000}),
        ("embedder", {"embedder": "large"}),
        ("log", {"log": "http://host:9092"}),
        ("log", {"log": "kafka://host"}),
        ("tenant", {"tenant": "../x"}),
        ("data", {"data": ""}),
        ("projection", {"rebuilding": ["memory"]}),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused_by_name(tmp_path, name, arguments):
    data = {"data": tmp_path / "d"}
    with pytest.raises(InvalidSetting, match=name):
        opened(**{**data, **arguments})
    eventually(lambda: is_free(tmp_path), what="no lease is held")


def test_the_partitions_of_a_log_are_fixed_when_it_is_made(tmp_path):
    with opened(tmp_path, partitions=3) as mem:
        assert mem.engine.log.partitions == 3
    with opened(tmp_path) as mem:
        assert mem.engine.log.partitions == 3
    with pytest.raises(InvalidSetting, match="partitions"):
        opened(tmp_path, partitions=4)


@pytest.mark.bad_input(65)
def test_another_embedder_than_the_generations_is_refused_with_what_to_do(tmp_path):
    opened(tmp_path).close()
    with pytest.raises(InvalidSetting, match="mnemolog rebuild memories"):
        opened(tmp_path, embedder="fast")
    with opened(tmp_path, embedder="auto") as mem:
        assert mem.engine.is_owner


def test_a_generation_that_can_not_say_its_embedder_is_set_aside(tmp_path):
    with opened(tmp_path, agent="ops-1") as mem:
        mem.observe("the pool of auth")
        generation = mem.engine.shelf.generations("memories").serving()
    (generation / DESCRIPTION).write_text("{")
    with opened(tmp_path, embedder="auto") as mem:
        mem.wait_for(mem.end())
        assert mem.engine.shelf.generations("memories").serving() != generation
        assert texts(mem.recall("pool")) == ["the pool of auth"]
