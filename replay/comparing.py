"""Are two builds of one history equal? Digests first; then the first rows that differ."""

import hashlib
import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from mnemolog.projections.digests import ContentDigest, ContentRow
from mnemolog.projections.projection import Projection
from mnemolog.schemas.values import json_bytes

DIFFERENCES_SHOWN_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """A row that two builds do not share; a side that lacks it is None."""

    key: str
    table: str
    row_id: str
    left: str | None
    right: str | None

    def __str__(self) -> str:
        return f"{self.table} {self.row_id} of {self.key}: {self.left} / {self.right}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two builds of one projection side by side: counts, digests and the first differing rows."""

    projection: str
    rows: tuple[int, int]
    digests: tuple[str, str]
    differences: tuple[Difference, ...] = ()

    @property
    def is_equal(self) -> bool:
        """Whether both hold the same content."""
        return self.digests[0] == self.digests[1]

    def __str__(self) -> str:
        if self.is_equal:
            return f"{self.projection}: equal, {self.rows[0]} rows, digest {self.digests[0]}"
        first = f"; first: {self.differences[0]}" if self.differences else ""
        return f"{self.projection}: differs, {self.rows[0]} / {self.rows[1]} rows{first}"


def compare(left: Projection, right: Projection) -> Comparison:
    """Compare what *left* and *right* serve; both have to stand at the same progress.

    Rows are read again only for keys whose subtotals differ.
    """
    digests = ContentDigest.of(left.content()), ContentDigest.of(right.content())
    keys = set(digests[0].differing_keys(digests[1]))
    return Comparison(
        left.name,
        (digests[0].rows, digests[1].rows),
        (digests[0].hex, digests[1].hex),
        _differences(left, right, keys) if keys else (),
    )


Place = tuple[str, str, str]  # key, table, row id


def _differences(left: Projection, right: Projection, keys: set[str]) -> tuple[Difference, ...]:
    """Return the first rows that differ; of each row of these *keys* a hash is kept, no more."""
    hashes = {_place(row): _hash(row) for row in left.content() if row.key in keys}
    differing: list[Place] = []
    for row in right.content():
        if row.key in keys and hashes.pop(_place(row), None) != _hash(row):
            differing = heapq.nsmallest(DIFFERENCES_SHOWN_MAX, [*differing, _place(row)])
    only_left = hashes.keys()
    first = heapq.nsmallest(DIFFERENCES_SHOWN_MAX, [*differing, *only_left])
    shown = _shown(left.content(), first), _shown(right.content(), first)
    return tuple(Difference(*place, shown[0].get(place), shown[1].get(place)) for place in first)


def _place(row: ContentRow) -> Place:
    return row.key, row.table, row.row_id


def _hash(row: ContentRow) -> bytes:
    return hashlib.sha256(json_bytes(row.values)).digest()[:16]


def _shown(rows: Iterable[ContentRow], places: Sequence[Place]) -> dict[Place, str]:
    wanted = set(places)
    return {_place(row): repr(sorted(row.values.items())) for row in rows if _place(row) in wanted}
