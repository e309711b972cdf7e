"""Recalls are recorded in the background: in order, bounded, never at an answer's cost."""

import threading
from datetime import UTC, datetime

from mnemolog.recording import QUEUED_MAX, Recorder
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.events.memory import MemoryRecalled
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.publishing import Draft, Publisher
from support.import_log import ImportLog


class GatedLog(InMemoryLog):
    """A log that takes nothing before its gate opens."""

    def __init__(self):
        super().__init__("tests")
        self.gate = threading.Event()

    def append(self, records, *, timeout_seconds=30.0):
        assert self.gate.wait(60)
        return super().append(records, timeout_seconds=timeout_seconds)


def publisher(log):
    codec = Codec(tenant="tests", partitions=1)
    return Publisher(log, codec, tenant="tests", now=lambda: datetime(2030, 1, 1, tzinfo=UTC))


def question(number):
    return Draft(model=MemoryRecalled, fields={"question": f"{number}"})


def asked(log):
    return [found.recorded.event.question for found in ImportLog(log).of(MemoryRecalled)]


def test_closing_waits_for_what_is_queued_and_keeps_its_order():
    log = GatedLog()
    recorder = Recorder(publisher(log))
    for number in range(50):
        recorder.record(question(number))
    log.gate.set()
    recorder.close()
    recorder.close()
    assert asked(log) == [f"{number}" for number in range(50)]


def test_who_comes_to_a_full_queue_appends_by_himself_and_nothing_is_dropped():
    log = GatedLog()
    recorder = Recorder(publisher(log))
    more = QUEUED_MAX + 10
    caller = threading.Thread(target=lambda: [recorder.record(question(n)) for n in range(more)])
    caller.start()
    caller.join(0.2)
    assert caller.is_alive()
    log.gate.set()
    caller.join(60)
    recorder.close()
    assert sorted(map(int, asked(log))) == list(range(more))


def test_threads_that_record_first_at_one_time_share_one_recorder():
    log = GatedLog()
    log.gate.set()
    recorder = Recorder(publisher(log))
    start = threading.Barrier(16)

    def record(number):
        start.wait(30)
        recorder.record(question(number))

    threads = [threading.Thread(target=record, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    recorder.close()
    assert sorted(map(int, asked(log))) == list(range(16))
    assert not [t for t in threading.enumerate() if t.name == "mnemolog-recorder" and t.is_alive()]


def test_what_the_log_refuses_hurts_nobody_and_the_next_one_is_recorded():
    log = GatedLog()
    log.gate.set()
    recorder = Recorder(publisher(log))
    recorder.record(Draft(model=MemoryRecalled, fields={"question": "x", "tokens": -1}))
    recorder.record(question(1))
    recorder.close()
    assert asked(log) == ["1"]
