"""Calls that may hang or fail, under one deadline: what is late or broken is named, never raised.

Each call has a thread to itself while it runs; threads that have nothing to do wait for the next
call. A call that never ends can't keep the process from ending. At most `CALLS_PER_SIGNAL_MAX`
calls of a signal are under way in a process, so a model that hangs costs that many threads.
"""

import os
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from typing import Final, Generic, TypeVar

from mnemolog.schemas.errors import shown

CALLS_PER_SIGNAL_MAX: Final = 32
IDLE_THREADS_MAX: Final = 16

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
        if not slot.acquire(blocking=False):
            self._future.set_exception(RuntimeError("too many calls are under way"))
            return
        try:
            _give_to_a_thread(lambda: self._run(work, slot))
        except RuntimeError as error:  # the system has no thread left
            slot.release()
            self._future.set_exception(error)

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

    def _run(self, work: Callable[[], T], slot: threading.BoundedSemaphore) -> None:
        try:
            answer = work()
        except BaseException as error:  # noqa: BLE001 - the caller gets it, whatever it is
            slot.release()
            self._future.set_exception(_told(error))
        else:
            slot.release()
            self._future.set_result(answer)


class _Worker:
    """A thread that runs one call after another, and waits among the idle ones in between."""

    def __init__(self) -> None:
        self.calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        threading.Thread(target=self._live, name="mnemolog-recall", daemon=True).start()

    def _live(self) -> None:
        while True:
            self.calls.get()()
            if len(_idle) >= IDLE_THREADS_MAX:
                return
            _idle.append(self)


_idle: Final[deque[_Worker]] = deque()
if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_idle.clear)


def _give_to_a_thread(call: Callable[[], None]) -> None:
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()
    worker.calls.put(call)


def _told(error: BaseException) -> Exception:
    """Return what the caller may catch: a call's own exit must not end the caller."""
    return error if isinstance(error, Exception) else RuntimeError(repr(error))
