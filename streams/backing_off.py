"""How long to wait before what failed is tried again: longer with each failure, up to a bound."""

import time
from collections.abc import Callable
from typing import Final

from mnemolog.schemas.errors import MnemologError

BACKOFF_SECONDS_MIN: Final = 0.1
BACKOFF_SECONDS_MAX: Final = 5.0


class BackOff:
    """One thing that is tried until it succeeds; `error` is what it failed with last, if it did."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._again_at = float("-inf")
        self.seconds = 0.0  # to wait from the last failure on
        self.error: MnemologError | None = None

    @property
    def is_due(self) -> bool:
        """Whether it may be tried now."""
        return self._now() >= self._again_at

    def failed(self, error: MnemologError) -> None:
        """Note that it failed with *error*."""
        self.error = error
        self.seconds = min(max(2 * self.seconds, BACKOFF_SECONDS_MIN), BACKOFF_SECONDS_MAX)
        self._again_at = self._now() + self.seconds

    def succeeded(self) -> None:
        """Note that it succeeded: the next failure begins anew."""
        self.error = None
        self.seconds = 0.0
        self._again_at = float("-inf")
