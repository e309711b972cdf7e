"""Whether a thread is reading, and what becomes of one that hangs in it.

A thread that hangs while it reads can be left to itself: it has written nothing, and when it comes
back it finds the gate shut and ends. One that hangs elsewhere may be within a store: nobody may
take its place.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Superseded(Exception):
    """Another thread has taken this one's place: it has to end, and to touch nothing."""


class Gate:
    """Stands around the reading of one thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_reading = False
        self._is_shut = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read within the block. Raises Superseded, whatever the block did, once it was shut."""
        self._pass(is_reading=True)
        try:
            yield
        finally:
            self._pass(is_reading=False)

    def shut(self, then: Callable[[], None]) -> bool:
        """Shut it if its thread is reading, and do *then* before that can go on; say whether."""
        with self._lock:
            if not self._is_reading or self._is_shut:
                return False
            self._is_shut = True
            then()
            return True

    def _pass(self, *, is_reading: bool) -> None:
        with self._lock:
            if self._is_shut:
                raise Superseded
            self._is_reading = is_reading
