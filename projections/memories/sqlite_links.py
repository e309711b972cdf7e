"""The links between memories as `state.db` serves them: only those with both ends there.

A cause is kept as the id of the causing event, with the memory of the caused one: which memories
it ties is found when it is read, so either event may come first.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from mnemolog.projections.memories.reading import Link
from mnemolog.projections.sqlite_store import chunks, marks

LINKS_MAX: Final = 1_000  # of one answer
IDS_MAX: Final = 1_000  # of one question


class StoredLink(NamedTuple):
    """A link; the score is in thousandths, `identity` is that of the event that made it."""

    from_memory: str
    to_memory: str
    kind: str
    score: int
    event_id: str
    identity: str
    key: str

    def as_link(self) -> Link:
        """Return the link as recall reads it."""
        score = self.score / 1000
        return Link(self.from_memory, self.to_memory, self.kind, score, self.event_id)


_TOLD: Final = """
    SELECT l.from_memory, l.to_memory, l.kind, l.score, l.event_id, l.cause, l.key FROM links l
    JOIN memories a ON a.id = l.from_memory JOIN memories b ON b.id = l.to_memory
"""
_CAUSED: Final = """
    SELECT a.id, b.id, 'causes', 1000, b.event_id, b.identity, b.key
    FROM memories a JOIN memories b ON b.cause_event = a.event_id AND b.identity <> a.identity
"""


def links_touching(
    connection: sqlite3.Connection, ids: Sequence[str], *, links_max: int
) -> list[StoredLink]:
    """Return at most *links_max* links that touch one of *ids*, each once, in a stable order."""
    found: set[StoredLink] = set()
    bound = min(links_max, LINKS_MAX)
    for run in chunks(sorted(set(ids))[:IDS_MAX]):
        for select in (_TOLD, _CAUSED):
            for end in ("a", "b"):
                statement = f"{select} WHERE {end}.id IN ({marks(run)}) ORDER BY 1, 2, 3, 6 LIMIT ?"
                rows = connection.execute(statement, [*run, bound])
                found |= {StoredLink(*row) for row in rows}
    return sorted(found)[:bound]


def every_link(connection: sqlite3.Connection) -> Iterator[StoredLink]:
    """Yield all links."""
    for select in (_TOLD, _CAUSED):
        yield from (StoredLink(*row) for row in connection.execute(select))
