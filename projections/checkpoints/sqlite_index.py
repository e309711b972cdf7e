"""The index in SQLite: where its rows are written, and which of them are forgotten.

Tables: `timeline`, a row for each event; `handles`, by which an event's words are forgotten (the
hashes of its texts and of its memory's id); `actions`, a row for each event of an action;
`checkpoints`, a row for each file that is in use; `forgotten_events` and `forgotten_handles`, which
only grow, so that a forgetting may come before what it forgets. All but the last two stand under
the event's position.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from mnemolog.projections.checkpoints.rows import ActionRow, CheckpointRow, EventRow, Rows
from mnemolog.projections.checkpoints.words import HANDLE_BYTES
from mnemolog.projections.sqlite_ledger import LEDGER_SCHEMA
from mnemolog.projections.sqlite_store import chunks, marks
from mnemolog.schemas.decoded import Guest
from mnemolog.schemas.positions import Position
from mnemolog.schemas.times import microseconds
from mnemolog.schemas.values import json_bytes

INDEX_FILE: Final = "index.db"
FILES_FOLDER: Final = "files"

INDEX_SCHEMA: Final = (
    LEDGER_SCHEMA
    + """
PRAGMA secure_delete = ON;
CREATE TABLE IF NOT EXISTS timeline (
    partition INTEGER NOT NULL, "offset" INTEGER NOT NULL, identity BLOB NOT NULL,
    recorded_at INTEGER NOT NULL, occurred_at INTEGER NOT NULL, key TEXT NOT NULL,
    agent TEXT, user TEXT, project TEXT, session TEXT, task TEXT, type TEXT NOT NULL,
    guest INTEGER NOT NULL, event_id TEXT NOT NULL, cause TEXT, text TEXT, handles BLOB,
    PRIMARY KEY (partition, "offset")) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS timeline_key ON timeline (key, "offset");
CREATE INDEX IF NOT EXISTS timeline_event ON timeline (event_id);
CREATE INDEX IF NOT EXISTS timeline_identity ON timeline (identity);
CREATE INDEX IF NOT EXISTS timeline_agent ON timeline (agent, key, "offset")
    WHERE agent IS NOT NULL;
CREATE INDEX IF NOT EXISTS timeline_task ON timeline (task, key, "offset")
    WHERE task IS NOT NULL;
CREATE INDEX IF NOT EXISTS timeline_session ON timeline (session, key, "offset")
    WHERE session IS NOT NULL;
CREATE INDEX IF NOT EXISTS timeline_project ON timeline (project, key, "offset")
    WHERE project IS NOT NULL;
CREATE INDEX IF NOT EXISTS ended_sessions ON timeline (session)
    WHERE guest = 0 AND type = 'session.ended';
CREATE INDEX IF NOT EXISTS ended_tasks ON timeline (task)
    WHERE guest = 0 AND type IN ('task.completed', 'task.abandoned');
CREATE TABLE IF NOT EXISTS handles (
    handle BLOB NOT NULL, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
    PRIMARY KEY (handle, partition, "offset")) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS actions (
    partition INTEGER NOT NULL, "offset" INTEGER NOT NULL, key TEXT NOT NULL,
    action TEXT NOT NULL, part TEXT NOT NULL, tool TEXT, success INTEGER,
    costly INTEGER NOT NULL, PRIMARY KEY (partition, "offset")) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS actions_action ON actions (key, action, part, "offset");
CREATE TABLE IF NOT EXISTS checkpoints (
    partition INTEGER NOT NULL, "offset" INTEGER NOT NULL, key TEXT NOT NULL,
    id TEXT NOT NULL, agent TEXT NOT NULL, task TEXT, parent TEXT, tags TEXT NOT NULL,
    file TEXT NOT NULL, PRIMARY KEY (partition, "offset")) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS checkpoints_id ON checkpoints (id);
