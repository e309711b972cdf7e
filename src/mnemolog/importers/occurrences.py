"""Names for what has none: the n-th time that the same is said."""

from typing import Final

OCCURRENCES_MAX: Final = 65_536  # different things that are counted; others are named by place


class Occurrences:
    """Counts how often each thing occurred.

    >>> times = Occurrences()
    >>> [times.next(text, otherwise="line 9") for text in ("yes", "no", "yes")]
    ['1', '1', '2']
    """

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def next(self, what: str, *, otherwise: str) -> str:
        """Return which time this is of *what*, or *otherwise* where too much is counted."""
        if what not in self._counts and len(self._counts) >= OCCURRENCES_MAX:
            return otherwise
        self._counts[what] = self._counts.get(what, 0) + 1
        return str(self._counts[what])
