"""The host of processors: a thread that runs them over a tenant's log while it owns the tenant.

Who owns is said elsewhere: on the embedded log whoever keeps the projections, on Kafka the worker
to which the tenant was given. Two hosts at once do work twice, and nothing on the log.
"""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import structlog

from mnemolog.schemas.errors import MnemologError, StoreUnavailable
from mnemolog.streams.backing_off import BACKOFF_SECONDS_MIN, BackOff
from mnemolog.streams.log import Log, Wakeable
from mnemolog.streams.processor_harness import ProcessorRunner

IDLE_SECONDS_MAX: Final = 0.5  # the timer that wakes it anyway
STOP_SECONDS_MAX: Final = 60.0
THREAD: Final = "mnemolog-processors"

_log = structlog.get_logger("mnemolog.processors")

Tell = Callable[[BaseException], None]


class ProcessorHost:
    """Runs *runners* in a thread of its own until it is stopped.

    One that can't go on is left out and told of: `failures` has why, by its name. *tell* hears
    each error.
    """

    def __init__(
        self, log: Log, runners: Sequence[ProcessorRunner], *, tell: Tell = lambda _: None
    ) -> None:
        self._log = log
        self._runners = list(runners)
        self._every = tuple(runners)
        self._rests = {runner.processor.name: BackOff() for runner in runners}
        self._tell = tell
        self._stopping = threading.Event()
        self._orders = threading.Lock()
        self._turn: tuple[asyncio.AbstractEventLoop, asyncio.Task[bool]] | None = None
        self._thread = threading.Thread(target=self._run, name=THREAD, daemon=True)
        self.failures: dict[str, BaseException] = {}

    def start(self) -> None:
        """Begin. Call once."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """Let it end soon; does not wait. A call of a model that is under way is given up."""
        with self._orders:
            self._stopping.set()
            if self._turn is not None:
                loop, task = self._turn
                loop.call_soon_threadsafe(task.cancel)
        if isinstance(self._log, Wakeable):
            self._log.wake()

    def stop(self) -> bool:
        """End, wait for it, and say whether it ended. Harmless twice."""
        self.ask_to_stop()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS_MAX)
        if self._thread.is_alive():
            _log.error("processors did not stop", waited_seconds=STOP_SECONDS_MAX)
            return False
        for runner in self._every:
            runner.close()
        return True

    def _run(self) -> None:
        with asyncio.Runner() as loop:
            while not self._stopping.is_set() and self._runners:
                with suppress(asyncio.CancelledError):
                    if not loop.run(self._cancellable_turn()):
                        self._wait()

    async def _cancellable_turn(self) -> bool:
        task = asyncio.current_task()
        assert task is not None, "it runs in a task of its own"
        with self._orders:
            if self._stopping.is_set():
                return True
            self._turn = (asyncio.get_running_loop(), task)
        try:
            return await self._take_turn()
        finally:
            with self._orders:
                self._turn = None

    async def _take_turn(self) -> bool:
        """Let each processor that is not resting do one step; say whether there was anything."""
        came = False
        for runner in tuple(self._runners):
            rest = self._rests[runner.processor.name]
            if not rest.is_due:
                continue
            try:
                came = await runner.step() or came
                rest.succeeded()
            except StoreUnavailable as error:
                rest.failed(error)
                _log.warning("processor waits", processor=runner.processor.name, error=str(error))
                self._tell(error)
            except Exception as error:  # noqa: BLE001 - kept for whoever looks; others go on
                self._give_up(runner, error)
        return came

    def _give_up(self, runner: ProcessorRunner, error: Exception) -> None:
        name = runner.processor.name
        self.failures[name] = error
        self._runners.remove(runner)
        hint = error.hint if isinstance(error, MnemologError) else "This is our fault."
        _log.error("processor stopped", processor=name, error=str(error), hint=hint, exc_info=error)
        self._tell(error)
        with suppress(MnemologError):
            runner.note_trouble(error)

    def _wait(self) -> None:
        """Wait for the log, or for the timer; while one rests, for the timer alone."""
        if any(not rest.is_due for rest in self._rests.values()):
            self._stopping.wait(BACKOFF_SECONDS_MIN)
            return
        try:
            after = self._runners[0].positions() if self._runners else {}
            self._log.wait(after, timeout_seconds=IDLE_SECONDS_MAX)
        except MnemologError:  # the next turn meets it, and tells
            self._stopping.wait(IDLE_SECONDS_MAX)