CREATE INDEX IF NOT EXISTS checkpoints_task ON checkpoints (task, key, "offset");
CREATE INDEX IF NOT EXISTS checkpoints_agent ON checkpoints (agent, key, "offset");
CREATE INDEX IF NOT EXISTS checkpoints_file ON checkpoints (file);
CREATE TABLE IF NOT EXISTS forgotten_events (identity BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS forgotten_handles (handle BLOB PRIMARY KEY) WITHOUT ROWID;
"""
)


class SQLiteIndex:
    """The index's tables over a connection; the caller holds the transaction for writing."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def forgotten_among(self, rows: Rows) -> set[Position]:
        """Return the positions of those *rows* that are forgotten, by themselves or before."""
        identities = _digests(row.item.identity for row in rows.events)
        handles = {handle for row in rows.events for handle in row.handles}
        named = _digests(rows.forgotten_events)
        named |= self._known("forgotten_events", "identity", identities)
        known = rows.forgotten_handles | self._known("forgotten_handles", "handle", handles)
        return {
            row.position
            for row in rows.events
            if bytes.fromhex(row.item.identity) in named or not known.isdisjoint(row.handles)
        }

    def _known(self, table: str, column: str, values: Iterable[Any]) -> set[Any]:
        return set(self._in(f"SELECT {column} FROM {table} WHERE {column} IN", values))  # noqa: S608

    def insert(self, rows: Rows) -> None:
        """Write *rows*, of which those that are forgotten have no words any more."""
        self._many("INSERT OR REPLACE INTO timeline", 17, map(_event_values, rows.events))
        handles = ((handle, *row.position) for row in rows.events for handle in row.handles)
        self._many("INSERT OR REPLACE INTO handles", 3, handles)
        self._many("INSERT OR REPLACE INTO actions", 8, map(_action_values, rows.actions))
        saved = map(_checkpoint_values, rows.checkpoints)
        self._many("INSERT OR REPLACE INTO checkpoints", 9, saved)

    def forget(self, rows: Rows) -> set[str]:
        """Take the words of all events that *rows* forget; return files that none needs now."""
        named = _digests(rows.forgotten_events)
        self._many("INSERT OR IGNORE INTO forgotten_events", 1, ((one,) for one in named))
        self._many(
            "INSERT OR IGNORE INTO forgotten_handles", 1, ((h,) for h in rows.forgotten_handles)
        )
        found = 'SELECT partition, "offset" FROM'
        places = {
            *self._rows_in(f"{found} timeline WHERE identity IN", named),
            *self._rows_in(f"{found} handles WHERE handle IN", rows.forgotten_handles),
        }
        files = {name for place in places for name in self._forget_at(place)}
        return {name for name in files if not self._is_used(name)}

    def _forget_at(self, place: tuple[int, int]) -> list[str]:
        execute, here = self._connection.execute, 'WHERE partition = ? AND "offset" = ?'
        (handles,) = execute(f"SELECT handles FROM timeline {here}", place).fetchone()  # noqa: S608
        self._connection.executemany(
            f"DELETE FROM handles {here} AND handle = ?",  # noqa: S608 - ours
            ((*place, handle) for handle in _split(handles or b"")),
        )
        execute(f"UPDATE timeline SET text = NULL, handles = NULL {here}", place)  # noqa: S608
        execute(f"UPDATE actions SET tool = NULL {here}", place)  # noqa: S608 - ours
        files = execute(f"SELECT file FROM checkpoints {here}", place).fetchall()  # noqa: S608
        execute(f"DELETE FROM checkpoints {here}", place)  # noqa: S608 - ours
        return [name for (name,) in files]

    def _is_used(self, file: str) -> bool:
        return bool(self.used_files([file]))

    def used_files(self, names: Iterable[str]) -> set[str]:
        """Return those *names* that a checkpoint needs."""
        return set(self._in("SELECT file FROM checkpoints WHERE file IN", names))

    def _in(self, query: str, values: Iterable[Any]) -> Iterator[Any]:
        return (first for (first, *_) in self._rows_in(query, values))

    def _rows_in(self, query: str, values: Iterable[Any]) -> Iterator[Any]:
        for run in chunks(sorted(values)):
            yield from self._connection.execute(f"{query} ({marks(run)})", run)

    def _many(self, statement: str, columns: int, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(f"{statement} VALUES ({marks(range(columns))})", rows)


def _event_values(row: EventRow) -> Sequence[Any]:
    envelope, record = row.item.envelope, row.item.record
    return (
        *record.position,
        bytes.fromhex(row.item.identity),
        microseconds(record.recorded_at),
        microseconds(envelope.occurred_at),
        envelope.key,
        envelope.agent,
        envelope.user,
        envelope.project,
        envelope.session,
        envelope.task,
        row.item.event_type,
        isinstance(row.item, Guest),
        envelope.id,
        envelope.cause,
        row.text,
        b"".join(row.handles),
    )


def _action_values(row: ActionRow) -> Sequence[Any]:
    placed = (*row.position, row.key, row.action, row.part)
    return (*placed, row.tool, row.success, row.costly)


def _checkpoint_values(row: CheckpointRow) -> Sequence[Any]:
    placed = (*row.position, row.key, row.id, row.agent, row.task, row.parent)
    return (*placed, json_bytes(row.tags).decode(), row.snapshot.name)


def _digests(identities: Iterable[str]) -> set[bytes]:
    return {bytes.fromhex(identity) for identity in identities}


def _split(handles: bytes) -> Iterator[bytes]:
    for start in range(0, len(handles), HANDLE_BYTES):
        yield handles[start : start + HANDLE_BYTES]
