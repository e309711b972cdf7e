"""A generation of memories in a folder, for tests of the index: its place, its writer, its rows.

with opened(tmp_path) as memories:
    fold(memories, recorded(ObservationRecorded(text="the pool is exhausted")))
    settle(memories)
reader = reader_of(tmp_path)
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.formed_memory import FormedMemory
from mnemolog.projections.generations import DESCRIPTION, Description, Generations
from mnemolog.projections.memories.embedding import CheckedEmbedder, Embedder, Role, Vector
from mnemolog.projections.memories.hashing_embedder import HashingModel
from mnemolog.projections.memories.lance_reader import LanceMemoryReader
from mnemolog.projections.memories.projection import MemoriesProjection
from mnemolog.projections.memories.rows import Filter
from mnemolog.projections.memories.vector_cache import InMemoryVectorCache, VectorCache
from mnemolog.projections.projection import Place
from mnemolog.schemas.ids import memory_id
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord
from support.histories import START, TENANT, batches, recorded

TOPIC = f"mnemolog.{TENANT}.events"
FOLLOW_UPS_MAX = 1_000
ALL = Filter(current=False)


class CountingModel:
    """Four numbers from a text's characters; counts its texts, and fails for those it is told."""

    model_id = "counting/4"
    dimensions = 4

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.not_a_number: set[str] = set()

    def vectors(self, texts: Sequence[str], *, role: Role) -> list[Vector]:
        self.texts += texts
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        if text in self.not_a_number:
            return np.full(4, np.nan, dtype=np.float32)
        sums = [sum(map(ord, text[start::4])) + 1 for start in range(4)]
        return np.array(sums, dtype=np.float32)


def hashing() -> Embedder:
    return CheckedEmbedder(HashingModel())


def place(folder: Path, *, epoch: int = 0, embedder: Embedder | None = None) -> Place:
    """Return the place of the first generation in *folder*, described as it is when made."""
    made_by = embedder or hashing()
    generations = Generations(folder / "memories")
    if not generations.names():
        options = {"embedder": made_by.model_id, "dimensions": made_by.dimensions}
        generations.create(Description("memories", 1, TOPIC, 1, options))
    generation = generations.folder / generations.names()[0]
    assert (generation / DESCRIPTION).exists()
    return Place(generation, TENANT, folder, TOPIC, epoch)


@contextmanager
def opened(
    folder: Path,
    *,
    embedder: Embedder | None = None,
    cache: VectorCache | None = None,
    epoch: int = 0,
) -> Iterator[MemoriesProjection]:
    """Yield the projection of the generation in *folder*, and close it."""
    used = embedder or hashing()
    projection = MemoriesProjection.open(
        place(folder, epoch=epoch, embedder=used),
        embedder=used,
        cache=InMemoryVectorCache() if cache is None else cache,
    )
    try:
        yield projection
    finally:
        projection.close()


def fold(
    projection: MemoriesProjection,
    records: Sequence[LogRecord],
    *,
    records_max: int = 100,
    partitions: int = 1,
) -> None:
    for batch in batches(records, records_max=records_max, partitions=partitions):
        projection.apply(batch)


def settle(projection: MemoriesProjection) -> None:
    """Let all vectors be filled in."""
    for _ in range(FOLLOW_UPS_MAX):
        if not projection.follow_up(seconds_max=5):
            return
    raise AssertionError("the follow-up never ends")


def digest(projection: MemoriesProjection) -> str:
    return ContentDigest.of(projection.content()).hex


def folded(folder: Path, *events: Any) -> LanceMemoryReader:
    """Return a reader of a generation that has folded *events*, vectors included."""
    with opened(folder) as memories:
        fold(memories, recorded(*events))
        settle(memories)
    return reader_of(folder)


def texts(folder: Path) -> set[str]:
    """Return the texts of all memories that are served."""
    return {row.text for row in reader_of(folder).latest(where=ALL, rows_max=100)}


def asked(text: str) -> Vector:
    """Return the vector of a question, by the embedder that these generations have."""
    (vector,) = hashing().embed([text], role="question")
    assert isinstance(vector, np.ndarray)
    return vector


def reader_of(folder: Path) -> LanceMemoryReader:
    return LanceMemoryReader.open(place(folder).folder)


def formed(number: int, **said: Any) -> FormedMemory:
    """Return the memory of the event "e<number>"; *said* are other fields."""
    identity = f"{number:032x}"
    plain: dict[str, Any] = {
        "id": memory_id(identity, 0),
        "ordinal": 0,
        "kind": "episode",
        "text": f"memory number {number}",
        "importance": 500,
        "confidence": 1000,
        "stated_by": "agent",
        "tags": (),
        "entities": (),
        "reason": "made by a test",
        "occurred_at": START + timedelta(minutes=number),
        "key": "ops-1",
        "agent": "ops-1",
        "user": None,
        "project": None,
        "session": None,
        "task": None,
        "event_id": f"e{number}",
        "event_type": "observation.recorded",
        "identity": identity,
        "position": Position(0, number),
        "recorded_at": START + timedelta(minutes=number, seconds=1),
    }
    return FormedMemory(**plain | said)
