"""What the contracts of projections share: how one is opened, fed, finished and compared."""

import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from mnemolog.projections.batch import Batch
from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.ledger import Ledger
from mnemolog.projections.projection import Place, Projection
from mnemolog.projections.sqlite_ledger import SQLiteLedger
from mnemolog.schemas.records import LogRecord
from mnemolog.schemas.values import json_bytes, parse_json
from support.eventful import eventful_history
from support.histories import (
    TENANT,
    batches,
    recorded,
)

FOLLOW_UPS_MAX = 1_000


class Died(BaseException):
    """The process is gone: what runs on an ordinary error must not run."""


def place_in(folder: Path) -> Place:
    """Return the place of a generation within *folder*, which stands for the tenant's."""
    generation = folder / "projection" / "000001"
    generation.mkdir(parents=True, exist_ok=True)
    topic = f"mnemolog.{TENANT}.events"
    return Place(folder=generation, tenant=TENANT, tenant_folder=folder, topic=topic)


def settle(projection: Projection) -> None:
    """Let *projection* finish what comes after the rows."""
    for _ in range(FOLLOW_UPS_MAX):
        if not projection.follow_up(seconds_max=1):
            return
    raise AssertionError("the follow-up never ends")


def digest(projection: Projection) -> str:
    """Return the content digest, once the follow-up is done."""
    settle(projection)
    return ContentDigest.of(projection.content()).hex


def rows(projection: Projection) -> set[str]:
    """Return the covered rows, in a form that can be compared and read."""
    settle(projection)
    return {repr((*row[:3], sorted(row.values.items()))) for row in projection.content()}


def changed(
    record: LogRecord, change: Callable[[dict], None], *, offset: int | None = None
) -> LogRecord:
    """Return *record* with its document changed by *change*."""
    document = parse_json(record.value or b"")
    change(document)
    at = record.offset if offset is None else offset
    return replace(record, offset=at, value=json_bytes(document))


class ProjectionCase:
    """A projection to be tested: say how to open one, and name its fault points."""

    fault_points: ClassVar[Sequence[str]]
    ledger_file: ClassVar[str | None] = None  # the SQLite file in its folder that has the ledger

    def open(self, folder: Path) -> Projection:
        """Open the projection whose tenant's folder is *folder*, made anew or as it was left."""
        raise NotImplementedError

    def finish(self, projection: Projection, folder: Path) -> None:
        """Do all that comes after the rows, so that every fault point is reached."""
        settle(projection)

    def ledger(self, projection: Projection, folder: Path) -> Ledger:
        """Return what the generation's ledger says."""
        if self.ledger_file is None:  # in a store that only the projection opens
            return projection._ledger
        return SQLiteLedger(sqlite3.connect(place_in(folder).folder / self.ledger_file))

    @contextmanager
    def opened(self, folder: Path) -> Iterator[Projection]:
        projection = self.open(folder)
        try:
            yield projection
        finally:
            projection.close()

    def built(self, batched: Iterable[Batch]) -> str:
        """Return the digest of a new projection that was given *batched*."""
        with tempfile.TemporaryDirectory() as name, self.opened(Path(name)) as projection:
            for batch in batched:
                projection.apply(batch)
            return digest(projection)

    def wanted(self, *, partitions: int) -> str:
        """Return the digest of the eventful history, worked out once a projection."""
        known = type(self).__dict__.get("_wanted", {})
        if partitions not in known:
            records = recorded(*eventful_history(partitions=partitions), partitions=partitions)
            known = {**known, partitions: self.built(batches(records, partitions=partitions))}
            type(self)._wanted = known
        return known[partitions]
