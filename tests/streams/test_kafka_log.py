"""The log on Kafka keeps the contract of logs on a real broker, also while that is killed."""

import contextlib
import threading
import time
import uuid

import pytest
from confluent_kafka import Producer

from contracts.log_contract import SharedLogContract
from mnemolog.schemas.errors import LogUnavailable
from mnemolog.schemas.positions import Position
from mnemolog.streams.kafka_log import KafkaLog
from support.kafka_broker import free_port
from support.log_engines import KafkaEngine
from support.log_records import everything, numbered, places, read_up_to, values
from support.polling import eventually

pytestmark = pytest.mark.kafka


class TestKafkaLog(SharedLogContract):
    @pytest.fixture
    def engine(self, kafka):
        engine = KafkaEngine(kafka.bootstrap)
        yield engine
        engine.close()


# Appending and reading


def test_large_appends_are_compressed_and_small_ones_are_not(open_kafka, kafka, admin):
    log = open_kafka(partitions=1)
    folder = kafka.folder / "log" / f"{log.topic}-0"

    def stored() -> int:
        return sum(path.stat().st_size for path in folder.glob("*.log"))

    log.append([numbered(n, value=b"x" * 1000) for n in range(1, 64)])
    small = stored()
    log.append([numbered(n, value=b"y" * 1000) for n in range(64, 128)])
    assert small > 63_000
    assert stored() - small < 10_000
    assert len(everything(log)) == 127


