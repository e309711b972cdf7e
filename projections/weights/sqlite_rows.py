"""The rows of weights in SQLite: how they are kept, forgotten and covered by the digest.

Rows are only added, each under its event's identity, so that a repeat changes nothing and order
does not matter. Only forgetting deletes: a memory that matches something forgotten is `gone`,
whichever of the two came first, and so are the rows that other events added to it.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from mnemolog.projections.digests import ContentRow
from mnemolog.projections.sqlite_ledger import LEDGER_SCHEMA
from mnemolog.projections.sqlite_store import chunks, marks
from mnemolog.projections.weights.rows import Rows

FILE: Final = "weights.db"
SCHEMA: Final = (
    LEDGER_SCHEMA
    + """
CREATE TABLE IF NOT EXISTS memories (
    id TEXT PRIMARY KEY, kind TEXT NOT NULL, importance INTEGER NOT NULL,
    initial INTEGER NOT NULL, occurred_at INTEGER NOT NULL, valid_from INTEGER,
    valid_until INTEGER, key TEXT NOT NULL, agent TEXT, event_id TEXT NOT NULL,
    identity TEXT NOT NULL, text_hash TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS memories_by_identity ON memories (identity);
CREATE INDEX IF NOT EXISTS memories_by_text ON memories (text_hash);
CREATE TABLE IF NOT EXISTS event_texts (
    text_hash TEXT, identity TEXT, PRIMARY KEY (text_hash, identity)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS uses (
    memory TEXT, identity TEXT, event_id TEXT NOT NULL, key TEXT NOT NULL,
    occurred_at INTEGER NOT NULL, PRIMARY KEY (memory, identity)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS feedback (
    identity TEXT PRIMARY KEY, event_id TEXT NOT NULL, key TEXT NOT NULL,
    target_kind TEXT NOT NULL, target TEXT NOT NULL, score INTEGER NOT NULL,
    gain INTEGER NOT NULL, occurred_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS feedback_by_target ON feedback (target, target_kind);
CREATE TABLE IF NOT EXISTS marks (
    memory TEXT, mark TEXT, identity TEXT, event_id TEXT NOT NULL, key TEXT NOT NULL,
    "offset" INTEGER NOT NULL, occurred_at INTEGER NOT NULL, number INTEGER, other TEXT,
    PRIMARY KEY (memory, mark, identity)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS forgotten (
    kind TEXT, value TEXT, identity TEXT, key TEXT NOT NULL,
    PRIMARY KEY (kind, value, identity)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS gone (memory TEXT PRIMARY KEY, key TEXT NOT NULL) WITHOUT ROWID;
"""
)

_OF_A_MEMORY: Final = (
    "kind, importance, initial, occurred_at, valid_from, valid_until, agent, identity, text_hash"
)
# Table -> its row's id and covered columns; event ids are covered by identities, offsets never.
_COVERED: Final = {
    "memories": ("id", _OF_A_MEMORY),
    "uses": ("memory || '/' || identity", "occurred_at"),
    "feedback": ("identity", "target_kind, target, score, gain, occurred_at"),
    "marks": ("memory || '/' || mark || '/' || identity", "occurred_at, number, other"),
    "forgotten": ("kind || '/' || value || '/' || identity", "kind"),
    "gone": ("memory", "memory"),
}
# How a memory can be forgotten -> the column of it that is told.
_FORGETTING: Final = {"memory": "id", "event": "identity", "text": "text_hash"}


class SQLiteWeightRows:
    """The rows over a connection that has `SCHEMA`; the caller holds the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, rows: Rows) -> None:
        """Insert *rows*, then delete whatever is forgotten among old rows and new."""
        self._insert("memories", rows.memories)
        self._insert("event_texts", rows.said)
        self._insert("uses", rows.uses)
        self._insert("feedback", rows.feedback)
        self._insert("marks", rows.marks)
        self._insert("forgotten", rows.forgotten)
        if self._forgets():
            self._delete(self._matching(rows), self._touched(rows))

    def content(self) -> Iterator[ContentRow]:
        """Yield every covered row, table by table; nothing is kept in memory."""
        for table, (row_id, columns) in _COVERED.items():
            names = [name.strip() for name in columns.split(",")]
            query = f"SELECT key, {row_id}, {columns} FROM {table}"  # noqa: S608 - all ours
            for key, name, *values in self._connection.execute(query):
                yield ContentRow(key, table, name, dict(zip(names, values, strict=True)))

    def _insert(self, table: str, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            statement = f"INSERT OR IGNORE INTO {table} VALUES ({marks(rows[0])})"  # noqa: S608
            self._connection.executemany(statement, rows)

    def _forgets(self) -> bool:
        return self._connection.execute("SELECT 1 FROM forgotten LIMIT 1").fetchone() is not None

    def _matching(self, rows: Rows) -> set[str]:
        """Return the memories that are here and match what was forgotten, now or ever."""
        matching: set[str] = set()
        for kind, column in _FORGETTING.items():
            said = {row.value for row in rows.forgotten if row.kind == kind}
            said |= self._known("forgotten", {getattr(row, column) for row in rows.memories}, kind)
            matching.update(self._ids_where(column, said))
        texts = {row.value for row in rows.forgotten if row.kind == "text"}
        texts |= self._known("forgotten", {row.text_hash for row in rows.said}, "text")
        matching.update(self._ids_where("identity", self._that_say(texts)))
        return matching

    def _that_say(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the identities of the events that say one of *texts*, and formed memories."""
        for run in chunks(sorted(texts)):
            query = f"SELECT identity FROM event_texts WHERE text_hash IN ({marks(run)})"  # noqa: S608
            yield from (identity for (identity,) in self._connection.execute(query, run))

    def _touched(self, rows: Rows) -> set[str]:
        """Return the memories that *rows* add to though they are gone, or forgotten by id."""
        targets = {row.memory for row in rows.uses} | {row.memory for row in rows.marks}
        targets |= {row.target for row in rows.feedback if row.target_kind == "memory"}
        said = {row.value for row in rows.forgotten if row.kind == "memory"}
        return said | self._known("forgotten", targets, "memory") | self._known("gone", targets)

    def _known(self, table: str, values: Iterable[str], kind: str | None = None) -> set[str]:
        """Return those of *values* that *table* holds."""
        column = "memory" if kind is None else "value"
        where, first = ("", []) if kind is None else ("kind = ? AND ", [kind])
        found: set[str] = set()
        for run in chunks(sorted(values)):
            query = f"SELECT {column} FROM {table} WHERE {where}{column} IN ({marks(run)})"  # noqa: S608
            found.update(value for (value,) in self._connection.execute(query, [*first, *run]))
        return found

    def _ids_where(self, column: str, values: Iterable[str]) -> Iterator[str]:
        for run in chunks(sorted(values)):
            query = f"SELECT id FROM memories WHERE {column} IN ({marks(run)})"  # noqa: S608
            yield from (memory for (memory,) in self._connection.execute(query, run))

    def _delete(self, matching: set[str], touched: set[str]) -> None:
        one = [(memory,) for memory in sorted(matching | touched)]
        many = self._connection.executemany
        many("INSERT OR IGNORE INTO gone SELECT id, key FROM memories WHERE id = ?", one)
        many("DELETE FROM memories WHERE id = ?", one)
        many("DELETE FROM uses WHERE memory = ?", one)
        many("DELETE FROM marks WHERE memory = ?", one)
        many("DELETE FROM feedback WHERE target = ? AND target_kind = 'memory'", one)
