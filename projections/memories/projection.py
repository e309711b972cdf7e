"""The memories projection: a recall index that follows the log, and the state it is made from.

The index (`lance/`) has no transactions with anything else, so rows are written first and the
state (`state.db`: what rows are composed from, what was seen, progress) is committed after them.
Why a repeat after a crash converges, however the batches are then cut:

- a row is composed whole from the state, never changed in place;
- each attempt writes under a higher sequence than any before it, so what it writes counts;
- the events of a batch that was lost come again, and touch the same rows again;
- on opening, rows that the state does not know are taken away, and those it knows otherwise are
  written anew; so the index holds at any time what the state says, or what it is about to say.

Two owners can't both write: the state's transaction is held while rows are written, and names
the epoch of its owner.
"""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import ClassVar, Final, Self

from mnemolog.projections.batch import Batch
from mnemolog.projections.choosing import Choice, choose
from mnemolog.projections.digests import ContentRow
from mnemolog.projections.fault_points import reached
from mnemolog.projections.kinds import MEMORIES, VERSIONS
from mnemolog.projections.ledger import ParkedRecord
from mnemolog.projections.memories.content import covered_links, covered_memory
from mnemolog.projections.memories.contributions import Changes, changes_of
from mnemolog.projections.memories.embedding import Embedder
from mnemolog.projections.memories.lance_index import LanceIndex
from mnemolog.projections.memories.lance_maintenance import LanceMaintenance
from mnemolog.projections.memories.row_writer import RowWriter
from mnemolog.projections.memories.settings import Settings
from mnemolog.projections.memories.state import MemoriesState
from mnemolog.projections.memories.state_schema import STATE_FILE, STATE_SCHEMA
from mnemolog.projections.memories.upkeep import note_failure, note_success
from mnemolog.projections.memories.vector_cache import VectorCache, vector_key
from mnemolog.projections.memories.vector_filler import VectorFiller
from mnemolog.projections.memories.vector_state import VectorState
from mnemolog.projections.progress import Progress
from mnemolog.projections.projection import Place
from mnemolog.projections.sqlite_ledger import SQLiteLedger
from mnemolog.projections.sqlite_store import open_store, speaking_of, transaction
from mnemolog.projections.write_rule import formed_in
from mnemolog.schemas.decoded import Guest, Ours
from mnemolog.schemas.errors import StoreUnavailable

FAULT_POINTS: Final = (
    "memories.contributions-written",
    "memories.rows-upserted",
    "memories.rows-written",
    "memories.committed",
    "memories.vectors-cached",
    "memories.vectors-written",
    "memories.vectors-noted",
    "memories.vectors-dropped",
)


