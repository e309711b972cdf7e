"""What a generation's memories are composed from, in SQLite. The caller holds the transaction.

Each write gives the same rows in whatever order the events come: a contribution may arrive
before its memory, and what is forgotten neither comes back nor keeps a text.
"""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from mnemolog.projections.memories.composing import Composed, composed
from mnemolog.projections.memories.contributions import (
    Changes,
    Contribution,
    Forgotten,
    NewLink,
    NewMemory,
    text_hash,
)
from mnemolog.projections.memories.formed_json import formed_json, formed_of
from mnemolog.projections.memories.state_schema import OUTSTANDING
from mnemolog.projections.sqlite_store import chunks, marks

_NEW_MEMORY: Final = "INSERT OR REPLACE INTO memories VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)"
_NEW_CONTRIBUTION: Final = "INSERT OR IGNORE INTO contributions VALUES (?,?,?,?,?,?,?,?,?,?)"
_OF_AN_EVENT_THAT_SAYS: Final = """
    SELECT m.id FROM event_texts t JOIN memories m USING (identity) WHERE t.text_hash IN ({})
"""
_MATCHING: Final[Mapping[str, Sequence[str]]] = MappingProxyType(
    {
        "memory": ("SELECT id FROM memories WHERE id IN ({})",),
        "event": ("SELECT id FROM memories WHERE identity IN ({})",),
        "text": (
            "SELECT id FROM memories WHERE text_hash IN ({})",
            _OF_AN_EVENT_THAT_SAYS,
        ),
    }
)
_CONTRIBUTION: Final = 'target, kind, level, cause, key, "offset", occurred_at, number, text'


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory as it is to be served, and what is known of its vector."""

    composed: Composed
    vector_key: str
    vector: int  # OUTSTANDING, THERE or UNEMBEDDABLE
    why_none: str | None  # the reason of an UNEMBEDDABLE

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.composed.formed.id


@dataclass(frozen=True, slots=True)
class Affected:
    """Which memories a write touched: those to serve anew, and those to take away."""

    live: Sequence[str] = ()
    gone: Sequence[str] = ()


class MemoriesState:
    """The state over a connection that has `STATE_SCHEMA`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def write(self, changes: Changes, *, vector_keys: Mapping[str, str]) -> Affected:
        """Write *changes* and return what they touch; *vector_keys* are those of new memories."""
        cut = self._forget(changes.forgotten)
        named = {one.target for one in changes.forgotten if one.kind == "memory"}
        gone = self._remove(named | self._matching(changes.forgotten))
        gone |= self._form(changes.memories, vector_keys)
        self._contribute(changes.contributions)
        self._link(changes.links)
        formed = {one.formed.id for one in changes.memories}
        targets = {one.target for one in changes.contributions}
        live = self.known(formed | targets | cut)
        assert not live & gone, "a forgotten memory would be served"
        return Affected(sorted(live), sorted(gone))

    def _forget(self, forgotten: Sequence[Forgotten]) -> set[str]:
        """Note *forgotten* for good; return the memories that lost a shorter text by it."""
        rows = [(one.kind, one.target) for one in forgotten]
        self._connection.executemany("INSERT OR IGNORE INTO forgotten VALUES (?,?)", rows)
        hashes = [one.target for one in forgotten if one.kind == "text"]
        cut = "DELETE FROM contributions WHERE text_hash IN ({}) RETURNING target"
        return set(self._column(cut, hashes))

    def _matching(self, forgotten: Sequence[Forgotten]) -> set[str]:
        """Return the ids of memories that are there and forgotten by now."""
        found: set[str] = set()
        for kind, statements in _MATCHING.items():
            targets = [one.target for one in forgotten if one.kind == kind]
            for statement in statements:
                found |= set(self._column(statement, targets))
        return found

    def _remove(self, ids: Iterable[str]) -> set[str]:
        """Take memories away with all that holds their text; their ids stay forgotten."""
        every = list(ids)
        keys = self._column("DELETE FROM memories WHERE id IN ({}) RETURNING vector_key", every)
        self._many("INSERT OR IGNORE INTO dropped_vectors VALUES (?)", ((key,) for key in keys))
        self._many("DELETE FROM contributions WHERE target = ?", ((id_,) for id_ in every))
        self._many("INSERT OR IGNORE INTO forgotten VALUES ('memory', ?)", ((i,) for i in every))
        return set(every)

    def _form(self, memories: Sequence[NewMemory], vector_keys: Mapping[str, str]) -> set[str]:
        """Keep new memories, but for those forgotten before; return the ids of these."""
        hashes = {one.formed.id: text_hash(one.formed.text) for one in memories}
        gone = self._forgotten_before(memories, hashes)
        said = ((hashed, one.formed.identity) for one in memories for hashed in one.said)
        self._many("INSERT OR IGNORE INTO event_texts VALUES (?,?)", said)
        rows = (
            _memory_row(one, hashes[one.formed.id], vector_keys[one.formed.id])
            for one in memories
            if one.formed.id not in gone
        )
        self._many(_NEW_MEMORY, rows)
        return self._remove(gone)

    def _forgotten_before(
        self, memories: Sequence[NewMemory], hashes: Mapping[str, str]
    ) -> set[str]:
        by_id = self._forgotten_among("memory", [one.formed.id for one in memories])
        by_event = self._forgotten_among("event", [one.formed.identity for one in memories])
        texts = {*hashes.values(), *(hashed for one in memories for hashed in one.said)}
        by_text = self._forgotten_among("text", sorted(texts))
        return {
            one.formed.id
            for one in memories
            if one.formed.id in by_id
            or one.formed.identity in by_event
            or not by_text.isdisjoint({hashes[one.formed.id], *one.said})
        }

    def _contribute(self, contributions: Sequence[Contribution]) -> None:
        forgotten = self._forgotten_among("memory", [one.target for one in contributions])
        rows = [_contribution_row(one) for one in contributions if one.target not in forgotten]
        cut = self._forgotten_among("text", [row[-1] for row in rows if row[-1] is not None])
        kept = (row for row in rows if row[-1] not in cut)
        self._many(_NEW_CONTRIBUTION, kept)

    def _link(self, links: Iterable[NewLink]) -> None:
        rows = (
            (one.from_memory, one.to_memory, one.kind, one.cause, one.score, one.event_id, one.key)
            for one in links
        )
        self._many("INSERT OR IGNORE INTO links VALUES (?,?,?,?,?,?,?)", rows)

    def _forgotten_among(self, kind: str, targets: Sequence[str]) -> set[str]:
        statement = f"SELECT target FROM forgotten WHERE kind = '{kind}' AND target IN ({{}})"  # noqa: S608 - ours
        return set(self._column(statement, targets))

    def known(self, ids: Collection[str]) -> set[str]:
        """Return those of *ids* that are memories."""
        return set(self._column("SELECT id FROM memories WHERE id IN ({})", list(ids)))

    def stored(self, ids: Sequence[str]) -> Iterator[StoredMemory]:
        """Yield the memories of *ids* that are there, as they are to be served."""
        for run in chunks(ids):
            said = self._contributions(run)
            rows = self._connection.execute(
                "SELECT formed, vector_key, vector, why_none"  # noqa: S608 - marks only
                f" FROM memories WHERE id IN ({marks(run)})",
                run,
            ).fetchall()
            for line, *of_vector in rows:
                formed = formed_of(line)
                yield StoredMemory(composed(formed, said.get(formed.id, ())), *of_vector)

    def _contributions(self, targets: Sequence[str]) -> dict[str, list[Contribution]]:
        rows = self._connection.execute(
            f"SELECT {_CONTRIBUTION} FROM contributions WHERE target IN ({marks(targets)})",  # noqa: S608
            targets,
        )
        said: dict[str, list[Contribution]] = {}
        names = _CONTRIBUTION.replace('"', "").split(", ")
        for row in rows:
            one = Contribution(**dict(zip(names, row, strict=True)))
            said.setdefault(one.target, []).append(one)
        return said

    def _column(self, statement: str, values: Sequence[str]) -> Iterator[str]:
        """Return the first column of *statement*, whose {} takes a mark for each of *values*."""
        found: list[str] = []
        for run in chunks(values):
            found += [row[0] for row in self._connection.execute(statement.format(marks(run)), run)]
        return iter(found)

    def _many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(statement, rows)


def _memory_row(one: NewMemory, hashed: str, vector_key: str) -> tuple[Any, ...]:
    formed = one.formed
    return (
        formed.id,
        formed.identity,
        formed.event_id,
        one.cause_event,
        formed.key,
        *formed.position,
        hashed,
        vector_key,
        OUTSTANDING,
        None,
        0,
        formed_json(formed),
    )


def _contribution_row(one: Contribution) -> tuple[Any, ...]:
    return (
        one.target,
        one.kind,
        one.level,
        one.cause,
        one.key,
        one.offset,
        one.occurred_at,
        one.number,
        one.text,
        text_hash(one.text) if one.kind == "summary" and one.text is not None else None,
    )
