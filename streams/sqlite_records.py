"""How records stand in the embedded log's table: rows out of records, and records out of rows.

What is written with a checksum is compared with it whenever it is read.
"""

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from mnemolog.schemas.errors import LogDamaged
from mnemolog.schemas.partitioning import partitions_of
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
        """Insert what is not there yet, and return where each of *records* stands.

        1. Insert them as what they nearly always are: all new.
        2. From the first one on that was there, look up which are, and insert the others.
        """
        pairs = pairs_of(records)
        positions = self._insert_new(records, pairs)  # 1
        if len(positions) < len(records):
            rest = slice(len(positions), None)
            positions += self._insert_others(records[rest], pairs[rest])  # 2
        return positions

    def insert_raw(self, partition: int, record: LogRecord) -> None:
        """Insert what anybody might have put there: no identity, any key, any value or none."""
        position = Position(partition, self._tails[partition].end)
        row = self._row(position, record.key, record.value, record.headers, (None, None))
        self.connection.execute(_INSERT, row)
        self._move_tail(position)

    def save_ends(self) -> None:
        """Write where the partitions end now. The last step before the commit."""
        rows = [(tail.end, tail.latest_at, p) for p, tail in self._tails.items()]
        self.connection.executemany(
            "UPDATE ends SET end = ?, latest_at = ? WHERE partition = ?", rows
        )

    def _insert_new(self, records: Sequence[NewRecord], pairs: Sequence[Pair]) -> list[Position]:
        """Insert *records* up to the first one that is there, and return where they stand."""
        positions = self._following(records)
        rows = [
            self._row(position, record.key, record.value, record.headers, pair)
            for position, record, pair in zip(positions, records, pairs, strict=True)
        ]
        inserted = positions[: _insert_while_unique(self.connection, rows)]
        for partition, offset in dict(inserted).items():  # the last of each partition
            self._move_tail(Position(partition, offset))
        return inserted

    def _insert_others(self, records: Sequence[NewRecord], pairs: Sequence[Pair]) -> list[Position]:
        """Insert those of *records* that are not there; a pair that comes twice is there then."""
        places = known_places(self.connection, pairs)
        new: dict[Pair, NewRecord] = {}
        for record, pair in zip(records, pairs, strict=True):
            if pair not in places:
                new.setdefault(pair, record)
        inserted = self._insert_new([*new.values()], [*new])
        if len(inserted) < len(new):
            raise LogDamaged("the log's index", "a record stands where the next one would")
        places.update(zip(new, inserted, strict=True))
        return [places[pair] for pair in pairs]

    def _following(self, records: Sequence[NewRecord]) -> list[Position]:
        """Return the places that *records* take if all are new."""
        partition_of = partitions_of((r.key for r in records), partitions=self.partitions)
        ends = {partition: tail.end for partition, tail in self._tails.items()}
        positions = []
        for record in records:
            partition = partition_of[record.key]
            positions.append(Position(partition, ends[partition]))
            ends[partition] += 1
        return positions

    def _move_tail(self, position: Position) -> None:
        tail = self._tails[position.partition]
        tail.end = position.offset + 1
        tail.latest_at = max(tail.latest_at, self.recorded_at)

    def _row(
        self,
        position: Position,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        pair: tuple[bytes | None, bytes | None],
    ) -> Row:
        written = _written(headers)
        latest_at = max(self._tails[position.partition].latest_at, self.recorded_at)
        checksum = _checksum(written, key, value)
        place = place_of(*position)
        return (place, self.recorded_at, latest_at, key, value, written, checksum, *pair)


def pairs_of(records: Iterable[NewRecord]) -> list[Pair]:
    """Return what each of *records* is known by."""
    return [(bytes.fromhex(r.identity), bytes.fromhex(r.content)) for r in records]


def known_places(connection: sqlite3.Connection, pairs: Sequence[Pair]) -> dict[Pair, Position]:
    """Return where those of *pairs* stand that are there, and others with their identities."""
    found: dict[Pair, Position] = {}
    for first in range(0, len(pairs), _PAIRS_ASKED_MAX):
        some = [identity for identity, _ in pairs[first : first + _PAIRS_ASKED_MAX]]
        marks = ", ".join("?" * len(some))
        sql = f"SELECT identity, content, place FROM records WHERE identity IN ({marks})"  # noqa: S608 - marks alone
        for identity, content, place in connection.execute(sql, some):
            found[identity, content] = _position(place)
    return found


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
    return zlib.crc32(value or b"", zlib.crc32(key or b"", _headers_checksum(headers)))


@lru_cache(maxsize=64)
def _headers_checksum(headers: str) -> int:
    return zlib.crc32(headers.encode())


@lru_cache(maxsize=64)
def _written(headers: Headers) -> str:
    return json.dumps([[name, None if value is None else value.hex()] for name, value in headers])


@lru_cache(maxsize=64)
def _read_headers(written: str) -> Headers:
    pairs: list[tuple[str, str | None]] = json.loads(written)
    return tuple((name, None if value is None else bytes.fromhex(value)) for name, value in pairs)


def _insert_while_unique(connection: sqlite3.Connection, rows: Iterable[Row]) -> int:
    """Insert *rows* one by one until one of them breaks a constraint; return how many it took.

    Those stay in the transaction, which goes on.
    """
    before = connection.total_changes
    with suppress(sqlite3.IntegrityError):
        connection.executemany(_INSERT, rows)
    return connection.total_changes - before
