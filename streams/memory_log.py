"""A log that lasts as long as the process: for tests, trials and `Memory(":memory:")`."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Condition

from mnemolog.schemas.errors import InvalidSetting, LogUnavailable
from mnemolog.schemas.partitioning import partition_of
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord, NewRecord
from mnemolog.streams.admission import check_partitions, check_reach, check_records
from mnemolog.streams.budget import ReadBudget, rotated
from mnemolog.streams.clock import Clock, system_clock
from mnemolog.streams.log import APPEND_SECONDS_MAX, topic_of


class InMemoryLog:
    """The records of one tenant in lists; all handles on it are this one object."""

    def __init__(self, tenant: str, *, partitions: int = 1, now: Clock = system_clock) -> None:
        if partitions < 1:
            raise InvalidSetting("partitions", partitions, "a log has at least one")
        self.topic = topic_of(tenant)
        self.partitions = partitions
        self._now = now
        self._records: list[list[LogRecord]] = [[] for _ in range(partitions)]
        self._starts = [0] * partitions  # what lies before is gone
        self._known: dict[tuple[str, str], Position] = {}
        self._changed = Condition()
        self._closed = False

    def append(
        self, records: Sequence[NewRecord], *, timeout_seconds: float = APPEND_SECONDS_MAX
    ) -> list[Position]:
        """Append *records*; they are there for every reader when this returns."""
        del timeout_seconds  # nothing here waits
        check_records(records)
        with self._changed:
            self._check_open()
            moment = self._now()
            positions = [self._kept(record, moment) for record in records]
            self._changed.notify_all()
        return positions

    def known(self, records: Sequence[NewRecord]) -> list[Position | None]:
        """Return where each of *records* stands, or None."""
        with self._changed:
            return [self._known.get((record.identity, record.content)) for record in records]

    def reader(self, start: Mapping[int, int]) -> "InMemoryLogReader":
        """Return a reader that begins at *start*."""
        return InMemoryLogReader(self, start)

    def starts(self) -> dict[int, int]:
        """Return the first offset that is still there in each partition."""
        with self._changed:
            return dict(enumerate(self._starts))

    def ends(self) -> dict[int, int]:
        """Return the offset after the last record of each partition."""
        with self._changed:
            return {p: len(records) for p, records in enumerate(self._records)}

    def at(self, position: Position) -> LogRecord | None:
        """Return the record at *position*, or None where there is none."""
        partition, offset = position
        with self._changed:
            inside = 0 <= partition < self.partitions
            if inside and self._starts[partition] <= offset < len(self._records[partition]):
                return self._records[partition][offset]
        return None

    def position_at(self, moment: datetime) -> dict[int, int]:
        """Return each partition's first offset recorded at *moment* or later, or its end."""
        with self._changed:
            return {p: self._first_at(p, moment) for p in range(self.partitions)}

    def wait(self, after: Mapping[int, int], *, timeout_seconds: float) -> bool:
        """Wait until a partition's end is beyond its offset in *after*; say whether one is."""
        deadline = time.monotonic() + timeout_seconds
        with self._changed:
            while not self._is_beyond(after):
                remaining = deadline - time.monotonic()
                if remaining <= 0 or self._closed:
                    return False
                self._changed.wait(remaining)
        return True

    def close(self) -> None:
        """Refuse further appends and wake who waits; what was appended can still be read."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _check_open(self) -> None:
        if self._closed:
            raise LogUnavailable(self.topic, "this handle was closed")

    def _kept(self, record: NewRecord, moment: datetime) -> Position:
        pair = (record.identity, record.content)
        if pair not in self._known:
            partition = partition_of(record.key, partitions=self.partitions)
            new = LogRecord(partition, 0, moment, record.key, record.value, record.headers)
            self._known[pair] = self._add(new)
        return self._known[pair]

    def _add(self, record: LogRecord) -> Position:
        """Put *record* at the end of its partition, under the lock."""
        there = self._records[record.partition]
        there.append(replace(record, offset=len(there)))
        return there[-1].position

    def _first_at(self, partition: int, moment: datetime) -> int:
        there, start = self._records[partition], self._starts[partition]
        later = (r.offset for r in there[start:] if r.recorded_at >= moment)
        return next(later, len(there))

    def _is_beyond(self, after: Mapping[int, int]) -> bool:
        return any(
            len(self._records[p]) > offset for p, offset in after.items() if p < self.partitions
        )

    def _read(self, following: dict[int, int], *, turn: int, records_max: int) -> list[LogRecord]:
        """Return records from *following* on, and move it past them."""
        found: list[LogRecord] = []
        budget = ReadBudget(records_max)
        with self._changed:
            for partition in rotated(list(following), turn):
                there, wanted = self._records[partition], following[partition]
                start, end = self._starts[partition], len(there)
                check_reach(self.topic, partition=partition, wanted=wanted, start=start, end=end)
                while following[partition] < end and not budget.is_spent:
                    found.append(there[following[partition]])
                    budget.spend(found[-1])
                    following[partition] += 1
        return found


class InMemoryLogReader:
    """Reads an `InMemoryLog`."""

    def __init__(self, log: InMemoryLog, start: Mapping[int, int]) -> None:
        check_partitions(log.topic, start, partitions=log.partitions)
        self._log = log
        self._following = dict(start)
        self._turn = 0

    def poll(self, *, records_max: int, wait_seconds: float) -> list[LogRecord]:
        """Return the next records; wait up to *wait_seconds* for the first one."""
        self._turn += 1
        found = self._read(records_max)
        if not found and self._log.wait(self._following, timeout_seconds=wait_seconds):
            found = self._read(records_max)
        return found

    def positions(self) -> dict[int, int]:
        """Return the next offset to read in each partition."""
        return dict(self._following)

    def close(self) -> None:
        """Nothing is held."""

    def _read(self, records_max: int) -> list[LogRecord]:
        return self._log._read(  # noqa: SLF001 - the reader is the log's other half
            self._following, turn=self._turn, records_max=records_max
        )
