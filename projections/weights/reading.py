"""Reads weights of one generation, in any process and while another one writes."""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any, Final, Self

from mnemolog.projections.sqlite_store import chunks, marks, open_store, speaking_of
from mnemolog.projections.weights.decay import Standing, Weight, weight_of
from mnemolog.projections.weights.sqlite_rows import FILE
from mnemolog.schemas.policy import BUILT_IN, DecayPolicy, Policy

__all__ = ["Standing", "Weight", "WeightReader"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

# Feedback reaches a memory directly, by its id or its event's, or through what rested on it.
_STANDING: Final = """
SELECT id, kind, importance, initial, occurred_at, valid_from, valid_until,
    (SELECT count(*) FROM uses WHERE memory = id),
    (SELECT max(u.occurred_at) FROM uses AS u WHERE u.memory = id),
    (SELECT max(number) FROM marks WHERE memory = id AND mark = 'level'),
    (SELECT sum(score) FROM feedback WHERE target = id AND target_kind = 'memory'),
    (SELECT sum(gain) FROM feedback WHERE target = id AND target_kind = 'memory'),
    (SELECT sum(score) FROM feedback WHERE target = memories.event_id AND target_kind = 'event'),
    (SELECT sum(gain) FROM feedback WHERE target = memories.event_id AND target_kind = 'event'),
    (SELECT sum(f.score) FROM uses AS u JOIN feedback AS f
        ON f.target = u.event_id AND f.target_kind = 'event' WHERE u.memory = id),
    (SELECT sum(f.gain) FROM uses AS u JOIN feedback AS f
        ON f.target = u.event_id AND f.target_kind = 'event' WHERE u.memory = id),
    (SELECT min(number) FROM marks WHERE memory = id AND mark = 'superseded')
FROM memories WHERE id IN ({ids})
"""
# Within a key the later one holds, by offset; of several keys' the last by time, then by identity.
# (A bare column beside max() is of the row that has the maximum.) Of what supersedes a memory that
# counts which is named: one that names nothing takes no name away.
_MARKS: Final = """
SELECT memory, mark, number, other FROM (
    SELECT *, max("offset") FROM marks WHERE memory IN ({ids})
    GROUP BY memory, mark, key, other IS NULL)
ORDER BY memory, mark, occurred_at, identity
"""
_CONTRIBUTING: Final = """
SELECT occurred_at, event_id FROM uses WHERE memory = :id
UNION SELECT occurred_at, event_id FROM marks WHERE memory = :id
UNION SELECT f.occurred_at, f.event_id FROM feedback AS f
    WHERE f.target = :id AND f.target_kind = 'memory'
UNION SELECT f.occurred_at, f.event_id FROM memories AS m JOIN feedback AS f
    ON f.target = m.event_id AND f.target_kind = 'event' WHERE m.id = :id
UNION SELECT f.occurred_at, f.event_id FROM uses AS u JOIN feedback AS f
    ON f.target = u.event_id AND f.target_kind = 'event' WHERE u.memory = :id
ORDER BY 1, 2 LIMIT :events_max
"""
CONTRIBUTING_EVENTS_MAX: Final = 1_000


class WeightReader:
    """Reads the weights in one generation's folder. Any thread may use it."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        self._lock = Lock()

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Open the generation in *folder* read-only. Raises StoreUnavailable if there is none."""
        path = folder / FILE
        return cls(path, open_store(path, schema="", read_only=True))

    def weights(
        self, ids: Iterable[str], *, at: datetime, decay: DecayPolicy
    ) -> Mapping[str, Weight]:
        """Return the weights at the time *at* of those memories of *ids* that are there."""
        standings = self.standings(ids)
        return {name: weight_of(found, at=at, decay=decay) for name, found in standings.items()}

    def standings(self, ids: Iterable[str]) -> Mapping[str, Standing]:
        """Return what the weights of *ids* follow from, all as of one moment of the store."""
        found: dict[str, Standing] = {}
        with self._snapshot() as connection:
            for run in chunks(sorted(set(ids))):
                rows = connection.execute(_STANDING.format(ids=marks(run)), run).fetchall()
                marked = _marked(connection.execute(_MARKS.format(ids=marks(run)), run))
                found.update({row[0]: _standing(row, marked.get(row[0], {})) for row in rows})
        return found

    def decay_policy(self) -> DecayPolicy:
        """Return the decay numbers of the highest revision that any partition has seen."""
        query = "SELECT policy FROM policies ORDER BY revision DESC, partition LIMIT 1"
        with self._snapshot() as connection:
            row = connection.execute(query).fetchone()
        return BUILT_IN.decay if row is None else Policy.model_validate_json(row[0]).decay

    def contributing_events(
        self, memory_id: str, *, events_max: int = CONTRIBUTING_EVENTS_MAX
    ) -> list[str]:
        """Return the ids of the events that used, judged or marked a memory, oldest first."""
        told = {"id": memory_id, "events_max": events_max}
        with self._snapshot() as connection:
            return [event for _, event in connection.execute(_CONTRIBUTING, told)]

    def close(self) -> None:
        """Let go of the file. Harmless twice."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _snapshot(self) -> Iterator[sqlite3.Connection]:
        with self._lock, speaking_of(self._path):
            self._connection.execute("BEGIN")
            try:
                yield self._connection
            finally:
                self._connection.execute("ROLLBACK")


def _marked(rows: Iterable[Sequence[Any]]) -> dict[str, dict[str, Sequence[Any]]]:
    """Return what holds of each memory, by mark: the last of *rows*, and the last name in them."""
    marked: dict[str, dict[str, Sequence[Any]]] = {}
    for memory, mark, number, other in rows:
        of_memory = marked.setdefault(memory, {})
        _, named = of_memory.get(mark, (None, None))
        of_memory[mark] = (number, named if other is None else other)
    return marked


def _standing(row: Sequence[Any], marked: Mapping[str, Sequence[Any]]) -> Standing:
    ends = [end for end in (row[6], row[16]) if end is not None]
    scores_and_gains = [value or 0 for value in row[10:16]]
    return Standing(
        kind=row[1],
        importance=marked.get("importance", (row[2],))[0],
        initial=row[3],
        occurred_at=_moment(row[4]),
        uses=row[7],
        last_used_at=None if row[8] is None else _moment(row[8]),
        feedback=sum(scores_and_gains[0::2]),
        relevance_gain=scores_and_gains[1] + scores_and_gains[3],
        utility_gain=scores_and_gains[5],
        pinned=bool(marked.get("pinned", (0,))[0]),
        level=row[9] or 0,
        valid_from=None if row[5] is None else _moment(row[5]),
        valid_until=_moment(min(ends)) if ends else None,
        superseded="superseded" in marked,
        superseded_by=marked.get("superseded", (None, None))[1],
        archived="archived" in marked,
    )


def _moment(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
