"""Kinds of lines that a format does not know: passed over, counted, and named at the end."""

from collections.abc import Iterator
from typing import Final

from mnemolog.importers.base import Problem, Source
from mnemolog.schemas.errors import shown

KINDS_MAX: Final = 64  # that are told apart; lines of further ones count as one kind


class Unknown:
    """Counts the lines of each kind that nobody knows: a newer writer may have some."""

    def __init__(self) -> None:
        self._lines: dict[str, int] = {}
        self._first: dict[str, str] = {}  # kind -> the place of its first line

    def add(self, kind: str, place: str) -> None:
        """Count a line of *kind*."""
        if kind not in self._lines and len(self._lines) >= KINDS_MAX:
            kind = ""
        self._lines[kind] = self._lines.get(kind, 0) + 1
        self._first.setdefault(kind, place)

    def problems(self, source: Source) -> Iterator[Problem]:
        """Yield a Problem for each kind, at its first line."""
        for kind, lines in self._lines.items():
            named = f"type {shown(kind)}" if kind else "further types"
            reason = f"{named} is not known and passed over; {lines} line(s) in all"
            yield source.problem(self._first[kind], reason)
