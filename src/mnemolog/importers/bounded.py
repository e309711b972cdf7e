"""A dictionary that forgets: what an importer may remember of a file has a bound."""

from collections import OrderedDict
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Bounded(OrderedDict[K, V]):
    """Keeps at most *entries_max* entries; the one that was written longest ago goes first.

    >>> seen = Bounded(2)
    >>> seen["a"], seen["b"], seen["a"], seen["c"] = 1, 2, 3, 4
    >>> dict(seen)
    {'a': 3, 'c': 4}
    """

    def __init__(self, entries_max: int) -> None:
        super().__init__()
        self._entries_max = entries_max

    def __setitem__(self, key: K, value: V) -> None:
        """Write an entry, as the newest."""
        super().__setitem__(key, value)
        self.move_to_end(key)
        if len(self) > self._entries_max:
            self.popitem(last=False)
