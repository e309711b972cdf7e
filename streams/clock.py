"""The log's clock. Adapters take a `Clock`, so that tests can hand in another."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Return the machine's time, in UTC."""
    return datetime.now(UTC)
