"""Numbers that only grow, for whoever watches: counted by threads, read by others at any time."""

import threading
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final

BATCH_SECONDS: Final = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class Count:
    """A number that only grows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._value = 0

    @property
    def value(self) -> int:
        """How much was added so far."""
        return self._value

    def add(self, number: int = 1) -> None:
        """Add *number*."""
        with self._lock:
            self._value += number


class Durations:
    """How many took how long: counted by the *bounds* in seconds that they did not pass."""

    def __init__(self, bounds: tuple[float, ...] = BATCH_SECONDS) -> None:
        self._lock = threading.Lock()
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Count one that took *seconds*."""
        with self._lock:
            self._counts[bisect_left(self._bounds, seconds)] += 1
            self._sum += seconds

    def told(self) -> tuple[list[tuple[float, int]], float]:
        """Return, for each bound and for infinity, how many did not pass it; and the sum.

        >>> durations = Durations((1.0, 5.0))
        >>> for seconds in (0.5, 1.0, 7.0):
        ...     durations.add(seconds)
        >>> durations.told()
        ([(1.0, 2), (5.0, 2), (inf, 3)], 8.5)
        """
        with self._lock:
            counts, total = list(self._counts), self._sum
        passed, told = 0, []
        for bound, count in zip((*self._bounds, float("inf")), counts, strict=True):
            passed += count
            told.append((bound, passed))
        return told, total


@dataclass(frozen=True, slots=True)
class Tally:
    """What a dispatcher counts.

    `recreated` are readers that stood still and were replaced, `unfinished` turns of what follows
    the rows (publishing, vectors, upkeep) that failed.
    """

    records: Count = field(default_factory=Count)
    batch_seconds: Durations = field(default_factory=Durations)
    recreated: Count = field(default_factory=Count)
    unfinished: Count = field(default_factory=Count)
