"""aiokafka logs about ten connection errors a second while a broker is down. One says it all."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

QUIET_SECONDS: Final = 10.0
MESSAGES_MAX: Final = 256
_LOUD: Final = (
    "aiokafka",
    "aiokafka.client",
    "aiokafka.cluster",
    "aiokafka.conn",
    "aiokafka.consumer.fetcher",
    "aiokafka.producer.sender",
)


class Hush(logging.Filter):
    """Lets each message pass once in `QUIET_SECONDS`, and says how many it held back."""

    def __init__(self, *, seconds: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seconds = seconds
        self._lock = threading.Lock()
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Say whether *record* is to be logged."""
        key = (record.name, str(record.msg))
        now = self._seconds()
        with self._lock:
            passed_at, held = self._seen.get(key, (-QUIET_SECONDS, 0))
            if now - passed_at < QUIET_SECONDS:
                self._seen[key] = (passed_at, held + 1)
                return False
            if len(self._seen) >= MESSAGES_MAX:
                self._seen.clear()
            self._seen[key] = (now, 0)
        if held:
            record.msg = f"{record.msg} (and {held} more like it)"
        return True


_HUSH: Final = Hush()


def hush() -> None:
    """Quieten aiokafka's loggers in this process. Harmless twice."""
    for name in _LOUD:
        logging.getLogger(name).addFilter(_HUSH)
