"""Calls that may hang or fail, under one deadline: what is late or broken is named, never raised.

Each call has a thread of its own, which ends with the call; one that never ends can't keep the
process from ending. At most `CALLS_PER_SIGNAL_MAX` calls of a signal are under way in a process,
so that a model that hangs costs that many threads and no more.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Final, Generic, TypeVar

from mnemolog.schemas.errors import shown

CALLS_PER_SIGNAL_MAX: Final = 32

T = TypeVar("T")

_slots: Final[dict[str, threading.BoundedSemaphore]] = defaultdict(
    lambda: threading.BoundedSemaphore(CALLS_PER_SIGNAL_MAX)
)


class Deadline:
    """A moment on the monotonic clock, *seconds* from now; parts of a work get shares of it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = time.monotonic()

    def seconds_left(self, share: float = 1.0) -> float:
        """Return what is left until *share* of the whole time has passed; never negative."""
        return max(0.0, self._began + share * self._seconds - time.monotonic())


class Call(Generic[T]):
    """A call that has been started for the signal *name*."""

    def __init__(self, name: str, work: Callable[[], T]) -> None:
        self.name = name
        self._future: Future[T] = Future()
        slot = _slots[name]
        if slot.acquire(blocking=False):
            self._start(work, slot)
        else:
            self._future.set_exception(RuntimeError("too many calls are under way"))

    def outcome(self, *, seconds: float) -> tuple[T | None, str | None]:
        """Return what the call gave within *seconds*, or None and why it is missing."""
        try:
            return self._future.result(timeout=seconds), None
        except TimeoutError:
            if self._future.done():  # the call itself raised it
                return None, f"{self.name}: {shown(self._future.exception())}"
            return None, f"{self.name}: timed out"
        except Exception as error:  # noqa: BLE001 - a signal may raise anything; the others serve
            return None, f"{self.name}: {error}"

    def _start(self, work: Callable[[], T], slot: threading.BoundedSemaphore) -> None:
        run = threading.Thread(
            target=self._run, args=(work, slot), name=f"recall-{self.name}", daemon=True
        )
        try:
            run.start()
        except RuntimeError as error:  # the system has no thread left
            slot.release()
            self._future.set_exception(error)

    def _run(self, work: Callable[[], T], slot: threading.BoundedSemaphore) -> None:
        try:
            self._future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - the caller gets it, whatever it is
            self._future.set_exception(_told(error))
        finally:
            slot.release()


def _told(error: BaseException) -> Exception:
    """Return what the caller may catch: a call's own exit must not end the caller."""
    return error if isinstance(error, Exception) else RuntimeError(repr(error))
