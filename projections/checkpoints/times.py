"""Records whose times tell of a clock that jumped, among the rows of the timeline.

The log gives each record the time of its machine's clock. Order never rests on it, but `known_at`
by a time does: it looks at each partition until the greatest time so far reaches it.
"""

import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from mnemolog.projections.checkpoints.stored import moment
from mnemolog.schemas.positions import Position
from mnemolog.schemas.times import microseconds

_AHEAD: Final = """
SELECT count(*), max(recorded_at), partition, min("offset") FROM timeline
WHERE recorded_at > ? GROUP BY partition ORDER BY partition
"""
_BACK: Final = """
SELECT count(*), max(before - recorded_at), partition, min("offset") FROM (
    SELECT partition, "offset", recorded_at, max(recorded_at) OVER (
        PARTITION BY partition ORDER BY "offset" ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ) AS before FROM timeline)
WHERE recorded_at < before - ? GROUP BY partition ORDER BY partition
"""


@dataclass(frozen=True, slots=True)
class Jump:
    """Records of one partition that were recorded at odd times: how many, and the first.

    `latest` is the latest time of those that are ahead; `back_by` the greatest step back.
    """

    first: Position
    count: int
    latest: datetime | None = None
    back_by: timedelta | None = None


def jumps(connection: sqlite3.Connection, *, now: datetime, tolerance: timedelta) -> list[Jump]:
    """Return what was recorded after *now*, or before what came earlier, by over *tolerance*."""
    by = tolerance // timedelta(microseconds=1)
    ahead = connection.execute(_AHEAD, [microseconds(now) + by])
    found = [
        Jump(Position(partition, offset), count, latest=moment(latest))
        for count, latest, partition, offset in ahead
    ]
    back = connection.execute(_BACK, [by])
    return found + [
        Jump(Position(partition, offset), count, back_by=timedelta(microseconds=step))
        for count, step, partition, offset in back
    ]


def places_of(connection: sqlite3.Connection, types: tuple[str, ...]) -> list[Position]:
    """Return where events of *types*, all of ours, stand, in order."""
    marks = ", ".join("?" * len(types))
    rows = connection.execute(
        'SELECT partition, "offset" FROM timeline'  # noqa: S608 - marks only
        f' WHERE guest = 0 AND type IN ({marks}) ORDER BY partition, "offset"',
        types,
    )
    return [Position(partition, offset) for partition, offset in rows]
