"""A pause holds the dispatcher between two turns; a stop waits for the turn. Nothing is lost."""

import threading

import pytest

from mnemolog.schemas.errors import TimedOut
from mnemolog.streams.memory_log import InMemoryLog
from support.dispatching import WITHIN_SECONDS, Gated, holds, running, say
from support.polling import eventually
from support.texts import Texts


def test_stopping_waits_for_the_turn_and_applies_it_whole(tmp_path):
    log, texts = InMemoryLog("tests"), Gated(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        assert texts.inside.wait(WITHIN_SECONDS)
        stopping = threading.Thread(target=dispatcher.stop)
        stopping.start()
        stopping.join(0.1)
        assert stopping.is_alive()
        texts.gate.set()
        stopping.join(WITHIN_SECONDS)
        assert not stopping.is_alive()
        assert texts.texts() == ["one"]
        say(log, "two")
        assert texts.texts() == ["one"]
        dispatcher.stop()


def test_a_pause_holds_it_between_two_turns_and_it_goes_on_afterwards(tmp_path):
    log, texts = InMemoryLog("tests"), Texts(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        holds(dispatcher, texts, "one")
        with dispatcher.paused() as projector:
            say(log, "two")
            with pytest.raises(TimedOut):
                dispatcher.wait_until(lambda: False, what="x", timeout_seconds=0.1)
            assert texts.texts() == ["one"]
            projector.catch_up(log.ends())
            assert texts.texts() == ["one", "two"]
            say(log, "three")
        holds(dispatcher, texts, "one", "two", "three")


def test_it_rests_as_long_as_anybody_holds_it_and_may_be_used_meanwhile(tmp_path):
    log, texts = InMemoryLog("tests"), Texts(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        holds(dispatcher, texts, "one")
        for by in ("ann", "bob"):
            dispatcher.hold(by, held=True)
        with dispatcher.paused():
            say(log, "two")  # no turn is under way that could read it
        dispatcher.hold("ann", held=False)
        assert dispatcher.held_by == {"bob"}
        with pytest.raises(TimedOut, match="it is paused"):
            dispatcher.wait_until(lambda: texts.texts() != ["one"], what="two", timeout_seconds=0.1)
        with dispatcher.paused() as projector:
            assert [one.name for one in projector.projections] == [texts.name]
        dispatcher.hold("bob", held=False)
        holds(dispatcher, texts, "one", "two")


def test_a_pause_that_fails_loses_nothing_that_was_read_in_it(tmp_path):
    log, texts = InMemoryLog("tests"), Texts(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        holds(dispatcher, texts, "one")
        with pytest.raises(ZeroDivisionError), dispatcher.paused() as projector:
            read_and_fail(log, projector)
        holds(dispatcher, texts, "one", "two")


def read_and_fail(log, projector):
    say(log, "two")
    assert projector._reading().poll(records_max=10, wait_seconds=1)
    raise ZeroDivisionError


def test_a_busy_log_lets_a_pause_in(tmp_path):
    log, texts = InMemoryLog("tests"), Gated(tmp_path / "texts.db")
    for number in range(2_000):
        say(log, f"{number}")
    with running(log, texts, records_max=1) as dispatcher:
        assert texts.inside.wait(WITHIN_SECONDS)
        paused, go_on = threading.Event(), threading.Event()

        def pause():
            with dispatcher.paused():
                paused.set()
                assert go_on.wait(WITHIN_SECONDS)

        pausing = threading.Thread(target=pause)
        pausing.start()
        eventually(lambda: dispatcher._pauses, what="the pause is asked for")
        texts.gate.set()
        assert paused.wait(WITHIN_SECONDS)
        assert len(texts.texts()) <= 2
        go_on.set()
        pausing.join(WITHIN_SECONDS)
