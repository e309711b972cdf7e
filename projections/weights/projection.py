"""The weights projection: rows and progress in one transaction of one SQLite file."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Self

from mnemolog.projections.batch import Batch
from mnemolog.projections.choosing import Choice, Step, choose
from mnemolog.projections.digests import ContentRow
from mnemolog.projections.fault_points import reached
from mnemolog.projections.kinds import VERSIONS, WEIGHTS
from mnemolog.projections.ledger import ParkedRecord
from mnemolog.projections.progress import Progress
from mnemolog.projections.projection import Place
from mnemolog.projections.sqlite_ledger import SQLiteLedger
from mnemolog.projections.sqlite_store import open_store, speaking_of, transaction
from mnemolog.projections.weights.rows import WANTED, Rows, rows_of
from mnemolog.projections.weights.sqlite_rows import FILE, SCHEMA, SQLiteWeightRows
from mnemolog.projections.write_rule import formed_in
from mnemolog.schemas.decoded import Guest, Ours

FAULT_POINTS: Final = (
    "weights.rows-written",
    "weights.progress-written",
    "weights.committed",
)
PAGE_CACHE_KIB: Final = 32_768  # ids are random: pages of large tables are met again and again


class WeightsProjection:
    """One generation of the weights, open for writing."""

    name: ClassVar[str] = "weights"  # names its folder and progress: a literal
    version: ClassVar[int] = VERSIONS[WEIGHTS]

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._ledger = SQLiteLedger(connection)
        self._rows = SQLiteWeightRows(connection)

    @classmethod
    def open(cls, place: Place) -> Self:
        """Open the generation at *place*, or begin it. Raises StoreUnavailable or Damaged."""
        path = place.folder / FILE
        connection = open_store(path, schema=SCHEMA, thorough=place.thorough)
        connection.execute(f"PRAGMA cache_size = -{PAGE_CACHE_KIB}")
        return cls(path, connection)

    def progress(self) -> Mapping[int, Progress]:
        """Return how far each partition has been applied."""
        with speaking_of(self._path):
            return self._ledger.progress()

    def apply(self, batch: Batch) -> None:
        """Fold what is new in *batch*, in one transaction.

        1. Choose what to apply and fold it; what can't be folded is parked.
        2. Write the rows.
        3. Write the progress and what else the ledger keeps.

        A crash before the commit leaves nothing of it, and the batch comes again.
        """
        with transaction(self._connection, store=self._path), speaking_of(self._path):
            choice = choose(batch, self._ledger, projection=self.name, wants=_wants)  # 1
            self._rows.add(_folded(batch, choice))  # 2
            reached("weights.rows-written")
            self._ledger.record(choice.entries)  # 3
            reached("weights.progress-written")
        reached("weights.committed")

    def follow_up(self, *, seconds_max: float) -> bool:  # noqa: ARG002 - the port's
        """Nothing comes after the rows."""
        return False

    def settled(self) -> Mapping[int, int]:
        """Return the last offset applied of each partition: nothing comes after the rows."""
        return {partition: done.last_applied for partition, done in self.progress().items()}

    def content(self) -> Iterator[ContentRow]:
        """Yield every covered row."""
        with speaking_of(self._path):
            yield from self._rows.content()

    def parked(self) -> Sequence[ParkedRecord]:
        """Return the parked records, by partition and offset."""
        with speaking_of(self._path):
            return self._ledger.parked()

    def close(self) -> None:
        """Let go of the file. Harmless twice."""
        self._connection.close()


def _wants(item: Ours | Guest) -> bool:
    return item.event_type in WANTED and isinstance(item, Ours)


def _folded(batch: Batch, choice: Choice) -> Rows:
    """Return the rows of *choice*'s steps; a step that can't be folded is parked in it."""
    rows, parked_keys = Rows(), set[str]()
    for step in tuple(choice.steps):
        if step.item.key in parked_keys:
            continue
        try:
            rows.add(_rows_of(batch, step))
        except Exception as error:  # noqa: BLE001 - whatever a fold's fault is, others go on
            if choice.park(step, f"{type(error).__name__}: {error}"):
                parked_keys.add(step.item.key)
    return rows


def _rows_of(batch: Batch, step: Step) -> Rows:
    assert isinstance(step.item, Ours), "guests are not wanted"
    decay = step.in_force.policy.decay
    return rows_of(step.item.recorded, formed_in(batch, step), decay)
