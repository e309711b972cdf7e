"""Which blobs the log names and which are there: what is missing, damaged, or nobody's.

The log is read once, and both lists stand in a temporary SQLite table: memory does not grow with
them. Nothing is changed but by `remove`.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from mnemolog.engine import Engine, present
from mnemolog.folder import LOG_FOLDER
from mnemolog.schemas.blobs import BlobReference, references_in
from mnemolog.schemas.cloudevents import NotACloudEvent, read_cloud_event
from mnemolog.schemas.envelope import TYPE_PREFIX
from mnemolog.schemas.errors import BlobDamaged, BlobMissing
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.blobs import StoredBlob
from mnemolog.streams.opening import LOG_FILE

NOBODYS_AFTER: Final = timedelta(hours=1)  # younger ones may belong to an append under way
RECORDS_AT_ONCE: Final = 2_000
ROWS_AT_ONCE: Final = 1_000
READ_BYTES_MAX: Final = 17_179_869_184  # of blobs, in one look for damage; 16 GiB
_ATTRIBUTE: Final = "dataref"
_TABLES: Final = """
CREATE TABLE named (sha256 TEXT PRIMARY KEY, pointer TEXT, bytes INTEGER,
    partition INTEGER, "offset" INTEGER, event_id TEXT, ours INTEGER) WITHOUT ROWID;
