"""Who watches tells of what is stuck, lets it read on anew, and says when nobody looks any more."""

import threading
from contextlib import contextmanager

import pytest

from mnemolog.health import Level
from mnemolog.schemas.errors import LogReplaced, LogUnavailable, StoreUnavailable
from mnemolog.watching import STALE_SECONDS
from support.hanging import WITHIN_SECONDS, Hanging
from support.polling import eventually
from support.remembering import opened
from support.watched import Clock, watch_of


@contextmanager
def memory_over(log, monkeypatch):
    """Open a memory over *log*; what hangs in it is let go in the end."""
    monkeypatch.setattr("mnemolog.engine.InMemoryLog", lambda *_, **__: log)
    try:
        with opened() as memory:
            yield memory
            log.let_go.set()
    finally:
        log.let_go.set()


def at_the_end(watch, tenant="a"):
    watch.look()
    seen = watch.pictures[tenant].projections
    return len(seen) == 4 and not any(one.lag_events for one in seen.values())


def test_what_is_well_is_alive_and_ready():
    clock = Clock()
    with opened() as memory, closing_watch(watch_of(clock, a=memory)) as watch:
        memory.observe("it rains", agent="ops-1")
        eventually(lambda: at_the_end(watch), what="all is applied")
        assert watch.alive().is_well
        assert watch.ready().is_well
        assert watch.pictures["a"].counted.appended == 1
        assert watch.pictures["a"].counted.tally.records.value == 1


@contextmanager
def closing_watch(watch):
    try:
        yield watch
    finally:
        watch.stop()


def test_a_consumer_that_hangs_is_recreated_and_counted(monkeypatch):
    clock, log = Clock(), Hanging("default", hangs=1)
    with memory_over(log, monkeypatch) as memory, closing_watch(watch_of(clock, a=memory)) as watch:
        assert log.inside.wait(WITHIN_SECONDS)
        memory.observe("it rains", agent="ops-1")
        watch.look()
        clock.seconds = 49
        watch.look()
        assert watch.alive().level is Level.OK
        tally = memory.engine.dispatcher.tally
        assert tally.recreated.value == 0
        clock.seconds = 51
        watch.look()
        assert tally.recreated.value == 1
        eventually(lambda: at_the_end(watch), what="the new one reads on")
        assert watch.alive().is_well


def test_what_hangs_in_a_store_is_failing_and_gets_no_second_writer(monkeypatch):
    clock, log = Clock(), Hanging("default")
    with memory_over(log, monkeypatch) as memory, closing_watch(watch_of(clock, a=memory)) as watch:
        inside, gate = threading.Event(), threading.Event()
        weights = next(p for p in memory.engine.dispatcher.projections if p.name == "weights")
        apply = weights.apply

        def hang(batch):
            inside.set()
            assert gate.wait(WITHIN_SECONDS)
            apply(batch)

        monkeypatch.setattr(weights, "apply", hang)
        said = memory.observe("it rains", agent="ops-1")
        assert inside.wait(WITHIN_SECONDS)
        thread = memory.engine.dispatcher._thread
        for seconds in (0, 51, 102, 153):
            clock.seconds = seconds
            watch.look()
        assert not watch.alive().is_well
        assert any("has not moved for 153 s" in detail for detail in watch.alive().details)
        assert memory.engine.dispatcher._thread is thread
        assert memory.engine.dispatcher.tally.recreated.value == 0
        gate.set()
        memory.wait_for(said.token)
        eventually(lambda: at_the_end(watch), what="it goes on")
        assert watch.alive().is_well


def test_a_store_that_fails_is_alive_and_not_ready(monkeypatch):
    clock, log = Clock(), Hanging("default")
    with memory_over(log, monkeypatch) as memory, closing_watch(watch_of(clock, a=memory)) as watch:

        def refuse(batch):
            raise StoreUnavailable("weights", "the disk is full")

        with monkeypatch.context() as patch:
            for one in memory.engine.dispatcher.projections:
                patch.setattr(one, "apply", refuse)
            memory.observe("it rains", agent="ops-1")
            eventually(lambda: memory.engine.dispatcher.held_up_by, what="it is refused")
            watch.look()
            clock.seconds = 150
            watch.look()
            assert watch.alive().is_well
            assert watch.alive().level is Level.DEGRADED
            assert not watch.ready().is_well
            assert memory.engine.dispatcher.tally.recreated.value == 0
        eventually(lambda: at_the_end(watch), what="it goes on")
        assert watch.ready().is_well


