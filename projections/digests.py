"""The content digest: what two builds of one history have in common, whatever the order.

A row's hash is the SHA-256 of its canonical JSON, as two 64-bit numbers; a key's subtotal adds
them modulo 2**64, so that neither order nor batches matter, and pairs don't cancel as XOR lets
them. Rows hold ids, texts, occurred times, integers, events' identities and vector keys; never
topic, partition, offset, recorded_at, vectors or derived floats.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from mnemolog.schemas.values import json_bytes

_WORD = 1 << 64


class ContentRow(NamedTuple):
    """A row that the digest covers: its key, its table, its id there, and its covered values."""

    key: str
    table: str
    row_id: str
    values: Mapping[str, Any]  # JSON values; times as whole microseconds or texts


class Subtotal(NamedTuple):
    """The digest of one key's rows."""

    rows: int = 0
    low: int = 0
    high: int = 0

    def plus(self, row: ContentRow) -> "Subtotal":
        """Return this subtotal with *row* in it."""
        hashed = hashlib.sha256(json_bytes([row.table, row.row_id, row.values])).digest()
        return Subtotal(
            self.rows + 1,
            (self.low + int.from_bytes(hashed[:8])) % _WORD,
            (self.high + int.from_bytes(hashed[8:16])) % _WORD,
        )


@dataclass(frozen=True, slots=True)
class ContentDigest:
    """The digest of a whole read model, with a subtotal for each key."""

    keys: Mapping[str, Subtotal]

    @classmethod
    def of(cls, rows: Iterable[ContentRow]) -> Self:
        """Return the digest of *rows*; memory grows with the number of keys only."""
        keys: dict[str, Subtotal] = {}
        for row in rows:
            keys[row.key] = keys.get(row.key, Subtotal()).plus(row)
        return cls(keys)

    @property
    def rows(self) -> int:
        """How many rows are covered."""
        return sum(subtotal.rows for subtotal in self.keys.values())

    @property
    def hex(self) -> str:
        """64 hexadecimal digits; equal content gives equal digits."""
        return hashlib.sha256(json_bytes(sorted(self.keys.items()))).hexdigest()

    def differing_keys(self, other: "ContentDigest") -> list[str]:
        """Return the keys whose subtotals differ, sorted."""
        every = self.keys.keys() | other.keys.keys()
        return sorted(key for key in every if self.keys.get(key) != other.keys.get(key))
