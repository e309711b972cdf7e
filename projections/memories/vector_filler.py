"""Vectors follow the rows: what is outstanding is embedded, cached, written, and ticked off.

A text is embedded once for all memories that share it, and one that can't be is not tried again:
its memory stays findable by its words. Nothing here is part of a fold.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
import structlog

from mnemolog.projections.fault_points import reached
from mnemolog.projections.memories.embedding import (
    Embedder,
    Unembeddable,
    Vector,
    checked_vector,
)
from mnemolog.projections.memories.lance_index import LanceIndex
from mnemolog.projections.memories.vector_cache import VectorCache
from mnemolog.projections.memories.vector_state import VectorState, Waiting
from mnemolog.projections.sqlite_store import speaking_of, transaction

MEMORIES_PER_WRITE_MAX: Final = 512  # one commit of the index
# A commit takes longer the larger the index is, and leaves files to be merged: so parts of a
# write are put off until commits take a twentieth of the time.
WRITES_SHARE_MAX: Final = 0.05
TEXTS_PER_RUN_MAX: Final = 32  # embedded between two looks at the clock; then they are cached
THREADS: Final = 2  # an engine that lets go of the interpreter is nearly twice as fast

_log = structlog.get_logger("mnemolog.memories")
_Outcome = Vector | Unembeddable


class VectorFiller:
    """Gives the memories of one generation their vectors."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        index: LanceIndex,
        *,
        store: Path,
        embedder: Embedder,
        cache: VectorCache,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = connection
        self._state = VectorState(connection)
        self._index = index
        self._store = store
        self._embedder = embedder
        self._cache = cache
        self._clock = clock
        self._write_at = float("-inf")  # from then on a part may be written

    def fill(self, *, deadline: float) -> bool:
        """Embed some texts, at least one run; say whether vectors are still outstanding.

        1. Embed what the cache lacks, run by run until *deadline*, and cache each run.
        2. Write the vectors, and the reasons of texts that have none, into the index.
        3. Tick them off in the state.

        What does not fill a write may wait in the cache: see `WRITES_SHARE_MAX`. A crash after 1
        finds it there; after 2, the same is written once more. Raises StoreUnavailable if the
        embedder, the cache or a store does not work; nothing is lost.
        """
        with speaking_of(self._store):
            waiting = self._state.waiting(memories_max=MEMORIES_PER_WRITE_MAX)
        if waiting:
            found = self._outcomes(waiting, deadline=deadline)  # 1
            is_all = all(one.vector_key in found for one in waiting)
            if is_all or self._clock() >= self._write_at:
                self._write(*_by_memory(waiting, found))
        with speaking_of(self._store):
            return self._state.is_outstanding()

    def _write(self, vectors: Mapping[str, Vector], reasons: Mapping[str, str]) -> None:
        began = self._clock()
        self._index.fill(vectors, reasons)  # 2
        reached("memories.vectors-written")
        with transaction(self._connection, store=self._store), speaking_of(self._store):  # 3
            self._state.note_there(vectors)
            self._state.note_unembeddable(reasons)
        reached("memories.vectors-noted")
        ended = self._clock()
        self._write_at = ended + (ended - began) / WRITES_SHARE_MAX

    def drop_forgotten(self) -> None:
        """Delete from the cache what only forgotten memories had.

        1. Delete the vectors. 2. Tick their keys off. A crash between the two repeats 1.
        """
        with speaking_of(self._store):
            unused, every = self._state.dropped_keys()
        if every:
            self._cache.delete_many(unused)  # 1
            reached("memories.vectors-dropped")
            with transaction(self._connection, store=self._store), speaking_of(self._store):  # 2
                self._state.note_dropped(every)

    def _outcomes(self, waiting: Sequence[Waiting], *, deadline: float) -> dict[str, _Outcome]:
        """Return by vector key what became of the texts that were reached before *deadline*."""
        texts = {one.vector_key: one.text for one in waiting}
        found: dict[str, _Outcome] = dict(self._cached(texts))
        for run in self._runs([key for key in texts if key not in found], deadline=deadline):
            outcomes = dict(zip(run, self._embedded([texts[key] for key in run]), strict=True))
            sound = {k: v for k, v in outcomes.items() if not isinstance(v, Unembeddable)}
            self._cache.put_many(sound)
            found |= outcomes
            reached("memories.vectors-cached")
        return found

    def _cached(self, keys: Mapping[str, str]) -> dict[str, Vector]:
        length = self._embedder.dimensions
        return {k: v for k, v in self._cache.get_many(keys).items() if v.shape == (length,)}

    def _runs(self, keys: Sequence[str], *, deadline: float) -> Iterator[Sequence[str]]:
        for start in range(0, len(keys), TEXTS_PER_RUN_MAX):
            if start and time.monotonic() >= deadline:
                return
            yield keys[start : start + TEXTS_PER_RUN_MAX]

    def _embedded(self, texts: list[str]) -> list[_Outcome]:
        half = -(-len(texts) // THREADS)
        parts = [part for part in (texts[:half], texts[half:]) if part]
        with ThreadPoolExecutor(max_workers=THREADS) as pool:
            returned = pool.map(lambda part: self._embedder.embed(part, role="memory"), parts)
            outcomes = [outcome for part in returned for outcome in part]
        return [self._checked(outcome) for outcome in outcomes]

    def _checked(self, outcome: _Outcome) -> _Outcome:
        if isinstance(outcome, Unembeddable):
            return outcome
        return checked_vector(outcome, dimensions=self._embedder.dimensions)


def _by_memory(
    waiting: Sequence[Waiting], found: Mapping[str, _Outcome]
) -> tuple[dict[str, Vector], dict[str, str]]:
    """Return the vectors, and the reasons where there is none, by memory id."""
    reached_ones = [(one.id, found[one.vector_key]) for one in waiting if one.vector_key in found]
    vectors = {id_: outcome for id_, outcome in reached_ones if isinstance(outcome, np.ndarray)}
    reasons = {id_: str(o) for id_, o in reached_ones if isinstance(o, Unembeddable)}
    if reasons:
        _log.info("texts without a vector", count=len(reasons), first=next(iter(reasons)))
    return vectors, reasons
