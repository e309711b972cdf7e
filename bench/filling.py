"""A log with a history in it, and a cache with a vector for each of its memories.

No model runs: a vector is some unit vector that follows from its text, under the embedder's name.
So what is measured afterwards is all but the model, and a filled folder takes seconds, not hours.
"""

import hashlib
from datetime import UTC, datetime
from typing import Final, NamedTuple

import numpy as np
from measuring import batched
from work_history import Told, told

from mnemolog.projections.memories.embedding import Embedder, Vector
from mnemolog.projections.memories.sqlite_vector_cache import SQLiteVectorCache
from mnemolog.projections.memories.vector_cache import vector_key
from mnemolog.projections.write_rule import form
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.policy import BUILT_IN
from mnemolog.streams.log import Log

APPENDED_AT_ONCE: Final = 1_000
EVENTS_MAX: Final = 10_000_000
_WHEN: Final = datetime(2030, 6, 1, tzinfo=UTC)


class Filled(NamedTuple):
    """How much history a log got."""

    events: int
    memories: int


def fill(
    log: Log,
    codec: Codec,
    cache: SQLiteVectorCache,
    embedder: Embedder,
    *,
    seed: int,
    events: int = EVENTS_MAX,
    memories: int | None = None,
) -> Filled:
    """Append *events* events, or as many as form *memories* memories, and cache the vectors."""
    appended = formed = 0
    for call in batched(told(events=events, seed=seed), APPENDED_AT_ONCE):
        texts = [text for recorded in _appended(log, codec, call) for text in _texts(recorded)]
        keys = {vector_key(embedder.model_id, "memory", text) for text in texts}
        cache.put_many({key: _vector(key, embedder.dimensions) for key in keys})
        appended += len(call)
        formed += len(texts)
        if memories is not None and formed >= memories:
            break
    return Filled(appended, formed)


def _appended(log: Log, codec: Codec, call: list[Told]) -> list[RecordedEvent]:
    records = [codec.encode(event, envelope) for event, envelope in call]
    return [
        RecordedEvent(
            event=event,
            envelope=envelope,
            position=position,
            recorded_at=_WHEN,
            identity=record.identity,
            content=record.content,
        )
        for (event, envelope), record, position in zip(
            call, records, log.append(records), strict=True
        )
    ]


def _texts(recorded: RecordedEvent) -> list[str]:
    return [one.text for one in form(recorded, BUILT_IN).memories]


def _vector(key: str, dimensions: int) -> Vector:
    """Return some unit vector that follows from *key*."""
    seed = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8])
    vector = np.random.default_rng(seed).standard_normal(dimensions).astype(np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)
