"""A reader that stands still is replaced; what hangs in a store gets no second writer."""

import threading

import pytest

from mnemolog.streams.dispatching import LEFT_MAX
from mnemolog.streams.gate import Gate, Superseded
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.tally import Count
from support.dispatching import WITHIN_SECONDS, Gated, holds, running, say
from support.hanging import Hanging
from support.polling import eventually
from support.texts import Texts


def test_where_reading_hangs_another_thread_reads_on(tmp_path):
    log, texts = Hanging("tests", hangs=1), Texts(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        assert log.inside.wait(WITHIN_SECONDS)
        assert dispatcher.recreate_reader()
        holds(dispatcher, texts, "one")
        assert dispatcher.tally.recreated.value == 1
        say(log, "two")
        holds(dispatcher, texts, "one", "two")
        log.let_go.set()
        eventually(lambda: log.closed, what="the one that hung ends")
        say(log, "three")
        holds(dispatcher, texts, "one", "two", "three")
        assert dispatcher.failure is None


def test_a_reader_that_finds_nothing_of_what_is_there_is_replaced_by_its_own_thread(tmp_path):
    log, texts = Hanging("tests", blind=1), Texts(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        eventually(lambda: dispatcher.reached, what="it took a turn")
        dispatcher.recreate_reader()
        holds(dispatcher, texts, "one")
        assert dispatcher.tally.recreated.value == 1


def test_what_hangs_in_a_store_gets_no_second_writer(tmp_path):
    log, texts = InMemoryLog("tests"), Gated(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        assert texts.inside.wait(WITHIN_SECONDS)
        threads = threading.active_count()
        for _ in range(3):
            assert not dispatcher.recreate_reader()
        assert threading.active_count() == threads
        assert dispatcher.tally.recreated.value == 0
        texts.gate.set()
        holds(dispatcher, texts, "one")


def test_who_waits_for_a_pause_gets_the_turn_of_the_new_thread(tmp_path):
    log, texts = Hanging("tests", hangs=1), Texts(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        assert log.inside.wait(WITHIN_SECONDS)
        found = []

        def pause():
            with dispatcher.paused() as projector:
                projector.catch_up(log.ends())
                found.append(texts.texts())

        waiter = threading.Thread(target=pause)
        waiter.start()
        assert dispatcher.recreate_reader()
        waiter.join(WITHIN_SECONDS)
        assert not waiter.is_alive()
        log.let_go.set()
    assert found == [["one"]]
    assert texts.texts() == ["one"]


def test_threads_that_hang_are_not_left_without_end(tmp_path):
    log, texts = Hanging("tests", hangs=LEFT_MAX + 1), Texts(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        for _ in range(LEFT_MAX):
            assert log.inside.wait(WITHIN_SECONDS)
            log.inside.clear()
            eventually(dispatcher.recreate_reader, what="it hangs in reading")
        assert log.inside.wait(WITHIN_SECONDS)
        assert not dispatcher.recreate_reader()
        log.let_go.set()
        holds(dispatcher, texts, "one")


def test_one_that_hangs_in_reading_is_stopped_all_the_same_and_writes_nothing(
    tmp_path, monkeypatch
):
    monkeypatch.setattr("mnemolog.streams.dispatching.STOP_SECONDS_MAX", 0.05)
    log, texts = Hanging("tests", hangs=1), Texts(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        assert log.inside.wait(WITHIN_SECONDS)
        assert dispatcher.stop()
        log.let_go.set()
        eventually(lambda: not dispatcher._thread.is_alive(), what="it ends by itself")
    assert texts.texts() == []


def test_one_that_hangs_in_a_store_is_not_said_to_be_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("mnemolog.streams.dispatching.STOP_SECONDS_MAX", 0.05)
    log, texts = InMemoryLog("tests"), Gated(tmp_path / "texts.db")
    say(log, "one")
    with running(log, texts) as dispatcher:
        assert texts.inside.wait(WITHIN_SECONDS)
        assert not dispatcher.stop()
        texts.gate.set()
        eventually(lambda: not dispatcher._thread.is_alive(), what="it ends by itself")


def test_one_that_was_stopped_is_left_alone(tmp_path):
    with running(InMemoryLog("tests")) as dispatcher:
        pass
    assert not dispatcher.recreate_reader()


def test_how_far_each_has_come_and_what_was_done_is_told(tmp_path):
    log, texts = InMemoryLog("tests"), Texts(tmp_path / "texts.db")
    for number in range(3):
        say(log, f"{number}")
    with running(log, texts) as dispatcher:
        eventually(lambda: dispatcher.reached.get("texts") == {0: 3}, what="it has come to the end")
        assert dispatcher.tally.records.value == 3
        counted, seconds = dispatcher.tally.batch_seconds.told()
        assert counted[-1][1] >= 1
        assert seconds > 0


def test_a_gate_that_is_shut_lets_nobody_through():
    gate = Gate()
    assert not gate.shut(lambda: None)
    shut = []

    def read():
        with gate.reading():
            shut.extend((gate.shut(lambda: None), gate.shut(lambda: None)))
            raise ValueError

    with pytest.raises(Superseded):
        read()
    assert shut == [True, False]
    with pytest.raises(Superseded), gate.reading():
        pytest.fail("it is shut")


def test_what_many_threads_count_is_whole():
    count = Count()
    threads = [
        threading.Thread(target=lambda: [count.add() for _ in range(1000)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count.value == 4000
