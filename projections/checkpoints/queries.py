"""The SQL by which the index is asked. Values are always bound; names come from this file alone."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from mnemolog.projections.checkpoints.stored import (
    Action,
    ActionStatus,
    SavedCheckpoint,
    TimelineEntry,
    moment,
)
from mnemolog.projections.sqlite_store import marks
from mnemolog.schemas.positions import Position
from mnemolog.schemas.times import microseconds
from mnemolog.schemas.values import UNSAFE

_EVENT_COLUMNS: Final = (
    *("partition", '"offset"', "identity", "recorded_at", "occurred_at", "key", "agent", "user"),
    *("project", "session", "task", "type", "guest", "event_id", "cause", "text"),
)
EVENT: Final = ", ".join(f"t.{name}" for name in _EVENT_COLUMNS)
CHECKPOINT: Final = f"{EVENT}, c.id, c.agent, c.task, c.parent, c.tags, c.file"
_AT: Final = 'USING (partition, "offset")'
COUNT_EVENTS: Final = "SELECT count(*) FROM timeline t WHERE {where}"
CHECKPOINTS: Final = f"checkpoints c JOIN timeline t {_AT}"

# An event e is after t: by position within a key, by the world's time where there is no order.
_AFTER: Final = (
    '((e.key = t.key AND e."offset" > t."offset")'
    " OR (e.key <> t.key AND e.occurred_at >= t.occurred_at))"
)
# As many actions of one id as were finished are finished, the first ones first: so neither a
# repeated id nor an end that comes before its start matters. Those said to be orphaned follow.
_COUNT: Final = "SELECT count(*) FROM actions n WHERE n.key = a.key AND n.action = a.action"
_STARTED: Final = f'{_COUNT} AND n.part = \'started\' AND n."offset" <= a."offset"'
_STATUS: Final = f"""CASE
    WHEN ({_STARTED}) <= ({_COUNT} AND n.part = 'finished') THEN 'finished'
    WHEN ({_STARTED}) <= ({_COUNT} AND n.part IN ('finished', 'orphaned')) THEN 'orphaned'
    WHEN EXISTS (SELECT 1 FROM timeline e WHERE e.guest = 0 AND e.type = 'session.ended'
              AND e.session = t.session AND {_AFTER})
      OR EXISTS (SELECT 1 FROM timeline e WHERE e.guest = 0
              AND e.type IN ('task.completed', 'task.abandoned')
              AND e.task = t.task AND {_AFTER})
        THEN 'orphaned'
    ELSE 'pending' END"""  # noqa: S608 - ours
ACTIONS: Final = (
    f"SELECT * FROM (SELECT {EVENT}, a.action, a.tool, a.costly, {_STATUS} AS status"  # noqa: S608
    f" FROM actions a JOIN timeline t {_AT} WHERE a.part = 'started' AND {{where}})"
)


@dataclass
class Where:
    """Conditions and what is bound to them; none matches all."""

    conditions: list[str] = field(default_factory=lambda: ["1"])
    values: list[Any] = field(default_factory=list)

    def and_(self, condition: str, *values: Any) -> "Where":
        """Return this with *condition*, whose marks take *values*."""
        return Where([*self.conditions, condition], [*self.values, *values])

    def equal(self, named: Mapping[str, str | None], *, table: str) -> "Where":
        """Return this with the columns that are *named* having those values; None is any.

        A text that no row can hold, with a lone surrogate in it, matches none.
        """
        where = self
        for column, value in named.items():
            if value is not None:
                where = where.is_(f"{table}.{column}", value)
        return where

    def is_(self, column: str, value: str) -> "Where":
        """Return this with *column* having *value*."""
        return self.and_("0") if UNSAFE.search(value) else self.and_(f"{column} = ?", value)

    def within(self, *, before: datetime | None, known_at: Mapping[int, int] | None) -> "Where":
        """Return this for what happened *before*, in the log up to the offsets of *known_at*."""
        where = self
        if before is not None:
            where = where.and_("t.occurred_at < ?", microseconds(before))
        if known_at is not None:
            reached = " OR ".join(['(t.partition = ? AND t."offset" <= ?)'] * len(known_at))
            where = where.and_(f"({reached or '0'})", *(n for at in known_at.items() for n in at))
        return where

    def following(self, event: TimelineEntry, *, task: str | None) -> "Where":
        """Return this for the events of *task*, or of the key alone, that come after *event*."""
        where = self.and_('(t.key <> ? OR t."offset" > ?)', event.key, event.position.offset)
        if task is None:
            return where.and_("t.key = ?", event.key)
        later = "(t.key = ? OR t.occurred_at > ?)"
        where = where.and_("t.task = ?", task)
        return where.and_(later, event.key, microseconds(event.occurred_at))

    def of_types(self, types: Sequence[str]) -> "Where":
        """Return this for events of one of *types*; none is any."""
        return self.and_(f"t.type IN ({marks(types)})", *types) if types else self

    def __str__(self) -> str:
        return " AND ".join(self.conditions)


def event_of(row: Sequence[Any]) -> TimelineEntry:
    """Return the event in the first columns of *row*, which are those of `EVENT`."""
    return TimelineEntry(
        position=Position(row[0], row[1]),
        identity=row[2].hex(),
        recorded_at=moment(row[3]),
        occurred_at=moment(row[4]),
        key=row[5],
        agent=row[6],
        user=row[7],
        project=row[8],
        session=row[9],
        task=row[10],
        type=row[11],
        guest=bool(row[12]),
        event_id=row[13],
        cause=row[14],
        text=row[15],
    )


def checkpoint_of(row: Sequence[Any]) -> SavedCheckpoint:
    """Return the checkpoint in *row*, whose columns are those of `CHECKPOINT`."""
    checkpoint_id, agent, task, parent, tags, file = row[len(_EVENT_COLUMNS) :]
    return SavedCheckpoint(
        id=checkpoint_id,
        agent=agent,
        task=task,
        parent=parent,
        tags=tuple(json.loads(tags)),
        file=file,
        event=event_of(row),
    )


def actions_of(rows: Sequence[Sequence[Any]]) -> Iterator[Action]:
    """Yield the actions in *rows*, whose columns are those of `ACTIONS`."""
    for row in rows:
        action, tool, costly, status = row[len(_EVENT_COLUMNS) :]
        yield Action(action, tool, bool(costly), ActionStatus(status), event_of(row))
