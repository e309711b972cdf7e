"""Are two builds of one history equal? Digests first; then the first rows that differ."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from mnemolog.projections.digests import ContentDigest, ContentRow
from mnemolog.projections.projection import Projection

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
        _differences(_of(keys, left.content()), _of(keys, right.content())) if keys else (),
    )


Rows = dict[tuple[str, str, str], str]


def _of(keys: set[str], rows: Iterable[ContentRow]) -> Rows:
    return {
        (row.key, row.table, row.row_id): repr(sorted(row.values.items()))
        for row in rows
        if row.key in keys
    }


def _differences(left: Rows, right: Rows) -> tuple[Difference, ...]:
    places = sorted(
        place for place in left.keys() | right.keys() if left.get(place) != right.get(place)
    )
    return tuple(
        Difference(*place, left.get(place), right.get(place))
        for place in places[:DIFFERENCES_SHOWN_MAX]
    )
