"""What was drawn from memories: summaries of them, and memories that several became.

Asked when something is forgotten, so that the event that forgets it names these too. It is not
part of a fold: what is read here is what the state knows at that moment.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from mnemolog.projections.memories.contributions import text_hash
from mnemolog.projections.sqlite_store import chunks, marks

_OF_TEXT: Final = (
    "SELECT identity FROM event_texts WHERE text_hash IN ({})",
    "SELECT identity FROM memories WHERE text_hash IN ({})",
)
_OF_MEMORY: Final = "SELECT identity FROM memories WHERE id IN ({})"
_MEMORIES: Final = "SELECT id FROM memories WHERE identity IN ({})"
_FROM_MEMORIES: Final = (
    "SELECT cause FROM contributions WHERE kind = 'summary' AND target IN ({})",
    (
        "SELECT m.identity FROM links l JOIN memories m ON m.id = l.from_memory"
        " WHERE l.kind = 'summarises' AND l.to_memory IN ({})"
    ),
)
# Of an agent's event ids: another agent's event of the same id is another event.
_FROM_EVENTS: Final = (
    "SELECT DISTINCT d.identity FROM memories d, json_each(d.formed, '$.from_events') e"
    " JOIN memories s ON s.event_id = e.value AND s.key = d.key"
    " WHERE json_extract(d.formed, '$.event_type') IN ('memory.formed', 'checkpoint.saved')"
    " AND s.identity IN ({})"
)


@dataclass(frozen=True, slots=True)
class Named:
    """What is to be forgotten: events by identity, memories by id, texts as they were said."""

    events: Sequence[str] = ()
    memories: Sequence[str] = ()
    texts: Sequence[str] = ()


def drawn_from(connection: sqlite3.Connection, named: Named) -> list[str]:
    """Return the identities of the events by which something was drawn from what is *named*.

    Also from what was drawn, and so on; a chain that leads back ends where it closes. What is no
    text is left to the event that refuses it.
    """

    def ask(statement: str, values: Iterable[str]) -> Iterator[str]:
        for run in chunks(sorted(values)):
            yield from (row[0] for row in connection.execute(statement.format(marks(run)), run))

    hashes = {text_hash(text) for text in named.texts if isinstance(text, str)}
    roots = {*named.events, *ask(_OF_MEMORY, named.memories)}
    roots.update(identity for statement in _OF_TEXT for identity in ask(statement, hashes))
    gone, fresh = set(roots), roots
    while fresh:
        memories = set(ask(_MEMORIES, fresh))
        found = {identity for statement in _FROM_MEMORIES for identity in ask(statement, memories)}
        found.update(ask(_FROM_EVENTS, fresh))
        fresh = found - gone
        gone |= fresh
    return sorted(gone - roots)
