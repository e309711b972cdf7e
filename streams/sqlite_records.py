"""How records stand in the embedded log's table: rows out of records, and records out of rows.

What is written with a checksum is compared with it whenever it is read.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from mnemolog.schemas.errors import LogDamaged
from mnemolog.schemas.partitioning import partition_of
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import Headers, LogRecord, NewRecord
from mnemolog.streams.sqlite_file import PARTITION_SHIFT

_OFFSET_MASK: Final = (1 << PARTITION_SHIFT) - 1
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_PAIRS_ASKED_MAX: Final = 500  # identities in one look-up: SQLite's statements are bounded
_INSERT: Final = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"

SELECTED: Final = "place, recorded_at, key, value, headers, checksum"

Pair = tuple[bytes, bytes]
Row = tuple[object, ...]
ReadRow = tuple[int, int, bytes | None, bytes | None, str, int]  # of the columns `SELECTED`


def place_of(partition: int, offset: int) -> int:
    """Return the row id of a position."""
    return partition << PARTITION_SHIFT | offset


@dataclass(slots=True)
class Tail:
    """The end of one partition, as a transaction moves it."""

    end: int
    latest_at: int


@dataclass(slots=True)
class Inserting:
    """One transaction's inserts. It gives each new (identity, content) the next offset."""

    connection: sqlite3.Connection
    partitions: int
    recorded_at: int
    _tails: dict[int, Tail] = field(init=False)

    def __post_init__(self) -> None:
        rows = self.connection.execute("SELECT partition, end, latest_at FROM ends")
        self._tails = {partition: Tail(end, latest) for partition, end, latest in rows}

    def insert(self, records: Sequence[NewRecord]) -> list[Position]:
        """Insert what is not there yet, and return where each of *records* stands."""
        pairs = [(bytes.fromhex(r.identity), bytes.fromhex(r.content)) for r in records]
        known = self._known(pairs)
        rows: list[Row] = []
        for record, pair in zip(records, pairs, strict=True):
            if pair not in known:
                partition = partition_of(record.key, partitions=self.partitions)
                known[pair] = self._next(partition)
                rows.append(self._row(known[pair], record.key, record.value, record.headers, pair))
        self.connection.executemany(_INSERT, rows)
        return [_position(known[pair]) for pair in pairs]

    def insert_raw(self, partition: int, record: LogRecord) -> None:
        """Insert what anybody might have put there: no identity, any key, any value or none."""
        place = self._next(partition)
        row = self._row(place, record.key, record.value, record.headers, (None, None))
        self.connection.execute(_INSERT, row)

    def save_ends(self) -> None:
        """Write where the partitions end now. The last step before the commit."""
        rows = [(tail.end, tail.latest_at, p) for p, tail in self._tails.items()]
        self.connection.executemany(
            "UPDATE ends SET end = ?, latest_at = ? WHERE partition = ?", rows
        )

    def _known(self, pairs: Sequence[Pair]) -> dict[Pair, int]:
        """Return the places of those pairs that are there, and of others with their identities."""
        found: dict[Pair, int] = {}
        for first in range(0, len(pairs), _PAIRS_ASKED_MAX):
            some = [identity for identity, _ in pairs[first : first + _PAIRS_ASKED_MAX]]
            marks = ", ".join("?" * len(some))
            sql = f"SELECT identity, content, place FROM records WHERE identity IN ({marks})"  # noqa: S608 - marks alone
            for identity, content, place in self.connection.execute(sql, some):
                found[identity, content] = place
        return found

    def _next(self, partition: int) -> int:
        tail = self._tails[partition]
        tail.end += 1
        tail.latest_at = max(tail.latest_at, self.recorded_at)
        return place_of(partition, tail.end - 1)

    def _row(
        self,
        place: int,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        pair: tuple[bytes | None, bytes | None],
    ) -> Row:
        written = _written(headers)
        latest_at = self._tails[place >> PARTITION_SHIFT].latest_at
        checksum = _checksum(written, key, value)
        return (place, self.recorded_at, latest_at, key, value, written, checksum, *pair)


def records_of(
    rows: Iterable[tuple[int, int, bytes | None, bytes | None, str, int]],
) -> Iterator[LogRecord]:
    """Yield the records of rows of the columns `SELECTED`. Raises LogDamaged for a changed one."""
    for place, recorded_at, key, value, headers, checksum in rows:
        partition, offset = _position(place)
        if _checksum(headers, key, value) != checksum:
            what = f"the log's record {partition}@{offset}"
            raise LogDamaged(what, "it is not what was appended")
        moment = moment_of(recorded_at)
        yield LogRecord(partition, offset, moment, key, value, _read_headers(headers))


@lru_cache(maxsize=1024)
def moment_of(recorded_at: int) -> datetime:
    """Return the time that is *recorded_at* microseconds after 1970."""
    return _EPOCH + timedelta(microseconds=recorded_at)


def _position(place: int) -> Position:
    return Position(place >> PARTITION_SHIFT, place & _OFFSET_MASK)


def _checksum(headers: str, key: bytes | None, value: bytes | None) -> int:
    return zlib.crc32(value or b"", zlib.crc32(key or b"", zlib.crc32(headers.encode())))


@lru_cache(maxsize=64)
def _written(headers: Headers) -> str:
    return json.dumps([[name, None if value is None else value.hex()] for name, value in headers])


@lru_cache(maxsize=64)
def _read_headers(written: str) -> Headers:
    pairs: list[tuple[str, str | None]] = json.loads(written)
    return tuple((name, None if value is None else bytes.fromhex(value)) for name, value in pairs)
