"""Places in the log. A position says where an event is; a token says up to where."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Self


class Position(NamedTuple):
    """A place in the log: one event in one partition."""

    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.partition}@{self.offset}"


@dataclass(frozen=True, slots=True)
class Token:
    """The last offset of interest in each partition; partitions that are absent don't matter.

    What an append returns, and what `after=` and `wait_for` take.

    >>> Token.of([Position(0, 3), Position(0, 7), Position(1, 2)])
    Token('0@7,1@2')
    >>> Token.parse("0@7,1@2").offsets
    {0: 7, 1: 2}
    """

    offsets: Mapping[int, int]

    @classmethod
    def of(cls, positions: Iterable[Position]) -> Self:
        """Return the token that covers *positions*; none gives the empty token."""
        last: dict[int, int] = {}
        for partition, offset in positions:
            last[partition] = max(offset, last.get(partition, -1))
        return cls(last)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return what `str` wrote. Raises ValueError on anything else."""
        pairs = (part.split("@") for part in text.split(",") if part)
        return cls({int(partition): int(offset) for partition, offset in pairs})

    def __or__(self, other: "Token") -> "Token":
        """Return the token that covers both."""
        return Token.of(Position(*item) for t in (self, other) for item in t.offsets.items())

    def __str__(self) -> str:
        return ",".join(f"{p}@{offset}" for p, offset in sorted(self.offsets.items()))

    def __repr__(self) -> str:
        return f"Token({str(self)!r})"

    def is_covered_by(self, last_applied: Mapping[int, int]) -> bool:
        """Say whether *last_applied* has reached every offset of this token."""
        return all(last_applied.get(p, -1) >= offset for p, offset in self.offsets.items())
