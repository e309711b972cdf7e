"""What the contract of logs needs beside the port: handles, foreign hands, disasters."""

import uuid
from pathlib import Path
from typing import Protocol

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from mnemolog.schemas.records import Headers, LogRecord
from mnemolog.schemas.times import microseconds
from mnemolog.streams.clock import Clock, system_clock
from mnemolog.streams.kafka_log import KafkaLog
from mnemolog.streams.log import Log, topic_of
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.sqlite_file import transaction
from mnemolog.streams.sqlite_log import SQLiteLog
from mnemolog.streams.sqlite_records import Inserting, place_of
from support.polling import eventually


class LogEngine(Protocol):
    """One log of a test, through as many handles as it wants."""

    tenant: str

    def open(self, *, partitions: int = 1) -> Log:
        """Return a handle on the log, which is made by the first with so many partitions."""
        ...

    def put_raw(self, log: Log, partition: int, *, key, value, headers: Headers = ()) -> None:
        """Put there what no publisher of ours would."""
        ...

    def lose_start(self, log: Log, partition: int, *, before: int) -> None:
        """Take away what stands before an offset."""
        ...

    def make_anew(self) -> None:
        """Delete the log, so that the next handle makes an empty one under the same name."""
        ...

    def close(self) -> None:
        """Close all handles."""
        ...


class _Engine:
    def __init__(self) -> None:
        self.tenant = f"t-{uuid.uuid4().hex[:12]}"
        self._handles: list[Log] = []

    def _kept(self, log: Log) -> Log:
        self._handles.append(log)
        return log

    def close(self) -> None:
        while self._handles:
            self._handles.pop().close()


class MemoryEngine(_Engine):
    """A log in memory: all handles are one object."""

    def __init__(self, *, now: Clock = system_clock) -> None:
        super().__init__()
        self._now = now

    def open(self, *, partitions: int = 1) -> Log:
        if not self._handles:
            self._kept(InMemoryLog(self.tenant, partitions=partitions, now=self._now))
        return self._handles[0]

    def put_raw(self, log, partition, *, key, value, headers=()) -> None:
        with log._changed:
            log._add(LogRecord(partition, 0, self._now(), key, value, headers))
            log._changed.notify_all()

    def lose_start(self, log, partition, *, before) -> None:
        log._starts[partition] = before

    def make_anew(self) -> None:
        self.close()


class SQLiteEngine(_Engine):
    """A log in a file of *folder*."""

    def __init__(self, folder: Path, *, now: Clock = system_clock) -> None:
        super().__init__()
        self.path = folder / "log.db"
        self._now = now

    @property
    def address(self) -> str:
        """What `log_process.py` opens."""
        return str(self.path)

    def open(self, *, partitions: int = 1) -> Log:
        asked = None if self.path.exists() else partitions
        log = SQLiteLog.open(self.path, tenant=self.tenant, partitions=asked, now=self._now)
        return self._kept(log)

    def put_raw(self, log, partition, *, key, value, headers=()) -> None:
        record = LogRecord(partition, 0, self._now(), key, value, headers)
        now = microseconds(record.recorded_at)
        connection = log._file.connect()
        with transaction(connection, wait_seconds=10):
            inserting = Inserting(connection, partitions=log.partitions, recorded_at=now)
            inserting.insert_raw(partition, record)
            inserting.save_ends()
        connection.close()

    def lose_start(self, log, partition, *, before) -> None:
        connection = log._file.connect()
        with transaction(connection, wait_seconds=10):
            connection.execute(
                "DELETE FROM records WHERE place >= ? AND place < ?",
                (place_of(partition, 0), place_of(partition, before)),
            )
        connection.close()

    def make_anew(self) -> None:
        self.close()
        for path in self.path.parent.glob("log.db*"):
            path.unlink()


class KafkaEngine(_Engine):
    """A topic of its own on a broker that others use, too."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__()
        self.bootstrap = bootstrap
        self._admin = AdminClient({"bootstrap.servers": bootstrap})

    @property
    def address(self) -> str:
        """What `log_process.py` opens."""
        return f"kafka://{self.bootstrap}"

    def open(self, *, partitions: int = 1) -> Log:
        return self._kept(KafkaLog.open(self.bootstrap, tenant=self.tenant, partitions=partitions))

    def put_raw(self, log, partition, *, key, value, headers=()) -> None:
        settings = {"acks": "all", "message.max.bytes": 2_000_000}  # its own bound is lower
        producer = Producer({"bootstrap.servers": self.bootstrap, **settings})
        producer.produce(
            log.topic, key=key, value=value, headers=list(headers), partition=partition
        )
        assert producer.flush(10) == 0

    def lose_start(self, log, partition, *, before) -> None:
        where = TopicPartition(log.topic, partition, before)
        for future in self._admin.delete_records([where]).values():
            future.result(10)

    def make_anew(self) -> None:
        self.close()
        topic = topic_of(self.tenant)
        for future in self._admin.delete_topics([topic]).values():
            future.result(10)
        eventually(
            lambda: topic not in self._admin.list_topics(timeout=10).topics,
            what="the topic is gone",
        )
