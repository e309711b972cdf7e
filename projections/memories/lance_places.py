"""Where in the table rows were seen: what a search has just found is read without another search.

The index has no search by id; it would cost every write. A place is a hint and no more: the table
may have been rewritten since, so whoever reads there checks what is found.
"""

import threading
from collections.abc import Iterable
from typing import Final

PLACES_MAX: Final = 4_096  # some recalls' worth


class Places:
    """The last places that were seen, by id. Any thread may use it.

    >>> places = Places(places_max=2)
    >>> places.note([("a", 1), ("b", 2), ("a", 3), ("c", 4)])
    >>> places.of(["a", "b", "c"])
    [3, 4]
    """

    def __init__(self, *, places_max: int = PLACES_MAX) -> None:
        self._max = places_max
        self._places: dict[str, int] = {}
        self._lock = threading.Lock()

    def note(self, seen: Iterable[tuple[str, int]]) -> None:
        """Note places; those seen longest ago are dropped for them."""
        with self._lock:
            for id_, place in seen:
                self._places.pop(id_, None)
                self._places[id_] = place
            while len(self._places) > self._max:
                del self._places[next(iter(self._places))]

    def of(self, ids: Iterable[str]) -> list[int]:
        """Return the places of those of *ids* that were noted."""
        with self._lock:
            return [self._places[id_] for id_ in ids if id_ in self._places]
