"""Stores that are away or damaged: each is tried again or renewed, and holds nobody else up."""

import sqlite3

import pytest

from mnemolog.schemas.codec import Codec
from mnemolog.schemas.errors import Damaged, LogUnavailable, StoreUnavailable, TimedOut
from mnemolog.streams.dispatching import Dispatcher
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.projecting import Projector
from support.dispatching import WITHIN_SECONDS, Later, holds, running, say
from support.polling import eventually
from support.texts import Texts


def test_a_store_that_fails_for_long_holds_back_no_more_than_itself(tmp_path, monkeypatch):
    monkeypatch.setattr("mnemolog.streams.backing_off.BACKOFF_SECONDS_MIN", 0.01)
    log = InMemoryLog("tests")
    failing, sound = Texts(tmp_path / "failing.db"), Texts(tmp_path / "sound.db")
    failing.name, failing.fails = "failing", 10**9
    said = [f"{number}" for number in range(60)]
    for text in said:
        say(log, text)
    with running(log, failing, sound, records_max=5) as dispatcher:
        holds(dispatcher, sound, *said)
        assert dispatcher.failure is None
        with pytest.raises(TimedOut, match=r"snow .* texts: made to fail"):
            dispatcher.wait_until(lambda: False, what="snow", timeout_seconds=0.01)
        failing.fails = 0
        holds(dispatcher, failing, *said)
        eventually(lambda: dispatcher.trouble is None, what="all is well again")


def test_all_stores_away_are_tried_again_until_they_are_there(tmp_path, monkeypatch):
    monkeypatch.setattr("mnemolog.streams.backing_off.BACKOFF_SECONDS_MAX", 0.01)
    log = InMemoryLog("tests")
    stores = [Texts(tmp_path / f"{name}.db") for name in ("one", "two")]
    for store, name in zip(stores, ("one", "two"), strict=True):
        store.name, store.fails = name, 20
    say(log, "said")
    with running(log, *stores) as dispatcher:
        for store in stores:
            holds(dispatcher, store, "said")


def test_a_follow_up_that_fails_holds_up_neither_rows_nor_other_follow_ups(tmp_path):
    log = InMemoryLog("tests")
    failing, later = Texts(tmp_path / "failing.db"), Later(tmp_path / "later.db", turns=5)
    failing.name = "failing"

    def fail(**_):
        raise StoreUnavailable("embedder", "made to fail")

    failing.follow_up = fail
    with running(log, failing, later) as dispatcher:
        for number in range(3):
            say(log, f"{number}")
            holds(dispatcher, failing, *(f"{n}" for n in range(number + 1)))
        dispatcher.wait_until(
            lambda: later.turns_left == 0, what="follow-up", timeout_seconds=WITHIN_SECONDS
        )
        assert "embedder" in str(dispatcher.trouble)


class Breaks(Texts):
    """Texts whose store is found damaged by the next batches, so many times."""

    def __init__(self, path, *, times):
        super().__init__(path)
        self.times = times

    def apply(self, batch):
        if self.times:
            self.times -= 1
            raise Damaged("texts", "made to break")
        super().apply(batch)


def test_a_damaged_store_is_renewed_from_the_log_while_others_go_on(tmp_path):
    log = InMemoryLog("tests")
    sound, broken = Texts(tmp_path / "sound.db"), Breaks(tmp_path / "broken.db", times=1)
    broken.name = "broken"
    fresh = Texts(tmp_path / "fresh.db")
    fresh.name = "broken"
    asked, told = [], []

    def renewed(name, error):
        asked.append((name, str(error)))
        return fresh

    codec = Codec(tenant="tests", partitions=1)
    dispatcher = Dispatcher(
        log, Projector(log, codec, [broken, sound]), renewed=renewed, tell=told.append
    )
    say(log, "one")
    dispatcher.start()
    try:
        holds(dispatcher, sound, "one")
        holds(dispatcher, fresh, "one")
        assert asked == [("broken", "texts is damaged: made to break")]
        assert [type(error) for error in told] == [Damaged]
        assert dispatcher.projections == [sound, fresh]
        with pytest.raises(sqlite3.ProgrammingError):
            broken.progress()  # it was closed
    finally:
        dispatcher.stop()


def test_a_store_that_can_not_be_renewed_now_is_renewed_later(tmp_path):
    log = InMemoryLog("tests")
    sound, broken = Texts(tmp_path / "sound.db"), Breaks(tmp_path / "broken.db", times=1)
    broken.name = "broken"
    fresh = Texts(tmp_path / "fresh.db")
    fresh.name = "broken"
    refusals = [StoreUnavailable("disk", "full")] * 3

    def renewed(_name, _error):
        if refusals:
            raise refusals.pop()
        return fresh

    dispatcher = Dispatcher(
        log, Projector(log, Codec(tenant="tests", partitions=1), [broken, sound]), renewed=renewed
    )
    say(log, "one")
    dispatcher.start()
    try:
        holds(dispatcher, sound, "one")
        say(log, "two")
        holds(dispatcher, sound, "one", "two")
        holds(dispatcher, fresh, "one", "two")
    finally:
        dispatcher.stop()


def test_damage_that_nothing_helps_against_stops_it_and_is_told(tmp_path):
    log, broken = InMemoryLog("tests"), Breaks(tmp_path / "broken.db", times=10)

    def renewed(_name, error):
        raise error

    dispatcher = Dispatcher(
        log, Projector(log, Codec(tenant="tests", partitions=1), [broken]), renewed=renewed
    )
    say(log, "one")
    dispatcher.start()
    try:
        with pytest.raises(Damaged, match="made to break"):
            dispatcher.wait_until(lambda: False, what="x", timeout_seconds=WITHIN_SECONDS)
    finally:
        dispatcher.stop()


class ReaderWontClose(InMemoryLog):
    """A log whose readers can't be closed, as where no broker answers any more."""

    def reader(self, start):
        reader = super().reader(start)

        def close():
            raise LogUnavailable(self.topic, "closed while closing a reader")

        reader.close = close
        return reader


def test_a_reader_that_can_not_be_closed_keeps_it_neither_from_going_on_nor_from_ending(tmp_path):
    log, texts = ReaderWontClose("tests"), Texts(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        holds(dispatcher, texts, "one")
        with dispatcher.paused():
            say(log, "two")
        holds(dispatcher, texts, "one", "two")
        assert dispatcher.stop()
        assert dispatcher.failure is None
