"""The port through which recall reads the memories of one generation. Nothing here writes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mnemolog.projections.memories.rows import Filter, MemoryRow

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a signal found, with the signal's own score: more is better."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class Link:
    """A tie between two memories; `kind` is one of the event's link kinds."""

    from_memory: str
    to_memory: str
    kind: str
    score: float
    cause: str  # the event id that made it


class MemoryReader(Protocol):
    """Reads one generation. Any thread may use it; it refreshes itself before each call."""

    @property
    def model_id(self) -> str:
        """The embedder whose vectors the generation holds; questions are embedded by it."""
        ...

    def nearest(self, vector: Vector, *, where: Filter, hits_max: int) -> Sequence[Hit]:
        """Return the memories nearest to *vector* by cosine, best first, ties by id."""
        ...

    def matching(self, question: str, *, where: Filter, hits_max: int) -> Sequence[Hit]:
        """Return the memories that share words with *question* by BM25, best first, ties by id."""
        ...

    def rows(self, ids: Iterable[str]) -> Mapping[str, MemoryRow]:
        """Return the memories of *ids* that are there."""
        ...

    def of_event(self, event_id: str) -> Sequence[MemoryRow]:
        """Return the memories that an event formed, by ordinal."""
        ...

    def of_session(self, session: str, *, where: Filter, rows_max: int) -> Sequence[MemoryRow]:
        """Return a session's memories in the order of their occurrence."""
        ...

    def latest(self, *, where: Filter, rows_max: int) -> Sequence[MemoryRow]:
        """Return the memories that occurred last, newest first."""
        ...

    def links(self, ids: Iterable[str], *, links_max: int) -> Sequence[Link]:
        """Return the links that touch any of *ids*, in either direction."""
        ...

    def counts(self) -> Mapping[str, int]:
        """Return how many there are, by the words memories, vectors, outstanding, unembeddable."""
        ...

    def close(self) -> None:
        """Let go of the index. Harmless twice."""
        ...
