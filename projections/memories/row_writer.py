"""From the state to the index: whole rows, composed anew, with the vectors that are at hand.

Whoever writes rows does it here: the fold of a batch, and the healing of an index that lost or
kept what the state did not.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final

import structlog

from mnemolog.projections.fault_points import reached
from mnemolog.projections.memories.embedding import Vector
from mnemolog.projections.memories.lance_index import LanceIndex
from mnemolog.projections.memories.lance_schema import Served
from mnemolog.projections.memories.state import Affected, MemoriesState, StoredMemory
from mnemolog.projections.memories.state_schema import OUTSTANDING, THERE, UNEMBEDDABLE
from mnemolog.projections.memories.vector_cache import VectorCache
from mnemolog.projections.memories.vector_state import SEQUENCE_BITS, VectorState
from mnemolog.projections.sqlite_store import chunks
from mnemolog.schemas.errors import StoreUnavailable

HEALED_ROWS_MAX: Final = 1_000  # in memory at once

_log = structlog.get_logger("mnemolog.memories")


class RowWriter:
    """Keeps *index* in step with the state; the caller holds the state's transaction.

    Each write has a sequence of its own that no attempt has used, so the last one to write a row
    wins, whatever became of the attempts before it.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        index: LanceIndex,
        *,
        cache: VectorCache,
        epoch: int,
        dimensions: int,
    ) -> None:
        self._state = MemoriesState(connection)
        self._vectors = VectorState(connection)
        self._index = index
        self._cache = cache
        self._dimensions = dimensions
        self._sequence = epoch << SEQUENCE_BITS

    def write(self, affected: Affected) -> None:
        """Serve the live ones of *affected* anew, in one upsert, and take the others away."""
        self._serve(affected.live)
        reached("memories.rows-upserted")
        self._index.delete(affected.gone)
        reached("memories.rows-written")

    def heal(self) -> int:
        """Make the index agree with the state; return how many rows had to be written or deleted.

        They differ after a crash between index and state, or a power cut: neither asks the disk
        to confirm each write. Call it before the first write.
        """
        summary, highest = self._index.summary()
        self._sequence = max(self._sequence, highest, self._vectors.last_sequence())
        if summary == self._vectors.summary():
            return 0
        written = self._index.written()
        expected = {id_: (seq, there) for id_, seq, there in self._vectors.served()}
        gone = sorted(written.keys() - expected.keys())
        wrong = sorted(id_ for id_, what in expected.items() if written.get(id_) != what)
        for run in chunks(wrong, items_max=HEALED_ROWS_MAX):
            self._serve(run)
        self._index.delete(gone)
        _log.warning("index healed from the state", written=len(wrong), deleted=len(gone))
        return len(wrong) + len(gone)

    def _serve(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        self._sequence += 1
        served = self._with_vectors(list(self._state.stored(ids)))
        self._index.upsert(served, sequence=self._sequence)
        self._vectors.note_served(
            ((one.stored.id, _vector_state(one)) for one in served), sequence=self._sequence
        )

    def _with_vectors(self, stored: Sequence[StoredMemory]) -> list[Served]:
        """Return *stored* with the vectors that the cache has, or else the index itself."""
        cached = self._cached([one.vector_key for one in stored])
        lost = [one.id for one in stored if one.vector == THERE and one.vector_key not in cached]
        kept = self._index.vectors(lost) if lost else {}
        return [Served(one, cached.get(one.vector_key, kept.get(one.id))) for one in stored]

    def _cached(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return what the cache has; rows don't wait for a cache that doesn't work."""
        try:
            found = self._cache.get_many(keys)
        except StoreUnavailable as error:
            _log.warning("vector cache unavailable; vectors follow", error=str(error))
            return {}
        return {key: vector for key, vector in found.items() if vector.shape == (self._dimensions,)}


def _vector_state(served: Served) -> int:
    if served.vector is not None:
        return THERE
    return UNEMBEDDABLE if served.stored.vector == UNEMBEDDABLE else OUTSTANDING
