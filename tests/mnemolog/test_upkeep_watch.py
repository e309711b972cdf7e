"""The upkeep that nobody waits for is done when it is due, and what fails of it is seen."""

from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from mnemolog.health import Level
from mnemolog.projections.room import Room, Usage
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.upkeep_watch import UPKEEP_SECONDS
from mnemolog.watch_settings import Watching
from support.remembering import opened
from support.watched import Clock, watch_with

GOLDEN = '[[question]]\nask = "which pool?"\ntext = "pool of auth"\n'
MISSED = '[[question]]\nask = "which pool?"\ntext = "snow"\n'


@pytest.fixture
def memory(tmp_path):
    with closing(opened(tmp_path)) as memory:
        memory.wait_for(memory.observe("the pool of auth is exhausted", agent="ops-1").token)
        yield memory


@pytest.fixture
def looked(memory):
    """Return a function that moves the clock, looks, and returns what was seen."""
    clock = Clock()
    watching = Watching(probe_seconds=100, retired_seconds=3600)
    watch = watch_with(clock, watching, a=memory)

    def look(*, after=0.0):
        clock.seconds += after
        watch.look()
        return watch.pictures["a"]

    yield look
    watch.stop()


def levels(picture, question):
    return {v.about: v.level for v in picture.health.verdicts if v.question == question}


def golden(memory, text):
    Path(memory.engine.folder, "golden.toml").write_text(text)


def test_golden_queries_are_asked_on_time_and_their_rate_is_seen(memory, looked):
    golden(memory, GOLDEN)
    assert looked().upkeep.golden_rate is None
    seen = looked(after=101)
    assert seen.upkeep.golden_rate == 1.0
    assert levels(seen, "golden") == {"golden": Level.OK}
    golden(memory, MISSED)
    assert looked(after=50).upkeep.golden_rate == 1.0
    seen = looked(after=51)
    assert seen.upkeep.golden_rate == 0.0
    assert levels(seen, "golden") == {"golden": Level.FAILING}
    assert seen.health.level("moving", "behind", "open") is Level.OK


def test_golden_queries_that_can_not_be_read_are_no_good_ones(memory, looked):
    golden(memory, "nonsense")
    looked()
    assert levels(looked(after=101), "golden") == {"golden": Level.FAILING}


def test_without_golden_queries_nothing_is_said_of_them(looked):
    assert levels(looked(after=101), "golden") == {}


def test_the_disk_is_seen_by_generation_and_old_ones_go(memory, looked):
    memory.rebuild("weights")
    seen = looked()
    assert {("weights", "000001"), ("weights", "000002")} <= seen.upkeep.disk_bytes.keys()
    assert all(size > 0 for size in seen.upkeep.disk_bytes.values())
    seen = looked(after=timedelta(days=1).total_seconds())
    assert ("weights", "000001") not in seen.upkeep.disk_bytes
    assert ("weights", "000002") in seen.upkeep.disk_bytes


def test_upkeep_that_fails_is_told_and_counted_until_it_succeeds(memory, looked, monkeypatch):
    def refuse(*_, **__):
        raise StoreUnavailable("weights/000001", "it can't be deleted")

    with monkeypatch.context() as patch:
        patch.setattr("mnemolog.upkeep_watch.vacuum", refuse)
        looked()
        seen = looked(after=UPKEEP_SECONDS)
        assert seen.upkeep.failures["vacuum"] == 2
        assert levels(seen, "upkeep") == {"vacuum": Level.DEGRADED}
    seen = looked(after=UPKEEP_SECONDS)
    assert levels(seen, "upkeep") == {}
    assert seen.upkeep.failures["vacuum"] == 2


def test_an_index_that_nobody_can_look_after_is_told(memory, looked):
    projection = next(p for p in memory.engine.dispatcher.projections if p.name == "memories")
    looked()
    for times, level in ((1, Level.DEGRADED), (4, Level.FAILING)):
        with memory.engine.dispatcher.paused():
            for _ in range(times):
                projection._note_upkeep("the disk is full", 0)
        assert levels(looked(after=UPKEEP_SECONDS), "upkeep") == {"index": level}


def test_a_disk_that_fills_is_told(memory, looked, monkeypatch):
    for used, level in ((85, Level.DEGRADED), (96, Level.FAILING)):
        room = Room(usage_of=lambda _, used=used: Usage(used, 100 - used))
        monkeypatch.setattr(memory.engine, "room", room)
        assert levels(looked(after=UPKEEP_SECONDS), "upkeep")["disk"] is level


def test_what_follows_the_rows_and_fails_is_counted(memory, looked):
    memory.engine.dispatcher.tally.unfinished.add()
    assert looked().upkeep.failures["follow-up"] >= 1
