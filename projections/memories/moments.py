"""Times as whole microseconds, and back: how the small stores of a generation keep them."""

from datetime import UTC, datetime, timedelta
from typing import Final

from mnemolog.schemas.times import microseconds

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def moment_of(count: int) -> datetime:
    """Return the moment *count* microseconds after 1970.

    >>> moment_of(1_000_000).isoformat()
    '1970-01-01T00:00:01+00:00'
    """
    return _EPOCH + timedelta(microseconds=count)


def optional_moment(count: int | None) -> datetime | None:
    """Return the moment of *count*, or None where there is none."""
    return None if count is None else moment_of(count)


def optional_microseconds(moment: datetime | None) -> int | None:
    """Return *moment* as whole microseconds, or None where there is none."""
    return None if moment is None else microseconds(moment)