CREATE TABLE stored (sha256 TEXT PRIMARY KEY, bytes INTEGER, put_at REAL) WITHOUT ROWID;
"""
_NAME: Final = """
INSERT INTO named VALUES (?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET
    pointer = excluded.pointer, bytes = excluded.bytes, partition = excluded.partition,
    "offset" = excluded."offset", event_id = excluded.event_id, ours = excluded.ours
WHERE excluded.ours > named.ours
"""


@dataclass(frozen=True, slots=True)
class NamedBlob:
    """A blob as an event names it: the first of ours that does."""

    reference: BlobReference
    event_id: str
    position: Position

    def __str__(self) -> str:
        where = f"{self.reference.pointer} of event {self.event_id} at {self.position}"
        return f"blob {self.reference.sha256}, {self.reference.bytes} bytes, of {where}"


class BlobAccounts:
    """What a look at a log and its blobs found; see `accounts`."""

    def __init__(self, engine: Engine, tables: sqlite3.Connection, *, at: datetime) -> None:
        self._engine = engine
        self._tables = tables
        self._nobodys_before = at - NOBODYS_AFTER
        self.knows_all = _knows_all(engine)  # whatever may name a blob was read

    def stored(self) -> tuple[int, int]:
        """Return how many blobs are there, and their bytes."""
        return self._totals("SELECT count(*), coalesce(sum(bytes), 0) FROM stored")

    def missing(self) -> Iterator[NamedBlob]:
        """Yield what events of ours name and the store does not have, in the log's order."""
        yield from self._named("sha256 NOT IN (SELECT sha256 FROM stored)")

    def damaged(self, *, bytes_max: int = READ_BYTES_MAX) -> Iterator[tuple[NamedBlob, str]]:
        """Yield what is named, is there, and is not what its name says, with the reason.

        Each blob is read, until *bytes_max* are.
        """
        left = bytes_max
        for named in self._named("sha256 IN (SELECT sha256 FROM stored)"):
            left -= named.reference.bytes
            if left < 0:
                return
            try:
                content = self._engine.blobs.get(named.reference.sha256)
            except BlobMissing:
                continue  # taken away meanwhile: the next look tells
            except BlobDamaged as error:
                yield named, error.reason
                continue
            if len(content) != named.reference.bytes:
                yield named, f"it has {len(content)} bytes"

    def orphans(self) -> tuple[int, int]:
        """Return how many blobs no event names, and their bytes; young ones are not counted."""
        return self._totals(f"SELECT count(*), coalesce(sum(bytes), 0) {_ORPHANS}", self._before())

    def leftovers(self) -> int:
        """Return how many pieces crashes left that nobody is writing."""
        before = self._nobodys_before
        return sum(1 for one in self._engine.blobs.leftovers() if one.written_at < before)

    def remove(self) -> tuple[int, int]:
        """Take away leftovers and what no event names; return how many and their bytes.

        Nothing is taken where not all that may name a blob was read. What is put at the same
        time stays.
        """
        if not self.knows_all:
            return 0, 0
        blobs = self._engine.blobs
        count, size = blobs.sweep(written_before=self._nobodys_before), 0
        for orphan in self._orphans():
            if blobs.discard(orphan.sha256, put_before=self._nobodys_before):
                count, size = count + 1, size + orphan.bytes
        return count, size

    def _before(self) -> tuple[float]:
        return (self._nobodys_before.timestamp(),)

    def _totals(self, query: str, values: tuple[float, ...] = ()) -> tuple[int, int]:
        count, size = self._tables.execute(query, values).fetchone()
        return int(count), int(size)

    def _orphans(self) -> Iterator[StoredBlob]:
        rows = self._tables.execute(f"SELECT sha256, bytes, put_at {_ORPHANS}", self._before())
        while some := rows.fetchmany(ROWS_AT_ONCE):
            for sha256, size, put_at in some:
                yield StoredBlob(sha256, size, datetime.fromtimestamp(put_at, UTC))

    def _named(self, where: str) -> Iterator[NamedBlob]:
        rows = self._tables.execute(
            f'SELECT pointer, sha256, bytes, event_id, partition, "offset" FROM named'  # noqa: S608
            f' WHERE ours AND {where} ORDER BY partition, "offset"'
        )
        while some := rows.fetchmany(ROWS_AT_ONCE):
            for pointer, sha256, size, event_id, partition, offset in some:
                reference = BlobReference(pointer, sha256, size)
                yield NamedBlob(reference, event_id, Position(partition, offset))


_ORPHANS: Final = "FROM stored WHERE put_at < ? AND sha256 NOT IN (SELECT sha256 FROM named)"


@contextmanager
def accounts(engine: Engine, *, at: datetime | None = None) -> Iterator[BlobAccounts]:
    """Read the log of *engine* and look through its blobs.

    1. Note the time: what is put from an hour before it on is nobody's business.
    2. Read what the log names, up to its end as of now.
    3. List what is there.

    A blob is put before its event is appended; so what 3 finds and 2 did not see is either
    younger than the log that was read, or no event's.
    """
    began = at or present()  # 1
    tables = sqlite3.connect("")  # a file that nobody else sees, and that goes with this
    try:
        tables.executescript(_TABLES)
        tables.executemany(_NAME, _names(engine))  # 2
        tables.executemany("INSERT OR IGNORE INTO stored VALUES (?,?,?)", _stored(engine))  # 3
        yield BlobAccounts(engine, tables, at=began)
    finally:
        tables.close()


def _knows_all(engine: Engine) -> bool:
    """Say whether the log is whole, and the only one beside which these blobs stand."""
    is_whole = not any(engine.log.starts().values())
    is_elsewhere = bool(engine.settings["log"])
    return is_whole and not (is_elsewhere and (engine.folder / LOG_FOLDER / LOG_FILE).exists())


def _stored(engine: Engine) -> Iterator[tuple[str, int, float]]:
    for blob in engine.blobs.stored():
        yield blob.sha256, blob.bytes, blob.put_at.timestamp()


def _names(engine: Engine) -> Iterator[tuple[str, str, int, int, int, str, bool]]:
    for record in _records(engine):
        try:
            attributes = read_cloud_event(record).attributes
        except NotACloudEvent:
            continue
        dataref = attributes.get(_ATTRIBUTE)
        is_ours = str(attributes["type"]).startswith(TYPE_PREFIX)
        for one in references_in(dataref if isinstance(dataref, str) else None):
            place = (record.partition, record.offset, str(attributes["id"]))
            yield one.sha256, one.pointer, one.bytes, *place, is_ours


def _records(engine: Engine) -> Iterator[LogRecord]:
    """Yield the records that may name a blob, those that can't be applied included."""
    ends = engine.log.ends()
    reader = engine.log.reader(engine.log.starts())
    try:
        while any(reader.positions().get(p, 0) < end for p, end in ends.items()):
            for record in reader.poll(records_max=RECORDS_AT_ONCE, wait_seconds=0.2):
                in_headers = any(name.endswith(_ATTRIBUTE) for name, _ in record.headers)
                if in_headers or b'"dataref"' in (record.value or b""):
                    yield record
    finally:
        reader.close()
