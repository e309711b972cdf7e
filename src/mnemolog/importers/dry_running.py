"""What a dry run appends to: it checks what a log checks, and keeps only what was there where."""

import sqlite3
from collections.abc import Sequence
from typing import Final

from mnemolog.schemas.blobs import digest_of
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.schemas.partitioning import partition_of
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import NewRecord
from mnemolog.streams.admission import check_records
from mnemolog.streams.blobs import BlobStore, InMemoryBlobs
from mnemolog.streams.log import APPEND_SECONDS_MAX, Knowing, Log
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.publishing import Publisher

_SEEN: Final = (
    "CREATE TABLE seen (identity BLOB, content BLOB, place INTEGER,"
    " PRIMARY KEY (identity, content)) WITHOUT ROWID"
)
_WHERE: Final = "SELECT place FROM seen WHERE identity = ? AND content = ?"


def dry(publisher: Publisher, log: Log) -> tuple[Publisher, Log, BlobStore]:
    """Return what checks all that *publisher* does, and a log and blobs that keep nothing.

    They give each record the place that it has on *log*, which is asked and not appended to, or
    one behind its end. Of a log that can't be asked all is new.
    """
    nowhere, blobs = _Nowhere(publisher.codec.tenant, log), _NoBlobs()
    return publisher.elsewhere(nowhere, blobs), nowhere, blobs


class _NoBlobs(InMemoryBlobs):
    """Takes every blob, and keeps none."""

    def put(self, content: bytes) -> str:
        """Return the name of *content*."""
        return digest_of(content)


class _Nowhere(InMemoryLog):
    """Refuses what every log refuses, and keeps of the rest only which it was and where.

    That stands in SQLite's temporary file, which goes with the handle: so a repeat is known, as
    every log that can tell knows it, and memory is not filled by a long history.
    """

    def __init__(self, tenant: str, there: Log) -> None:
        super().__init__(tenant, partitions=there.partitions)
        self._there = there if isinstance(there, Knowing) else None
        self._ends_there = there.ends()
        self._next = max(self._ends_there.values(), default=0)
        self._seen = sqlite3.connect("", isolation_level=None)
        self._seen.execute(_SEEN)

    def append(
        self, records: Sequence[NewRecord], *, timeout_seconds: float = APPEND_SECONDS_MAX
    ) -> list[Position]:
        """Give each of *records* its place there, the one that it got before, or the next."""
        del timeout_seconds  # nothing here waits
        check_records(records)
        asked = [None] * len(records) if self._there is None else self._there.known(records)
        try:
            pairs = zip(asked, records, strict=True)
            return [self._place(r) if place is None else place for place, r in pairs]
        except sqlite3.Error as error:
            raise StoreUnavailable("a temporary file", str(error)) from error

    def ends(self) -> dict[int, int]:
        """Return where the log ended when the dry run began."""
        return dict(self._ends_there)

    def close(self) -> None:
        """Let go of the temporary file."""
        super().close()
        self._seen.close()

    def _place(self, record: NewRecord) -> Position:
        named = (bytes.fromhex(record.identity), bytes.fromhex(record.content))
        known = self._seen.execute(_WHERE, named).fetchone()
        if known is None:
            known = (self._next,)
            self._seen.execute("INSERT INTO seen VALUES (?, ?, ?)", (*named, *known))
            self._next += 1
        return Position(partition_of(record.key, partitions=self.partitions), known[0])
