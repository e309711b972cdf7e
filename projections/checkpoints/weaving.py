"""How events of several keys become one list. Within a key the log's order holds, always.

Between keys there is no order, so the head that happened last goes first, then the greater id: the
same for any number of partitions.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TypeVar

from mnemolog.projections.checkpoints.stored import Action, SavedCheckpoint, TimelineEntry

Row = TypeVar("Row", TimelineEntry, SavedCheckpoint, Action)


def newest_first(streams: Iterable[Iterator[Row]]) -> Iterator[Row]:
    """Yield the rows of *streams*, each of which gives one key's rows, the newest first.

    A stream is asked for its next row only when its last one was yielded.
    """
    heads: list[tuple[Row, Iterator[Row]]] = []
    for stream in streams:
        _take(stream, heads)
    while heads:
        head = max(heads, key=lambda one: _rank(one[0]))
        heads.remove(head)
        yield head[0]
        _take(head[1], heads)


def woven(rows: Iterable[Row]) -> list[Row]:
    """Return *rows* of any keys as one list, the newest first."""
    ordered = sorted(rows, key=lambda row: (_event(row).key, -_event(row).position.offset))
    runs = (list(run) for _, run in groupby(ordered, key=lambda row: _event(row).key))
    return list(newest_first(iter(run) for run in runs))


def _take(stream: Iterator[Row], heads: list[tuple[Row, Iterator[Row]]]) -> None:
    for row in stream:
        heads.append((row, stream))
        return


def _rank(row: Row) -> tuple[float, str, str]:
    event = _event(row)
    return event.occurred_at.timestamp(), event.event_id, event.key


def _event(row: TimelineEntry | SavedCheckpoint | Action) -> TimelineEntry:
    match row:
        case TimelineEntry():
            return row
        case SavedCheckpoint():
            return row.event
        case Action():
            return row.started
