"""Times as sources write them. The unit of a number is the format's to state, never guessed."""

from collections.abc import Callable
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


class Times:
    """The times of a run's items: its own, else that of the item before it, else a second more.

    Seconds are counted only in a run of which no time is known.
    """

    def __init__(
        self, clock: Clock, read: Callable[[Any], datetime], *, started: datetime | None = None
    ) -> None:
        self._clock = clock
        self._read = read
        self._last = started
        self._is_known = started is not None

    def of(self, written: Any) -> tuple[datetime, str | None]:
        """Return an item's time, and what is wrong with what is *written* for it, if anything."""
        reason = None
        if written is not None:
            try:
                self._last, self._is_known = self._read(written), True
            except Unreadable as error:
                reason = str(error)
        if self._last is None or not self._is_known:
            self._last = self._clock.tick()
        return self._last, reason
