"""Reading the embedded log, a batch at a time: what a poll holds is bounded, the log's size isn't.

Each poll is one short read transaction, so readers never keep SQLite from tidying its files.
"""

import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

from mnemolog.schemas.errors import Damaged
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.admission import check_reach
from mnemolog.streams.budget import ReadBudget, rotated
from mnemolog.streams.sqlite_errors import speaking_of
from mnemolog.streams.sqlite_file import LogFile
from mnemolog.streams.sqlite_records import SELECTED, place_of, records_of
from mnemolog.streams.sqlite_watch import CommitWatch


class SQLiteReader:
    """Reads from given offsets on. One thread at a time uses it."""

    def __init__(
        self, file: LogFile, start: Mapping[int, int], *, topic: str, watch: CommitWatch
    ) -> None:
        self._file = file
        self._topic = topic
        self._watch = watch
        self._following = dict(start)
        self._turn = 0
        self._connection = file.connect()

    def poll(self, *, records_max: int, wait_seconds: float) -> list[LogRecord]:
        """Return the next records; wait up to *wait_seconds* for the first one."""
        deadline = time.monotonic() + wait_seconds
        self._turn += 1
        while True:
            mark = self._watch.mark(self._version)
            found = self._read(ReadBudget(records_max))
            if found:
                return found
            if time.monotonic() >= deadline:
                self._file.check_in_place()  # else it would wait for ever on what nobody writes
                return found
            self._watch.sleep(mark, self._version, deadline=deadline)

    def positions(self) -> dict[int, int]:
        """Return the next offset to read in each partition."""
        return dict(self._following)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _read(self, budget: ReadBudget) -> list[LogRecord]:
        found: list[LogRecord] = []
        with self._snapshot() as connection:
            ends = dict(connection.execute("SELECT partition, end FROM ends"))
            for partition in rotated(list(self._following), self._turn):
                if not budget.is_spent:
                    found += self._read_partition(connection, partition, ends[partition], budget)
        return found

    def _read_partition(
        self, connection: sqlite3.Connection, partition: int, end: int, budget: ReadBudget
    ) -> list[LogRecord]:
        """Return records of *partition* and move past them; past its holes, too, at its end."""
        wanted = self._following[partition]
        if wanted == end:
            return []
        found: list[LogRecord] = []
        with closing(_rows(connection, partition, wanted, budget.records)) as rows:
            is_whole = _collect(records_of(rows), found, budget)
        if not found or found[0].offset != wanted:  # a hole is legal, a lost start is not
            start = start_of(connection, partition)
            check_reach(self._topic, partition=partition, wanted=wanted, start=start, end=end)
        self._following[partition] = end if is_whole else found[-1].offset + 1
        return found

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection within one read transaction."""
        with speaking_of(self._file.path):
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.execute("COMMIT")

    def _version(self) -> int:
        with speaking_of(self._file.path):
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])


def _collect(records: Iterator[LogRecord], into: list[LogRecord], budget: ReadBudget) -> bool:
    """Move *records* over while the budget lasts; say whether all are there.

    Of a damaged record the ones before it are kept: it is raised when it comes first.
    """
    try:
        for record in records:
            into.append(record)
            budget.spend(record)
            if budget.is_spent:
                return False
    except Damaged:
        if not into:
            raise
        return False
    return True


def _rows(
    connection: sqlite3.Connection, partition: int, offset: int, rows_max: int
) -> sqlite3.Cursor:
    """Return a cursor on the rows of *partition* from *offset* on, in order."""
    return connection.execute(
        f"SELECT {SELECTED} FROM records "  # noqa: S608 - a constant
        "WHERE place >= ? AND place < ? ORDER BY place LIMIT ?",
        (place_of(partition, offset), place_of(partition + 1, 0), rows_max),
    )


def start_of(connection: sqlite3.Connection, partition: int) -> int:
    """Return the first offset that is there, or the partition's end where none is."""
    first, end = connection.execute(
        "SELECT (SELECT min(place) FROM records WHERE place >= ? AND place < ?),"
        " (SELECT end FROM ends WHERE partition = ?)",
        (place_of(partition, 0), place_of(partition + 1, 0), partition),
    ).fetchone()
    return int(end) if first is None else int(first) - place_of(partition, 0)


def first_at(connection: sqlite3.Connection, partition: int, moment: int) -> int:
    """Return the first offset recorded at *moment* (microseconds) or later, or the end.

    The greatest time so far only grows along a partition, so halving finds where it reaches
    *moment*, whatever the machine's clock did.
    """
    low = start_of(connection, partition)
    high = _end_of(connection, partition)
    while low < high:
        middle = (low + high) // 2
        offset, latest_at = _last_up_to(connection, partition, middle)
        if latest_at >= moment:
            high = offset
        else:
            low = middle + 1
    return low


def _end_of(connection: sqlite3.Connection, partition: int) -> int:
    sql = "SELECT end FROM ends WHERE partition = ?"
    return int(connection.execute(sql, (partition,)).fetchone()[0])


def _last_up_to(connection: sqlite3.Connection, partition: int, offset: int) -> tuple[int, int]:
    """Return offset and greatest time of the last record at *offset* or before."""
    place, latest_at = connection.execute(
        "SELECT place, latest_at FROM records WHERE place <= ? ORDER BY place DESC LIMIT 1",
        (place_of(partition, offset),),
    ).fetchone()
    return int(place) - place_of(partition, 0), int(latest_at)
