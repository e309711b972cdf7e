"""Threads for what blocks, so that the event loop never waits: bounded in number and in queue."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from mnemolog.http_errors import Busy
from mnemolog.schemas.errors import TimedOut

R = TypeVar("R")


class Lane:
    """Runs calls in at most *at_once* threads, with at most *queued* more that wait for one.

    For one event loop. A call that takes longer than *seconds* is no longer waited for; its
    thread stays taken until it is done, so that the bound is true.
    """

    def __init__(self, name: str, *, at_once: int, queued: int, seconds: float) -> None:
        self._name = name
        self._inside_max = at_once + queued
        self._seconds = seconds
        self._inside = 0
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix=f"mnemolog-{name}")

    async def run(self, call: Callable[[], R]) -> R:
        """Return what *call* returns. Raises Busy, or TimedOut, or what *call* raises."""
        if self._inside >= self._inside_max:
            raise Busy(self._name, f"{self._inside} are under way")
        self._inside += 1
        running = asyncio.get_running_loop().run_in_executor(self._pool, call)
        running.add_done_callback(self._left)
        done, _ = await asyncio.wait({running}, timeout=self._seconds)
        if not done:
            raise TimedOut(f"the end of this {self._name}", waited_seconds=self._seconds)
        return running.result()

    def close(self) -> None:
        """Take no more calls; those that run go on."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _left(self, running: "asyncio.Future[Any]") -> None:
        self._inside -= 1
        if not running.cancelled():
            running.exception()  # it is looked at, though nobody may wait for it any more
