"""Waiting for commits to the embedded log: woken within the process, cheap questions across."""

import time
from collections.abc import Callable
from threading import Condition
from typing import Final, NamedTuple

POLL_SECONDS: Final = 0.02  # how often another process's commits are asked for

Version = Callable[[], int]  # a number that another connection's commit changes


class Mark(NamedTuple):
    """What had been committed when somebody looked."""

    here: int
    elsewhere: int


class CommitWatch:
    """Tells the threads of one handle that something was committed."""

    def __init__(self) -> None:
        self._here = 0
        self._changed = Condition()

    def committed(self) -> None:
        """Wake who sleeps."""
        with self._changed:
            self._here += 1
            self._changed.notify_all()

    def mark(self, version: Version) -> Mark:
        """Return where we are. Take it before looking, so that no commit falls in between."""
        return Mark(self._here, version())

    def sleep(self, mark: Mark, version: Version, *, deadline: float) -> None:
        """Return once something was committed after *mark*, or at the *deadline*."""
        while (remaining := deadline - time.monotonic()) > 0:
            with self._changed:
                if self._changed.wait_for(
                    lambda: self._here != mark.here, min(remaining, POLL_SECONDS)
                ):
                    return
            if version() != mark.elsewhere:
                return
