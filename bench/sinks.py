"""Where consumers of the bench write what they read, each the same way, and how fast they are."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

import duckdb
import pyarrow as pa

from mnemolog.projections.batch import decoded
from mnemolog.projections.kinds import ANALYTICS, kinds
from mnemolog.projections.memories.embedders import embedder_named
from mnemolog.projections.projection import Projection
from mnemolog.projections.shelf import Shelf
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.log import topic_of

ANALYTICS_SINK: Final = "analytics"
TABLE_SINK: Final = "table"
COLUMNS: Final = ("part", "place", "id", "type", "agent", "recorded_at", "value")


class Sink(Protocol):
    """Decodes records with our codec and writes what they say."""

    def write(self, records: Sequence[LogRecord]) -> None: ...


def analytics(folder: Path, *, tenant: str, partitions: int) -> Projection:
    """Return a new, empty analytics projection."""
    kind = kinds(embedder=embedder_named("hashing"), tenant_folder=folder)[ANALYTICS]
    shelf = Shelf(folder, tenant, topic_of(tenant), partitions)
    return kind.open(shelf.place(shelf.create(kind), epoch=1))


class Analytics:
    """All that our analytics projection writes of a batch, progress included."""

    def __init__(self, folder: Path, codec: Codec, *, tenant: str, partitions: int) -> None:
        self._codec = codec
        self._projection = analytics(folder, tenant=tenant, partitions=partitions)

    def write(self, records: Sequence[LogRecord]) -> None:
        self._projection.apply(decoded(records, self._codec))


class Table:
    """One row an event in one table, a batch at a time, without progress or repeats."""

    def __init__(self, folder: Path, codec: Codec, *, tenant: str, partitions: int) -> None:
        del tenant, partitions
        self._codec = codec
        self._connection = duckdb.connect(str(folder / "table.duckdb"))
        self._connection.execute(
            "CREATE TABLE events (part INTEGER, place BIGINT, id VARCHAR, type VARCHAR,"
            " agent VARCHAR, recorded_at TIMESTAMPTZ, value BLOB)"
        )

    def write(self, records: Sequence[LogRecord]) -> None:
        found = [
            (one.recorded, one.record.value)
            for one in decoded(records, self._codec).items
            if isinstance(one, Ours)
        ]
        rows = [
            (
                told.position.partition,
                told.position.offset,
                told.envelope.id,
                type(told.event).event_type,
                told.envelope.agent,
                told.recorded_at,
                value,
            )
            for told, value in found
        ]
        table = pa.table(dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True)))
        self._connection.register("incoming", table)
        self._connection.execute("INSERT INTO events SELECT * FROM incoming")
        self._connection.unregister("incoming")


SINKS: Final = {ANALYTICS_SINK: Analytics, TABLE_SINK: Table}


class Pace:
    """How long all but the first batch took, by the clock and of the CPU.

    Who reads has its first batch in hand when it is first called, so the time begins at its end.
    """

    def __init__(self) -> None:
        self.events = 0
        self._first = 0
        self._begin = self._end = (0.0, 0.0)

    def note(self, events: int) -> None:
        """Note that a batch of *events* is written."""
        self._end = (time.perf_counter(), time.process_time())
        if not self.events:
            self._first, self._begin = events, self._end
        self.events += events

    def told(self) -> dict[str, float]:
        """Return what is measured, as JSON."""
        clock, cpu = (end - begin for begin, end in zip(self._begin, self._end, strict=True))
        return {"events": self.events - self._first, "seconds": clock, "cpu_seconds": cpu}
