"""What waits in a ledger, a page at a time, without reading all of it."""

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from mnemolog.projections.ledger import ParkedSummary
from mnemolog.projections.sqlite_ledger import FIRST
from mnemolog.projections.sqlite_store import chunks, marks
from mnemolog.schemas.positions import Position

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_SUMMARY: Final = (
    'partition, "offset", ordering_key, identity, event_type, reason, newer, behind, recorded_at'
)


def parked_page(
    ledger: sqlite3.Connection,
    *,
    after: Position = FIRST,
    key: str | None = None,
    followers: bool = False,
    events_max: int,
) -> list[ParkedSummary]:
    """Return the first parked events behind the place *after*, by partition and offset.

    Those that wait by their own fault, each with how many of its key wait behind it; with
    *followers* the others, too. *key* is whose.
    """
    rows = ledger.execute(
        f"SELECT {_SUMMARY} FROM parked"  # noqa: S608 - ours
        ' WHERE (partition, "offset") > (?, ?) AND (? IS NULL OR ordering_key = ?)'
        ' AND (? OR NOT behind) ORDER BY partition, "offset" LIMIT ?',
        (*after, key, key, followers, events_max),
    ).fetchall()
    counts = _counts(ledger, sorted({row[2] for row in rows}))
    return [_summary(row, counts[row[2]]) for row in rows]


def _counts(ledger: sqlite3.Connection, keys: Sequence[str]) -> dict[str, int]:
    """Return how many events of each of *keys* are parked."""
    found: dict[str, int] = {}
    for run in chunks(keys):
        found.update(
            ledger.execute(
                "SELECT ordering_key, count(*) FROM parked"  # noqa: S608 - question marks
                f" WHERE ordering_key IN ({marks(run)}) GROUP BY ordering_key",
                run,
            ).fetchall()
        )
    return found


def _summary(row: Sequence[Any], of_key: int) -> ParkedSummary:
    partition, offset, key, identity, event_type, reason, newer, behind, moment = row
    return ParkedSummary(
        Position(partition, offset),
        key,
        identity,
        event_type,
        reason,
        newer=bool(newer),
        behind=bool(behind),
        recorded_at=_EPOCH + timedelta(microseconds=moment),
        waiting=0 if behind else of_key - 1,
    )
