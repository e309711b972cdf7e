"""The checkpoints projection: snapshot files, their index, and the timeline that goes on from them.

Files come first and are named by their content; rows and progress follow in one transaction of the
index. What the index does not name does not exist, so a file that a crash left is only litter.
"""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final, Self

from mnemolog.projections.batch import Batch
from mnemolog.projections.checkpoints.covered import covered_rows
from mnemolog.projections.checkpoints.file_format import SnapshotFiles
from mnemolog.projections.checkpoints.rows import Rows, fold
from mnemolog.projections.checkpoints.sqlite_index import (
    FILES_FOLDER,
    INDEX_FILE,
    INDEX_SCHEMA,
    SQLiteIndex,
)
from mnemolog.projections.choosing import Choice, choose
from mnemolog.projections.digests import ContentRow
from mnemolog.projections.fault_points import reached
from mnemolog.projections.kinds import CHECKPOINTS, VERSIONS
from mnemolog.projections.ledger import Entries, ParkedRecord
from mnemolog.projections.progress import Progress
from mnemolog.projections.projection import Place
from mnemolog.projections.sqlite_ledger import SQLiteLedger
from mnemolog.projections.sqlite_store import open_store, speaking_of, transaction

FAULT_POINTS: Final = (
    "checkpoints.file-written",
    "checkpoints.rows-written",
    "checkpoints.committed",
    "checkpoints.file-removed",
)

SWEPT_AT_ONCE: Final = 200  # files between two looks at the clock


class CheckpointsProjection:
    """One generation of the checkpoints, open for writing."""

    name: ClassVar[str] = "checkpoints"  # names its folder and progress: a literal
    version: ClassVar[int] = VERSIONS[CHECKPOINTS]

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self._store = folder / INDEX_FILE
        self._connection = connection
        self._ledger = SQLiteLedger(connection)
        self._index = SQLiteIndex(connection)
        self._files = SnapshotFiles(folder / FILES_FOLDER)
        self._litter: set[str] | None = None  # files that no row names; None: not looked yet

    @classmethod
    def open(cls, place: Place) -> Self:
        """Open the generation at *place*, or begin it. Raises StoreUnavailable or Damaged."""
        path = place.folder / INDEX_FILE
        store = open_store(path, schema=INDEX_SCHEMA, thorough=place.thorough)
        return cls(place.folder, store)

    def progress(self) -> Mapping[int, Progress]:
        """Return how far each partition has been applied."""
        with speaking_of(self._store):
            return self._ledger.progress()

    def apply(self, batch: Batch) -> None:
        """Fold what is new in *batch*.

        1. Choose what to apply and fold it; what can't be folded is parked.
        2. Write the files of its checkpoints, by content.
        3. Write rows, forgettings and progress in one transaction.
        4. Remove the files that were forgotten.

        A crash after 1, or within 3, loses nothing: the batch comes again. After 2, files are
        there that no row names; the batch comes again and finds them. After 3, forgotten files
        are out of reach already; `follow_up` removes them.
        """
        with speaking_of(self._store):
            choice = choose(batch, self._ledger, projection=self.name, wants=lambda _: True)
            rows = _folded(choice)  # 1
            rows = rows.without(self._index.forgotten_among(rows))
        for checkpoint in rows.checkpoints:  # 2
            self._files.write(checkpoint.snapshot)
            reached("checkpoints.file-written")
        forgotten = self._commit(rows, choice.entries)  # 3
        reached("checkpoints.committed")
        for name in sorted(forgotten):  # 4
            self._files.remove(name)
            reached("checkpoints.file-removed")

    def _commit(self, rows: Rows, entries: Entries) -> set[str]:
        with transaction(self._connection, store=self._store), speaking_of(self._store):
            self._index.insert(rows)
            forgotten = self._index.forget(rows)
            self._ledger.record(entries)
            reached("checkpoints.rows-written")
        return forgotten

    def follow_up(self, *, seconds_max: float) -> bool:
        """Remove files that no row names: what crashes left of saved and forgotten checkpoints.

        Only this process writes here: such a file is nobody's, or the draft of a reader that
        writes a damaged file anew, for which the removal waits. The folder is read once an
        opening: later litter needs a crash, which ends this process.
        """
        deadline = time.monotonic() + seconds_max
        with speaking_of(self._store):
            if self._litter is None:
                self._litter = self._files.names()
            while self._litter and time.monotonic() < deadline:
                some = {self._litter.pop() for _ in range(min(len(self._litter), SWEPT_AT_ONCE))}
                for name in some - self._index.used_files(some):
                    self._files.remove(name)
        return bool(self._litter)

    def settled(self) -> Mapping[int, int]:
        """Return the last offset applied of each partition: nothing comes after the rows."""
        return {partition: done.last_applied for partition, done in self.progress().items()}

    def content(self) -> Iterator[ContentRow]:
        """Yield every covered row; a checkpoint's is made from its file."""
        with speaking_of(self._store):
            yield from covered_rows(self._connection, self._files)

    def parked(self) -> Sequence[ParkedRecord]:
        """Return the parked records in the order of their keys and positions."""
        with speaking_of(self._store):
            return self._ledger.parked()

    def ledger(self) -> SQLiteLedger:
        """Return the generation's bookkeeping, for `doctor` and `status`."""
        return self._ledger

    def close(self) -> None:
        """Let go of the index. Harmless twice."""
        self._connection.close()


def _folded(choice: Choice) -> Rows:
    """Return the rows of all steps of *choice*; a step that fails is parked with its followers."""
    rows, waiting = Rows(), set[str]()
    for step in list(choice.steps):
        if step.item.key in waiting:
            continue
        try:
            rows.add(fold(step.item, step.in_force.policy.write))
        except Exception as error:  # noqa: BLE001 - whatever it is, the key waits and is listed
            if choice.park(step, f"{type(error).__name__}: {error}"):
                waiting.add(step.item.key)
    return rows
