"""The embedded log: one SQLite file a tenant. Any number of threads and processes append and read.

What `append` returned is on the disk. Offsets are contiguous in a partition; they are given out
in the transaction that inserts, so readers see them in order and without gaps.
"""

import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Self

from mnemolog.schemas.errors import ReadOnly
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord, NewRecord
from mnemolog.schemas.times import microseconds
from mnemolog.streams.admission import check_partitions, check_records
from mnemolog.streams.clock import Clock, system_clock
from mnemolog.streams.group_commit import GroupCommit, Insert
from mnemolog.streams.log import APPEND_SECONDS_MAX, topic_of
from mnemolog.streams.sqlite_checking import LogDamage, damage_of, mend_index
from mnemolog.streams.sqlite_errors import speaking_of
from mnemolog.streams.sqlite_file import LogFile, open_file, transaction
from mnemolog.streams.sqlite_reader import SQLiteReader, first_at, start_of
from mnemolog.streams.sqlite_records import (
    SELECTED,
    Inserting,
    known_places,
    pairs_of,
    place_of,
    records_of,
)
from mnemolog.streams.sqlite_watch import CommitWatch


class SQLiteLog:
    """One handle on an embedded log. Made by `open`."""

    def __init__(self, file: LogFile, *, topic: str, now: Clock) -> None:
        self.topic = topic
        self.partitions = file.partitions
        self._file = file
        self._now = now
        self._watch = CommitWatch()
        self._reading = file.connect()
        self._reading_lock = threading.Lock()
        self._writing = None if file.read_only else file.connect()
        self._commits = GroupCommit(self._begin, name=str(file.path))

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        tenant: str,
        partitions: int | None = None,
        read_only: bool = False,
        now: Clock = system_clock,
    ) -> Self:
        """Open the log at *path*, made first, with its folders, where there is none.

        *partitions* is fixed for ever at the making (1 where none is asked for); later None takes
        what is there. Raises what `sqlite_file.open_file` raises.
        """
        file = open_file(path, tenant=tenant, partitions=partitions, read_only=read_only)
        return cls(file, topic=topic_of(tenant), now=now)

    def append(
        self, records: Sequence[NewRecord], *, timeout_seconds: float = APPEND_SECONDS_MAX
    ) -> list[Position]:
        """Append *records* with what other threads append now, in one commit to the disk.

        Raises StoreUnavailable where the disk is full or may not be written: nothing was kept.
        """
        if self._writing is None:
            raise ReadOnly("append")
        check_records(records)
        if not records:
            return []
        positions = self._commits.append(records, timeout_seconds=timeout_seconds)
        self._watch.committed()
        return positions

    def known(self, records: Sequence[NewRecord]) -> list[Position | None]:
        """Return where each of *records* stands, or None."""
        pairs = pairs_of(records)
        with self._asking() as connection:
            places = known_places(connection, pairs)
        return [places.get(pair) for pair in pairs]

    def reader(self, start: Mapping[int, int]) -> SQLiteReader:
        """Return a reader that begins at *start*, with a connection of its own."""
        check_partitions(self.topic, start, partitions=self.partitions)
        return SQLiteReader(self._file, start, topic=self.topic, watch=self._watch)

    def starts(self) -> dict[int, int]:
        """Return the first offset that is still there in each partition, or its end."""
        with self._asking() as connection:
            return {p: start_of(connection, p) for p in range(self.partitions)}

    def ends(self) -> dict[int, int]:
        """Return the offset after the last record of each partition."""
        with self._asking() as connection:
            return dict(connection.execute("SELECT partition, end FROM ends ORDER BY partition"))

    def at(self, position: Position) -> LogRecord | None:
        """Return the record at *position*, or None where there is none."""
        if position.offset < 0:
            return None
        with self._asking() as connection:
            rows = connection.execute(
                f"SELECT {SELECTED} FROM records WHERE place = ?",  # noqa: S608 - a constant
                (place_of(*position),),
            ).fetchall()
        return next(records_of(rows), None)

    def position_at(self, moment: datetime) -> dict[int, int]:
        """Return each partition's first offset recorded at *moment* or later, or its end."""
        wanted = microseconds(moment)
        with self._asking() as connection:
            return {p: first_at(connection, p, wanted) for p in range(self.partitions)}

    def wait(self, after: Mapping[int, int], *, timeout_seconds: float) -> bool:
        """Wait until a partition's end is beyond its offset in *after*; say whether one is.

        A commit of this handle wakes it at once, one of another process within a few
        hundredths of a second.
        """
        deadline = time.monotonic() + timeout_seconds
        while True:
            mark = self._watch.mark(self._version)
            ends = self.ends()
            if any(ends.get(p, 0) > offset for p, offset in after.items()):
                return True
            if time.monotonic() >= deadline:
                self._file.check_in_place()
                return False
            self._watch.sleep(mark, self._version, deadline=deadline)

    def damage(self) -> LogDamage:
        """Read the whole log, and return which records are not what was appended."""
        return damage_of(self._file)

    def mend_index(self) -> None:
        """Write the index of identities anew from the records. Raises LogDamaged if in vain."""
        mend_index(self._file)

    def close(self) -> None:
        """Wait for the commit that runs, and let go of the file."""
        self._commits.close()
        self._watch.committed()
        with self._reading_lock:
            self._reading.close()
            if self._writing is not None:
                self._writing.close()

    @contextmanager
    def _begin(self, wait_seconds: float) -> Iterator[Insert]:
        """Open a transaction for `GroupCommit`, which has one at a time."""
        assert self._writing is not None, "append refuses a handle that only reads"
        self._file.check_in_place()
        with (
            speaking_of(self._file.path),
            transaction(self._writing, wait_seconds=wait_seconds),
        ):
            now = microseconds(self._now())
            inserting = Inserting(self._writing, partitions=self.partitions, recorded_at=now)
            yield inserting.insert
            inserting.save_ends()

    @contextmanager
    def _asking(self) -> Iterator[sqlite3.Connection]:
        with self._reading_lock, speaking_of(self._file.path):
            yield self._reading

    def _version(self) -> int:
        """Return a number that changes with every commit of another connection."""
        with self._asking() as connection:
            return int(connection.execute("PRAGMA data_version").fetchone()[0])
