"""Vectors by content: a text is embedded once for each model and role, whatever is rebuilt.

The cache only saves work: deleting it loses nothing, and what it holds is checked on both sides
of the disk. A vector that fails the check, or a file that can't be read, counts as not there.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np

from mnemolog.projections.memories.embedding import Role, Vector, is_sound
from mnemolog.schemas.ids import joined
from mnemolog.schemas.text import normalised


class VectorCache(Protocol):
    """Keeps vectors under keys of `vector_key`, for any number of threads and processes."""

    def get_many(self, keys: Iterable[str]) -> dict[str, Vector]:
        """Return the vectors that are there, bit for bit as they were put; read-only arrays."""
        ...

    def put_many(self, vectors: Mapping[str, Vector]) -> None:
        """Keep *vectors*; a key that is there gets its new one. Each passes `is_sound`."""
        ...

    def delete_many(self, keys: Iterable[str]) -> None:
        """Forget *keys*; an unknown one is ignored. Their bytes are overwritten."""
        ...

    def count(self) -> int:
        """Return how many vectors there are."""
        ...

    def close(self) -> None:
        """Release what is open; the cache is not used afterwards."""
        ...


def vector_key(model_id: str, role: Role, text: str) -> str:
    """Return 32 hexadecimal digits for the vector of *text*: texts that look alike share it."""
    parts = joined((model_id, role, normalised(text)))
    return hashlib.sha256(parts.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def vector_bytes(vector: Vector) -> bytes:
    """Return *vector* as little-endian float32. Only a sound one may be stored."""
    assert is_sound(vector), "an unsound vector would be stored"
    return vector.astype("<f4").tobytes()


def vector_of(stored: bytes) -> Vector | None:
    """Return what `vector_bytes` wrote, or None if it can't have been that."""
    if not stored or len(stored) % 4:
        return None
    vector = np.frombuffer(stored, dtype="<f4")
    return vector if is_sound(vector) else None


class InMemoryVectorCache:
    """A cache that lasts as long as the process, for tests and trials."""

    def __init__(self) -> None:
        self._stored: dict[str, bytes] = {}

    def get_many(self, keys: Iterable[str]) -> dict[str, Vector]:
        """Return the vectors that are there."""
        found = {key: vector_of(self._stored.get(key, b"")) for key in keys}
        return {key: vector for key, vector in found.items() if vector is not None}

    def put_many(self, vectors: Mapping[str, Vector]) -> None:
        """Keep *vectors*."""
        self._stored |= {key: vector_bytes(vector) for key, vector in vectors.items()}

    def delete_many(self, keys: Iterable[str]) -> None:
        """Forget *keys*."""
        for key in keys:
            self._stored.pop(key, None)

    def count(self) -> int:
        """Return how many vectors there are."""
        return len(self._stored)

    def close(self) -> None:
        """Do nothing: there is nothing open."""
