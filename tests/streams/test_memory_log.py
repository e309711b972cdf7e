"""The log in memory keeps the contract of logs, and the contract's own numbers are right."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.log_appending import JAVA_PARTITIONS
from contracts.log_contract import LogContract
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.schemas.partitioning import murmur2, partition_of
from mnemolog.streams.memory_log import InMemoryLog
from support.log_engines import MemoryEngine
from support.log_records import everything, numbered

# murmur2 of the keys of JAVA_PARTITIONS, as the tests of Kafka's Java client have it.
JAVA_HASHES = (-973932308, -790332482, -985981536, -1486304829, -58897971, 479470107)


class TestInMemoryLog(LogContract):
    @pytest.fixture
    def engine(self):
        engine = MemoryEngine()
        yield engine
        engine.close()


@pytest.mark.parametrize(("key", "java"), list(zip(JAVA_PARTITIONS, JAVA_HASHES, strict=True)))
def test_the_hash_of_a_key_is_that_of_kafkas_java_client(key, java):
    assert murmur2(key) == java & 0xFFFFFFFF
    assert partition_of(key, partitions=4) == JAVA_PARTITIONS[key]


def test_recorded_at_is_the_time_of_the_clock_that_is_handed_in():
    times = iter(datetime(2030, 1, 1, tzinfo=UTC) + timedelta(hours=h) for h in range(3))
    log = InMemoryLog("acme", now=lambda: next(times))
    for n in range(3):
        log.append([numbered(n)])
    assert [record.recorded_at.hour for record in everything(log)] == [0, 1, 2]


def test_a_repeat_adds_nothing():
    log = InMemoryLog("acme")
    (first,) = log.append([numbered(1)])
    assert log.append([numbered(2), numbered(1)])[1] == first
    assert log.ends() == {0: 2}


def test_a_log_without_partitions_is_refused():
    with pytest.raises(InvalidSetting, match="at least one"):
        InMemoryLog("acme", partitions=0)