def test_who_waits_for_a_rebuild_is_not_stuck():
    clock = Clock()
    with opened() as memory, closing_watch(watch_of(clock, a=memory)) as watch:
        with memory.engine.dispatcher.paused():
            memory.observe("it rains", agent="ops-1")
            for seconds in (0, 51, 150):
                clock.seconds = seconds
                watch.look()
            assert watch.alive().is_well
            assert watch.alive().level is Level.DEGRADED
            assert memory.engine.dispatcher.tally.recreated.value == 0
        eventually(lambda: at_the_end(watch), what="it goes on")


def test_what_somebody_paused_is_not_stuck_and_not_ready():
    clock = Clock()
    with opened() as memory, closing_watch(watch_of(clock, a=memory)) as watch:
        memory.engine.dispatcher.hold("a test", held=True)
        memory.observe("it rains", agent="ops-1")
        for seconds in (0, 51, 150):
            clock.seconds = seconds
            watch.look()
        assert watch.alive().is_well
        assert not watch.ready().is_well
        assert memory.engine.dispatcher.tally.recreated.value == 0


def test_a_dispatcher_that_ended_is_not_alive(monkeypatch):
    clock, log = Clock(), Hanging("default")
    with memory_over(log, monkeypatch) as memory, closing_watch(watch_of(clock, a=memory)) as watch:
        monkeypatch.setattr(memory.engine.dispatcher, "failure", ZeroDivisionError("ours"))
        watch.look()
        assert watch.alive().details == ("dispatcher: it ended: ours",)


def test_that_nobody_keeps_the_projections_is_told(tmp_path):
    with (
        opened(tmp_path, projects=False) as memory,
        closing_watch(watch_of(Clock(), a=memory)) as watch,
    ):
        watch.look()
        assert watch.pictures["a"].health.level("open") is Level.DEGRADED
        assert watch.ready().is_well
        with opened(tmp_path):
            watch.look()
            assert watch.pictures["a"].health.level("open") is Level.OK


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "it is not open yet"),
        (LogReplaced("t", partition=0, offset=0, reason="made anew"), "it is stopped"),
    ],
)
def test_what_is_not_open_is_alive_and_not_ready(found, said):
    with closing_watch(watch_of(Clock(), a=found)) as watch:
        watch.look()
        assert watch.alive().is_well
        assert not watch.ready().is_well
        assert said in watch.ready().details[0]


def test_a_log_that_does_not_answer_is_alive_and_not_ready(monkeypatch):
    with opened() as memory, closing_watch(watch_of(Clock(), a=memory)) as watch:

        def away():
            raise LogUnavailable("the topic", "no broker")

        monkeypatch.setattr(memory.engine.log, "ends", away)
        watch.look()
        assert watch.alive().is_well
        assert watch.ready().details == ("log: the topic: no broker",)


def test_when_nobody_looks_any_more_that_is_told():
    clock = Clock()
    with closing_watch(watch_of(clock)) as watch:
        watch.look()
        clock.seconds = STALE_SECONDS + 1
        assert watch.alive().details == ("nobody looks any more",)


def test_a_tenant_that_is_gone_is_told_of_no_more():
    with opened() as memory:
        watch = watch_of(Clock(), a=memory, b=memory)
        with closing_watch(watch):
            watch.look()
            assert watch.pictures.keys() == {"a", "b"}
            del watch._subjects.memories["a"]
            watch.look()
            assert watch.pictures.keys() == {"b"}


def test_it_looks_by_itself_until_it_is_stopped():
    with opened() as memory:
        watch = watch_of(Clock(), a=memory)
        watch.start()
        eventually(lambda: watch.pictures, what="a look")
        watch.stop()
        watch.stop()
        watch.look()
        assert not watch._thread.is_alive()
