"""Times of the world, made UTC with microseconds at the edge. Nothing here asks a clock."""

import re
from datetime import UTC, date, datetime
from typing import Any, Final

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.limits import TIME_MAX, TIME_MIN

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_UNIT: Final = "a time is a datetime or an RFC 3339 text; a number's unit would be a guess"
# To Python "2012011012345", milliseconds of 2033, is a quarter to midnight in 2012.
_NUMBER = re.compile(r"[0-9]{9,}(?:[.,][0-9]*)?")


def instant(value: Any, *, field: str) -> tuple[datetime, bool]:
    """Return *value* in UTC, and whether its zone had to be assumed.

    Takes a datetime or an RFC 3339 text; a naive one is read as UTC. A number is refused,
    since its unit would be a guess, and so is a time outside `TIME_MIN`..`TIME_MAX`.

    >>> instant("2025-05-12T20:27:38-04:00", field="time")[0].isoformat()
    '2025-05-13T00:27:38+00:00'
    >>> instant("2025-04-30T16:32:54.707474", field="time")[1]
    True
    """
    moment = _parsed(value, field)
    assumed = moment.tzinfo is None or moment.utcoffset() is None
    try:
        in_utc = moment.replace(tzinfo=UTC) if assumed else moment.astimezone(UTC)
    except (OverflowError, ValueError) as error:
        raise InvalidEvent(field, value, "a time has to lie between 1900 and 2200") from error
    if not TIME_MIN <= in_utc < TIME_MAX:
        raise InvalidEvent(field, value, "a time has to lie between 1900 and 2200")
    return in_utc, assumed


def _parsed(value: Any, field: str) -> datetime:
    match value:
        case datetime():
            return value
        case date():
            return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - flagged as assumed
        case str():
            if value[4:5].isdecimal() and _NUMBER.fullmatch(value):
                raise InvalidEvent(field, value, _UNIT)
            try:
                return datetime.fromisoformat(value)
            except ValueError as error:
                raise InvalidEvent(field, value, "a time is an RFC 3339 text") from error
        case _:
            raise InvalidEvent(field, value, _UNIT)


class _Latest:
    """The moment that was written last, and its text: all events of an append have one."""

    pair: tuple[datetime, str] = (_EPOCH, "1970-01-01T00:00:00.000000Z")


def written(moment: datetime) -> str:
    """Return *moment*, which is in UTC, as the log writes it: always six digits and a Z.

    >>> written(datetime(2030, 1, 2, tzinfo=UTC))
    '2030-01-02T00:00:00.000000Z'
    """
    latest, text = _Latest.pair
    if moment is latest:
        return text
    assert moment.tzinfo is UTC, "times are made UTC at the edge"
    text = moment.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
    _Latest.pair = moment, text  # in one step: other threads write, too
    return text


def microseconds(moment: datetime) -> int:
    """Return whole microseconds since 1970, exactly."""
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1_000_000 + delta.microseconds
