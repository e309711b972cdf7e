"""The one place where values become conditions of the index. Values are escaped, never pasted.

Conditions name columns of ours only. Each is checked against a full scan by a test.
"""

import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Final

from mnemolog.projections.memories.rows import Filter
from mnemolog.schemas.limits import TIME_MAX, TIME_MIN

_SCOPE: Final = ("agent", "user", "project", "session", "task")
EVERYTHING: Final = "true"
_TICK: Final = timedelta(microseconds=1)
_BEYOND_EVERY_SHARE: Final = 2.0


def condition(where: Filter, *, also: Iterable[str] = ()) -> str:
    """Return the condition that holds for the memories that *where* lets a question see.

    *also* are further conditions, made by this module.
    """
    return " AND ".join([*also, *_conditions(where)]) or EVERYTHING


def equals(column: str, value: str) -> str:
    """Return the condition that *column* is *value*."""
    return f"`{column}` = {_text(value)}"


def is_one_of(column: str, values: Iterable[str]) -> str:
    """Return the condition that *column* is one of *values*; of none it is never one."""
    listed = ", ".join(map(_text, values))
    return f"`{column}` IN ({listed})" if listed else "false"


def is_true(column: str) -> str:
    """Return the condition that the flag in *column* is set."""
    return f"`{column}` = true"


def is_newer_than(column: str) -> str:
    """Return the condition of an upsert that only raises *column*."""
    return f"target.{column} < source.{column}"


def _conditions(where: Filter) -> Iterator[str]:
    for name in _SCOPE:
        if (value := getattr(where, name)) is not None:
            yield equals(name, value)
    if where.kinds:
        yield is_one_of("kind", where.kinds)
    for tag in where.tags:
        yield f"array_has(`tags`, {_text(tag)})"
    if where.importance_min > 0:
        yield f"`importance` >= {_thousandths_from(where.importance_min)}"
    if where.occurred_from is not None:
        yield f"`occurred_at` >= {_moment(where.occurred_from)}"
    if where.occurred_until is not None:
        yield f"`occurred_at` < {_moment(where.occurred_until)}"
    if where.current:
        yield from _is_current(where.valid_at)


def _is_current(valid_at: datetime | None) -> Iterator[str]:
    yield "`superseded` = false"
    yield "`archived` = false"
    if valid_at is not None:
        moment = _moment(valid_at)
        yield f"(`valid_from` IS NULL OR `valid_from` <= {moment})"
        yield f"(`valid_until` IS NULL OR `valid_until` > {moment})"


def _text(value: str) -> str:
    """Return *value* as a literal; one that no row can hold is NULL, which equals nothing."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return "NULL"
    return "'" + value.replace("'", "''") + "'"


def _moment(moment: datetime) -> str:
    """Return *moment* as a literal. All rows lie within our bounds, so it needs not go beyond."""
    in_utc = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    bounded = min(max(in_utc, TIME_MIN - _TICK), TIME_MAX)
    return f"TIMESTAMP '{bounded.replace(tzinfo=None).isoformat(' ', 'microseconds')}'"


def _thousandths_from(share: float) -> int:
    """Return the fewest thousandths that are at least *share*, as a row's share is compared."""
    bounded = min(share, _BEYOND_EVERY_SHARE)
    fewest = math.floor(bounded * 1000) - 1
    while fewest / 1000 < bounded:
        fewest += 1
    return fewest