def test_many_threads_with_small_and_large_appends_keep_each_keys_order(open_kafka):
    log = open_kafka(partitions=2)

    def agent(name: int) -> None:
        key, number = b"agent-%d" % name, 0
        for size in (1, 100, 1, 2, 70, 1):
            some = range(number, number + size)
            log.append([numbered((name, n), key=key, value=b"%d" % n) for n in some])
            number += size

    threads = [threading.Thread(target=agent, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    found = everything(log)
    for name in range(8):
        mine = [int(record.value) for record in found if record.key == b"agent-%d" % name]
        assert mine == list(range(175))


def test_holes_that_transactions_leave_are_passed_and_aborted_records_are_not_read(
    open_kafka, kafka
):
    log = open_kafka(partitions=1)
    log.append([numbered(1)])
    producer = Producer(
        {"bootstrap.servers": kafka.bootstrap, "transactional.id": uuid.uuid4().hex}
    )
    producer.init_transactions(30)
    for value, end in ((b"kept", producer.commit_transaction), (b"no", producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(log.topic, key=b"k", value=value, partition=0)
        producer.flush(10)
        end(30)
    ends = eventually(lambda: log.ends() == {0: 5} and log.ends(), what="the markers are there")

    reader = log.reader({0: 0})
    found = read_up_to(reader, ends)

    assert [(record.offset, record.value) for record in found] == [(0, b"1"), (1, b"kept")]
    assert reader.positions() == {0: 5}
    assert log.at(Position(0, 2)) is None
    assert log.at(Position(0, 3)) is None


def test_what_a_failed_poll_may_have_passed_is_read_again(open_kafka):
    log = open_kafka(partitions=1)
    log.append([numbered(n) for n in range(6)])
    reader = log.reader({0: 0})
    assert values(reader.poll(records_max=2, wait_seconds=5)) == [b"0", b"1"]
    reader._loop = CutOff(log._loop)
    with pytest.raises(LogUnavailable, match="cut off"):
        reader.poll(records_max=2, wait_seconds=5)
    reader._loop = log._loop
    assert values(read_up_to(reader, log.ends())) == [b"2", b"3", b"4", b"5"]


class CutOff:
    """A loop that does what it is told, and whose answers get lost."""

    def __init__(self, loop) -> None:
        self._loop = loop

    def call(self, work, **bounds):
        assert self._loop.call(work, **bounds)
        raise LogUnavailable("here", "cut off")


def test_a_consumer_that_stands_still_is_replaced_and_counted(open_kafka):
    log = open_kafka(partitions=1)
    log.append([numbered(1)])
    reader = log.reader({0: 0}, stuck_seconds=0.1)
    read_up_to(reader, log.ends())

    async def stand_still() -> None:
        reader._consumer.pause(*reader._consumer.assignment())

    log._loop.call(stand_still, timeout_seconds=10, doing="standing still")
    log.append([numbered(2)])

    found = eventually(lambda: reader.poll(records_max=5, wait_seconds=0.05), what="it goes on")

    assert values(found) == [b"2"]
    assert log.reader_restarts == 1


def test_an_idle_reader_is_not_taken_for_a_stuck_one(open_kafka):
    log = open_kafka(partitions=1)
    reader = log.reader({0: 0}, stuck_seconds=0.01)
    for _ in range(10):
        assert reader.poll(records_max=5, wait_seconds=0.02) == []
    assert log.reader_restarts == 0


# The broker is away


def test_a_log_can_not_be_open_kafka_while_no_broker_answers():
    started = time.monotonic()
    address = f"127.0.0.1:{free_port()}"
    with pytest.raises(LogUnavailable, match=address):
        KafkaLog.open(address, tenant="acme", timeout_seconds=0.5)
    assert time.monotonic() - started < 30  # the bound, and a busy machine


def test_a_host_that_does_not_exist_is_named():
    with pytest.raises(LogUnavailable, match=r"no-such-host\.invalid:9092"):
        KafkaLog.open("no-such-host.invalid:9092", tenant="acme", timeout_seconds=0.5)


def test_what_was_acknowledged_outlives_a_killed_broker_and_all_goes_on_by_itself(
    open_kafka, kafka
):
    log = open_kafka(partitions=2)
    before = [numbered((n, "before"), key=b"agent-%d" % n) for n in range(100)]
    acknowledged = [*log.append(before), *places(log, [numbered("last", value=b"last")])]
    reader = log.reader({0: 0, 1: 0})
    assert len(read_up_to(reader, log.ends())) == 101

    kafka.kill()
    try:
        with pytest.raises(LogUnavailable, match=r"no answer within 0\.5 s while appending"):
            log.append([numbered("lost?", value=b"lost?")], timeout_seconds=0.5)
        with pytest.raises(LogUnavailable, match=r"no answer|no broker"):
            log.append([numbered((n, "bulk")) for n in range(100)], timeout_seconds=0.5)
    finally:
        kafka.start()

    log.append([numbered("lost?", value=b"lost?")])
    found = everything(log)
    assert set(acknowledged) <= {record.position for record in found}
    # What timed out may stand, too: each identity once or more, and none of it is news.
    assert {b"last", b"lost?"} <= set(values(found))
    assert b"lost?" in values(read_up_to(reader, log.ends()))
    assert log.wait({0: 0, 1: 0}, timeout_seconds=10)


def test_appends_that_run_while_the_broker_dies_and_returns_lose_nothing(open_kafka, kafka):
    log = open_kafka(partitions=2)
    acknowledged = {}
    stop = threading.Event()

    def agent(name: int) -> None:
        number = 0
        while not stop.is_set():
            record = numbered((name, number), key=b"agent-%d" % name, value=b"%d" % number)
            with contextlib.suppress(LogUnavailable):
                (position,) = log.append([record], timeout_seconds=60)
                acknowledged[position] = record.value
                number += 1

    threads = [threading.Thread(target=agent, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    eventually(lambda: len(acknowledged) > 50, what="appends are under way")
    kafka.kill()
    kafka.start()
    count = len(acknowledged)
    eventually(lambda: len(acknowledged) > count + 50, what="they go on")
    stop.set()
    for thread in threads:
        thread.join(90)

    there = {record.position: record.value for record in everything(log)}
    assert acknowledged.items() <= there.items()
    for name in range(4):
        mine = [r.value for r in everything(log) if r.key == b"agent-%d" % name]
        assert mine == sorted(mine, key=int)