class MemoriesProjection:
    """One generation of the memories, open for writing."""

    name: ClassVar[str] = "memories"  # names its folder and progress: a literal
    version: ClassVar[int] = VERSIONS[MEMORIES]

    def __init__(
        self,
        place: Place,
        connection: sqlite3.Connection,
        index: LanceIndex,
        *,
        embedder: Embedder,
        cache: VectorCache,
    ) -> None:
        self._store = place.folder / STATE_FILE
        self._connection = connection
        self._index = index
        self._cache = cache
        self._model_id = embedder.model_id
        self._settings = Settings(connection, store=self._store)
        self._ledger = SQLiteLedger(connection)
        self._state = MemoriesState(connection)
        self._vectors = VectorState(connection)
        self._epoch = self._settings.own(place.epoch)
        self._writer = RowWriter(
            connection, index, cache=cache, epoch=self._epoch, dimensions=embedder.dimensions
        )
        self._filler = VectorFiller(
            connection, index, store=self._store, embedder=embedder, cache=cache
        )
        self.maintenance = LanceMaintenance(
            index,
            scrub_is_due=self._settings.scrub_is_due,
            scrubbed=self._settings.scrubbed,
            tell=self._note_upkeep,
            check_room=lambda: place.room.check(place.folder, "compaction"),
        )

    @classmethod
    def open(cls, place: Place, *, embedder: Embedder, cache: VectorCache) -> Self:
        """Open the generation at *place* with the embedder that it was made with, or begin it.

        Heals the index from the state where they differ. The projection closes *cache*. Raises
        InvalidSetting for another embedder, StoreUnavailable, or Damaged.
        """
        connection = open_store(
            place.folder / STATE_FILE, schema=STATE_SCHEMA, thorough=place.thorough
        )
        try:
            Settings(connection, store=place.folder / STATE_FILE).check_embedder(
                place.folder, model_id=embedder.model_id, dimensions=embedder.dimensions
            )
            index = LanceIndex.open(
                place.folder, dimensions=embedder.dimensions, thorough=place.thorough
            )
            opened = cls(place, connection, index, embedder=embedder, cache=cache)
            opened._heal()
        except BaseException:
            connection.close()
            raise
        return opened

    def _heal(self) -> None:
        with transaction(self._connection, store=self._store), speaking_of(self._store):
            self._writer.heal()

    def progress(self) -> Mapping[int, Progress]:
        """Return how far each partition has been applied."""
        with speaking_of(self._store):
            return self._ledger.progress()

    def apply(self, batch: Batch) -> None:
        """Fold what is new in *batch*.

        1. In a transaction of the state: choose, fold, record what the events say of memories.
        2. Write the rows that this touches into the index, and delete what is forgotten.
        3. Write what was seen and the progress, and commit the state.

        A crash before 2 has changed nothing. After a part of 2 the index is ahead of the state:
        opening takes that back, and the batch comes again. After 3 nothing is left to do.
        """
        with transaction(self._connection, store=self._store), speaking_of(self._store):
            self._settings.check_owner(self._epoch)
            choice = choose(batch, self._ledger, projection=self.name, wants=_is_ours)
            changes = _folded(batch, choice)
            if changes:
                self._write(changes)
            self._ledger.record(choice.entries)  # 3
        reached("memories.committed")

    def _write(self, changes: Changes) -> None:
        keys = {
            one.formed.id: vector_key(self._model_id, "memory", one.formed.text)
            for one in changes.memories
        }
        affected = self._state.write(changes, vector_keys=keys)  # 1
        if affected.gone:
            self._settings.ask_for_scrub()
        reached("memories.contributions-written")
        self._writer.write(affected)  # 2

    def follow_up(self, *, seconds_max: float) -> bool:
        """Fill in vectors for about *seconds_max*, then look after cache and index.

        Says whether vectors are still outstanding. Raises StoreUnavailable if the embedder or
        the cache does not work; rows go on without it.
        """
        deadline = time.monotonic() + seconds_max
        more = self._filler.fill(deadline=deadline)
        while more and time.monotonic() < deadline:
            more = self._filler.fill(deadline=deadline)
        self._filler.drop_forgotten()
        self.maintenance.run_if_due()
        return more

    def _note_upkeep(self, error: str | None, live_bytes: int) -> None:
        """Note how maintenance went, where the disk still takes it."""
        with (
            suppress(StoreUnavailable),
            transaction(self._connection, store=self._store),
            speaking_of(self._store),
        ):
            if error is None:
                note_success(self._connection, live_bytes=live_bytes)
            else:
                note_failure(self._connection, error)

    def settled(self) -> Mapping[int, int]:
        """Return the last offset of each partition up to which rows are there with their vectors.

        A text that can't be embedded holds nothing back.
        """
        with speaking_of(self._store):
            waiting = self._vectors.first_waiting()
            applied = {
                partition: p.last_applied for partition, p in self._ledger.progress().items()
            }
        return {p: min(last, waiting.get(p, last + 1) - 1) for p, last in applied.items()}

    def content(self) -> Iterator[ContentRow]:
        """Yield a row for each memory as the index serves it, and for each link between two.

        A memory's vector key is the one that its text has under this embedder, whether the vector
        is there yet or can be: so the digest does not depend on the filler's pace.
        """
        yield from map(covered_memory, self._index.records())
        with speaking_of(self._store):
            yield from covered_links(self._connection)

    def parked(self) -> Sequence[ParkedRecord]:
        """Return the parked records in the order of their keys and positions."""
        with speaking_of(self._store):
            return self._ledger.parked()

    def ledger(self) -> SQLiteLedger:
        """Return the generation's bookkeeping, for `doctor` and `status`."""
        return self._ledger

    def close(self) -> None:
        """Let go of the stores and the cache. Harmless twice."""
        self._connection.close()
        self._cache.close()


def _is_ours(item: Ours | Guest) -> bool:
    """Say whether the fold wants *item*: any event of ours may form a memory or speak of one."""
    return isinstance(item, Ours)


def _folded(batch: Batch, choice: Choice) -> Changes:
    """Return what the steps of *choice* change; one that fails is parked with its followers."""
    changes, waiting = Changes(), set[str]()
    for step in list(choice.steps):
        if step.item.key in waiting:
            continue
        assert isinstance(step.item, Ours)
        try:
            changes.add(changes_of(step.item.recorded, formed_in(batch, step)))
        except Exception as error:  # noqa: BLE001 - whatever it is, the key waits and is listed
            if choice.park(step, f"{type(error).__name__}: {error}"):
                waiting.add(step.item.key)
    return changes
