"""Times as sources write them. The unit of a number is the format's to state, never guessed."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final, Protocol

from mnemolog.importers.base import Unreadable
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.times import instant

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Clock(Protocol):
    """Says when each message of a conversation was said."""

    def tick(self) -> datetime:
        """Return the time of the next message."""
        ...


def moment_of_text(value: Any) -> datetime:
    """Return an ISO time as it is written, naive if it has no zone. Raises Unreadable."""
    if not isinstance(value, str):
        raise Unreadable(f"time {shown(value)} is no ISO text")
    try:
        moment = datetime.fromisoformat(value)
        instant(moment, field="time")
    except (ValueError, InvalidEvent) as error:
        raise Unreadable(f"time {shown(value)}: {error}") from error
    return moment


def moment_of_seconds(value: Any) -> datetime:
    """Return the time that lies *value* seconds after 1970, in UTC. Raises Unreadable.

    >>> moment_of_seconds(1.5).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise Unreadable(f"time {shown(value)} is no number of seconds since 1970")
    try:
        moment = _EPOCH + timedelta(microseconds=round(value * 1_000_000))
        instant(moment, field="time")
    except (OverflowError, ValueError, InvalidEvent) as error:
        limit = "not between 1900 and 2200 when read as seconds since 1970, which this format has"
        raise Unreadable(f"time {shown(value)}: {limit}") from error
    return moment
