"""The dispatcher: a wake-up is only a trigger, a failing store is tried again, a fault is told."""

import threading

import pytest

from mnemolog.schemas.errors import LogReplaced, LogUnavailable, StoreUnavailable, TimedOut
from mnemolog.streams.memory_log import InMemoryLog
from support.dispatching import WITHIN_SECONDS, Later, holds, running, say
from support.texts import Texts


class NeverWakes(InMemoryLog):
    """A log whose wake-ups are all lost."""

    def wait(self, after, *, timeout_seconds):
        super().wait(dict.fromkeys(after, 10**9), timeout_seconds=min(timeout_seconds, 0.01))
        return False


class WakesForNothing(InMemoryLog):
    """A log that says that there is news, whether there is any or not."""

    def wait(self, after, *, timeout_seconds):
        super().wait(after, timeout_seconds=0.001)
        return True


class FailsToWait(InMemoryLog):
    """A log that can't be asked for news the first few times."""

    failures = 3

    def wait(self, after, *, timeout_seconds):
        if self.failures:
            self.failures -= 1
            raise LogUnavailable(self.topic, "made to fail")
        return super().wait(after, timeout_seconds=timeout_seconds)


@pytest.mark.parametrize("log_class", [InMemoryLog, NeverWakes, WakesForNothing, FailsToWait])
def test_whatever_becomes_of_wake_ups_everything_is_applied_once(log_class, tmp_path):
    log, texts = log_class("tests"), Texts(tmp_path / "texts.db")
    said = []
    say(log, "before")
    with running(log, texts) as dispatcher:
        for number in range(20):
            say(log, f"{number}")
            said.append(f"{number}")
            if number % 7 == 0:
                holds(dispatcher, texts, "before", *said)
        holds(dispatcher, texts, "before", *said)
        assert dispatcher.failure is None


def test_a_store_that_fails_for_a_while_is_tried_again_and_holds_nobody_up(tmp_path):
    log = InMemoryLog("tests")
    failing, sound = Texts(tmp_path / "failing.db"), Texts(tmp_path / "sound.db")
    failing.fails = 3
    say(log, "one")
    with running(log, failing, sound) as dispatcher:
        holds(dispatcher, sound, "one")
        holds(dispatcher, failing, "one")
        say(log, "two")
        holds(dispatcher, failing, "one", "two")
        holds(dispatcher, sound, "one", "two")
        assert dispatcher.failure is None


def test_a_log_made_anew_stops_it_and_every_waiter_hears_why(tmp_path):
    log, texts = InMemoryLog("tests"), Texts(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        holds(dispatcher, texts, "one")
        heard = []

        def wait():
            with pytest.raises(LogReplaced) as raised:
                dispatcher.wait_until(lambda: False, what="x", timeout_seconds=WITHIN_SECONDS)
            heard.append(raised.value)

        waiters = [threading.Thread(target=wait) for _ in range(3)]
        for waiter in waiters:
            waiter.start()
        with log._changed:
            log._records[0].clear()
            log._changed.notify_all()
        for waiter in waiters:
            waiter.join(WITHIN_SECONDS)
        assert heard == [dispatcher.failure] * 3
        with pytest.raises(LogReplaced):
            dispatcher.wait_until(lambda: False, what="x", timeout_seconds=0)


def test_a_mistake_of_ours_stops_it_and_is_told(tmp_path, monkeypatch):
    log, texts = InMemoryLog("tests"), Texts(tmp_path / "texts.db")
    monkeypatch.setattr(texts, "apply", lambda batch: 1 / 0)
    say(log, "one")
    with running(log, texts) as dispatcher, pytest.raises(ZeroDivisionError):
        dispatcher.wait_until(lambda: False, what="x", timeout_seconds=WITHIN_SECONDS)


def test_what_is_there_already_needs_no_wait_even_when_it_has_stopped(tmp_path):
    log = InMemoryLog("tests")
    with running(log) as dispatcher:
        dispatcher.wait_until(lambda: True, what="x", timeout_seconds=0)
    dispatcher.wait_until(lambda: True, what="x", timeout_seconds=0)


def test_what_never_comes_is_named_when_time_is_up(tmp_path):
    with running(InMemoryLog("tests")) as dispatcher, pytest.raises(TimedOut, match="snow"):
        dispatcher.wait_until(lambda: False, what="snow", timeout_seconds=0.01)


def test_follow_up_is_done_in_turns_while_nothing_comes(tmp_path):
    log, texts = InMemoryLog("tests"), Later(tmp_path / "texts.db", turns=5)
    say(log, "one")
    with running(log, texts) as dispatcher:
        dispatcher.wait_until(
            lambda: texts.turns_left == 0, what="follow-up", timeout_seconds=WITHIN_SECONDS
        )
    assert texts.texts() == ["one"]


def test_a_follow_up_that_fails_is_tried_again(tmp_path):
    log, texts = InMemoryLog("tests"), Later(tmp_path / "texts.db", turns=3)
    failures = [StoreUnavailable("texts", "made to fail")] * 2
    once = texts.follow_up

    def follow_up(*, seconds_max):
        if failures:
            raise failures.pop()
        return once(seconds_max=seconds_max)

    texts.follow_up = follow_up
    with running(log, texts) as dispatcher:
        dispatcher.wait_until(
            lambda: texts.turns_left == 0, what="follow-up", timeout_seconds=WITHIN_SECONDS
        )
        assert dispatcher.failure is None


class GivenUp:
    """A turn that nobody gets by asking for it: Ctrl-C comes first."""

    def __init__(self, turn):
        self._turn = turn

    def acquire(self, **_):
        raise KeyboardInterrupt

    def __enter__(self):
        return self._turn.__enter__()

    def __exit__(self, *error):
        self._turn.__exit__(*error)


def test_a_pause_that_is_given_up_while_it_waits_lets_the_dispatcher_go_on(tmp_path, monkeypatch):
    log = InMemoryLog("tests")
    with running(log, Texts(tmp_path / "texts.db")) as dispatcher:
        with monkeypatch.context() as patch:
            patch.setattr(dispatcher, "_turn", GivenUp(dispatcher._turn))
            with pytest.raises(KeyboardInterrupt), dispatcher.paused():
                pass
        say(log, "after it")
        holds(dispatcher, dispatcher.projections[0], "after it")
