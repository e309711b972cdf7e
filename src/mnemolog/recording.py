"""Recalls are recorded as events after the answer, by one thread, so that no answer waits.

The queue is bounded: when it is full the caller's thread appends, so that nothing is dropped.
"""

import queue
import threading
from contextlib import suppress
from typing import Final

import structlog

from mnemolog.schemas.errors import MnemologError
from mnemolog.streams.publishing import Draft, Publisher

QUEUED_MAX: Final = 256
THREAD: Final = "mnemolog-recorder"
CLOSE_SECONDS_MAX: Final = 35.0  # an append's own bound, and a little more

_log = structlog.get_logger("mnemolog.recording")


class Recorder:
    """Appends drafts in the background, in order, until it is closed."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._waiting: queue.Queue[Draft | None] = queue.Queue(maxsize=QUEUED_MAX)
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def record(self, draft: Draft) -> None:
        """Append *draft* soon. A failure is logged: an answer was given, whatever the log says."""
        with self._starting:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=THREAD, daemon=True)
                self._thread.start()
        try:
            self._waiting.put_nowait(draft)
        except queue.Full:
            self._append(draft)

    def close(self) -> None:
        """Append what waits, and stop. Harmless twice."""
        if self._thread is not None:
            with suppress(queue.Full):  # a log that is away: what waits goes with the process
                self._waiting.put(None, timeout=CLOSE_SECONDS_MAX)
                self._thread.join(CLOSE_SECONDS_MAX)
            self._thread = None

    def _run(self) -> None:
        while (draft := self._waiting.get()) is not None:
            self._append(draft)

    def _append(self, draft: Draft) -> None:
        try:
            self._publisher.append([draft])
        except MnemologError as error:
            _log.warning("a recall was not recorded", error=str(error))
