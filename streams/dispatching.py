"""The dispatcher: a thread that runs the projector whenever the log has something new.

A wake-up is only a trigger (law 5): one that is lost, doubled or late is harmless, since the
projector reads from its own progress and a timer wakes it anyway.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import structlog

from mnemolog.projections.projection import Projection
from mnemolog.schemas.errors import MnemologError, StoreUnavailable, TimedOut
from mnemolog.streams.log import Log
from mnemolog.streams.projecting import Projector

IDLE_SECONDS_MAX: Final = 0.5  # the timer that wakes it anyway
FOLLOW_UP_SECONDS_MAX: Final = 0.25  # a turn of follow-up, after which new events come first
BACKOFF_SECONDS_MIN: Final = 0.1
BACKOFF_SECONDS_MAX: Final = 5.0
STOP_SECONDS_MAX: Final = 60.0
THREAD: Final = "mnemolog-dispatcher"

_log = structlog.get_logger("mnemolog.dispatcher")


class Dispatcher:
    """Runs a projector in a thread of its own until it is stopped or can't go on.

    `failure` is what it could not go on from: an error other than an unavailable store.
    """

    def __init__(self, log: Log, projector: Projector) -> None:
        self._log = log
        self._projector = projector
        self._turn = threading.RLock()  # held while the projector or a projection is used
        self._moved = threading.Condition()
        self._pauses = 0  # that wait for their turn: a busy log lets them in, too
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=THREAD, daemon=True)
        self.failure: BaseException | None = None

    def start(self) -> None:
        """Begin. Call once."""
        self._thread.start()

    def stop(self) -> bool:
        """End after the present turn, wait for it, and say whether it ended. Harmless twice."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS_MAX)
        if self._thread.is_alive():
            _log.error("projecting did not stop", waited_seconds=STOP_SECONDS_MAX)
            return False
        self._projector.close()
        return True

    @contextmanager
    def paused(self) -> Iterator[Projector]:
        """Hold the projector between two turns: what it gives may be used within the block."""
        self._count_pause(1)
        try:
            self._turn.acquire()
        finally:  # an interrupt while it waits must not leave the dispatcher waiting for it
            self._count_pause(-1)
        try:
            yield self._projector
        finally:
            self._projector.rewind()
            self._turn.release()
        with self._moved:
            self._moved.notify_all()

    def _count_pause(self, change: int) -> None:
        with self._moved:
            self._pauses += change
            self._moved.notify_all()

    def wait_until(self, is_so: Callable[[], bool], *, what: str, timeout_seconds: float) -> None:
        """Return once *is_so*, which is asked after each turn.

        Raises TimedOut with *what*, or the dispatcher's failure.
        """
        deadline = time.monotonic() + timeout_seconds
        while not is_so():
            if self.failure is not None:
                raise self.failure
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimedOut(what, waited_seconds=timeout_seconds)
            with self._moved:
                self._moved.wait(min(left, IDLE_SECONDS_MAX))

    @property
    def projections(self) -> list[Projection]:
        """The projections that it keeps; use them only while it is paused or stopped."""
        return self._projector.projections

    def _run(self) -> None:
        backoff_seconds = BACKOFF_SECONDS_MIN
        while not self._stopping.is_set():
            try:
                self._work()
                backoff_seconds = BACKOFF_SECONDS_MIN
            except StoreUnavailable as error:
                _log.warning("store unavailable; retrying", error=str(error))
                self._stopping.wait(backoff_seconds)
                backoff_seconds = min(2 * backoff_seconds, BACKOFF_SECONDS_MAX)
            except BaseException as error:  # noqa: BLE001 - kept for whoever waits
                self._fail(error)
                return

    def _work(self) -> None:
        """Take one turn; wait for the log if it found nothing to do."""
        with self._moved:
            self._moved.wait_for(lambda: not self._pauses)
        with self._turn:
            came = self._projector.step(wait_seconds=0)
            more = not came and self._follow_up(self.projections)
            after = self._projector.positions()
        if came or more:
            with self._moved:
                self._moved.notify_all()
            return
        with self._moved:
            self._moved.notify_all()
        self._log.wait(after, timeout_seconds=IDLE_SECONDS_MAX)

    def _follow_up(self, projections: list[Projection]) -> bool:
        seconds = FOLLOW_UP_SECONDS_MAX / max(1, len(projections))
        left = [projection.follow_up(seconds_max=seconds) for projection in projections]
        return any(left)

    def _fail(self, error: BaseException) -> None:
        self.failure = error
        hint = error.hint if isinstance(error, MnemologError) else "This is our fault."
        _log.error("projecting stopped", error=str(error), hint=hint, exc_info=error)
        with self._moved:
            self._moved.notify_all()
