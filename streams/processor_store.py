"""What a host remembers of a processor in a SQLite file: states by key, and what is to be done.

All of it follows from the log. The file saves the time to read that again; a file that is lost,
damaged or of another version is made anew, and decides nothing: what was done is known from the
processor's own outputs and its marks on the log, which the fold meets as it reads.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from mnemolog.projections.sqlite_ledger import LEDGER_SCHEMA
from mnemolog.projections.sqlite_store import chunks, marks, open_store
from mnemolog.schemas.errors import Damaged
from mnemolog.schemas.fields import JsonMap
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord
from mnemolog.schemas.times import microseconds

FOLDER: Final = "processors"  # in the tenant's
SCHEMA: Final = (
    LEDGER_SCHEMA
    + """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS states (key TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS work (
    partition INTEGER, "offset" INTEGER, key TEXT NOT NULL, output TEXT NOT NULL,
    recorded_at INTEGER NOT NULL, record_key BLOB, value BLOB, headers TEXT NOT NULL,
    found TEXT NOT NULL, silent INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (partition, "offset")) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS work_by_output ON work (output);
CREATE TABLE IF NOT EXISTS held (
    key TEXT PRIMARY KEY, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
    error TEXT NOT NULL) WITHOUT ROWID;
"""
)
TROUBLE: Final = "trouble"
_VERSION: Final = "version"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Work:
    """A cause about which there is something to do, with its record."""

    record: LogRecord
    key: str
    output: str  # the id of what it gives
    found: JsonMap


def path_of(tenant_folder: Path, name: str) -> Path:
    """Return where the file of the processor *name* is."""
    return tenant_folder / FOLDER / f"{name}.db"


def open_for(path: Path, version: int) -> sqlite3.Connection:
    """Return a connection to the file at *path*; one that is of no use is made anew."""
    try:
        return _opened(path, version)
    except (Damaged, _AnotherVersion):
        remove(path)
        return _opened(path, version)


class _AnotherVersion(Exception):
    """The file is of another version of the fold."""


def _opened(path: Path, version: int) -> sqlite3.Connection:
    connection = open_store(path, schema=SCHEMA)
    row = connection.execute("SELECT value FROM about WHERE name = ?", [_VERSION]).fetchone()
    if row is not None and row[0] != str(version):
        connection.close()
        raise _AnotherVersion
    connection.execute("INSERT OR IGNORE INTO about VALUES (?, ?)", [_VERSION, str(version)])
    return connection


def remove(path: Path) -> None:
    """Remove the file and what SQLite has beside it."""
    for suffix in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + suffix).unlink()


class ProcessorStore:
    """The tables over a connection that has `SCHEMA`; the caller holds the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def states(self, keys: Iterable[str]) -> dict[str, str]:
        """Return the states of those *keys* that have one, as JSON."""
        found: dict[str, str] = {}
        for run in chunks(sorted(keys)):
            query = f"SELECT key, state FROM states WHERE key IN ({marks(run)})"  # noqa: S608
            found.update(self._connection.execute(query, run))
        return found

    def save_states(self, states: Mapping[str, str]) -> None:
        """Keep *states*, as JSON."""
        self._many("INSERT OR REPLACE INTO states VALUES (?,?)", states.items())

    def add(self, works: Iterable[Work]) -> None:
        """Note what is to be done; what is noted already stays as it is."""
        self._many(
            "INSERT OR IGNORE INTO work VALUES (?,?,?,?,?,?,?,?,?,0)",
            (
                (
                    *work.record.position,
                    work.key,
                    work.output,
                    microseconds(work.record.recorded_at),
                    work.record.key,
                    work.record.value,
                    _headers_text(work.record),
                    json.dumps(work.found),
                )
                for work in works
            ),
        )

    def made(self, outputs: Iterable[str]) -> None:
        """Note that *outputs* are on the log."""
        self._many("DELETE FROM work WHERE output = ?", ((output,) for output in outputs))

    def advanced(self, places: Iterable[Position]) -> None:
        """Note that all is done up to *places*."""
        self._many('DELETE FROM work WHERE partition = ? AND "offset" <= ?', places)

    def silent(self, outputs: Iterable[str]) -> None:
        """Note that the causes of *outputs* were judged and gave none."""
        self._many("UPDATE work SET silent = 1 WHERE output = ?", ((one,) for one in outputs))

    def next_work(self, *, causes_max: int) -> list[tuple[LogRecord, JsonMap]]:
        """Return what is to be done next, in order; keys that are held are passed."""
        rows = self._connection.execute(
            'SELECT partition, "offset", recorded_at, record_key, value, headers, found FROM work'
            " WHERE NOT silent AND key NOT IN (SELECT key FROM held)"
            ' ORDER BY partition, "offset" LIMIT ?',
            [causes_max],
        )
        return [(_record(row), json.loads(row[6])) for row in rows]

    def marks_due(self, *, causes_min: int) -> dict[int, int]:
        """Return up to where all is done, of partitions with so many causes without an output."""
        due: dict[int, int] = {}
        silent = "SELECT partition FROM work WHERE silent GROUP BY partition HAVING count(*) >= ?"
        for (partition,) in self._connection.execute(silent, [causes_min]).fetchall():
            until = self._first_undone(partition) - 1
            covers = 'SELECT 1 FROM work WHERE partition = ? AND silent AND "offset" <= ? LIMIT 1'
            if self._connection.execute(covers, [partition, until]).fetchone():
                due[partition] = until
        return due

    def _first_undone(self, partition: int) -> int:
        """Return the offset of the first event that is not done with: it waits, or was not read."""
        query = (
            'SELECT min(o) FROM (SELECT min("offset") o FROM work WHERE partition = ?1'
            ' AND NOT silent UNION ALL SELECT min("offset") FROM parked WHERE partition = ?1'
            " UNION ALL SELECT last_applied + 1 FROM progress WHERE partition = ?1)"
        )
        return int(self._connection.execute(query, [partition]).fetchone()[0] or 0)

    def hold(self, key: str, at: Position, error: str) -> None:
        """Let the later causes of *key* wait."""
        self._many("INSERT OR IGNORE INTO held VALUES (?,?,?,?)", [(key, *at, error)])

    def release(self) -> None:
        """Let all keys that are held be tried again."""
        self._connection.execute("DELETE FROM held")

    def held(self, *, keys_max: int) -> list[tuple[str, Position, str]]:
        """Return the first keys that are held: the key, its cause's place, the error."""
        rows = self._connection.execute(
            'SELECT key, partition, "offset", error FROM held ORDER BY partition, "offset" LIMIT ?',
            [keys_max],
        )
        return [(row[0], Position(row[1], row[2]), row[3]) for row in rows]

    def counts(self) -> dict[str, int]:
        """Return how many causes wait and how many keys are held, by these words."""
        tables = {"waiting": "work WHERE NOT silent", "held": "held"}
        return {
            word: self._connection.execute(f"SELECT count(*) FROM {rest}").fetchone()[0]  # noqa: S608
            for word, rest in tables.items()
        }

    def note_trouble(self, trouble: str | None) -> None:
        """Keep what the host can't go on from, for others to see; None where it goes on."""
        self._connection.execute("DELETE FROM about WHERE name = ?", [TROUBLE])
        if trouble is not None:
            self._connection.execute("INSERT INTO about VALUES (?,?)", [TROUBLE, trouble])

    def trouble(self) -> str | None:
        """Return what the last host could not go on from."""
        query = "SELECT value FROM about WHERE name = ?"
        row = self._connection.execute(query, [TROUBLE]).fetchone()
        return None if row is None else str(row[0])

    def _many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        self._connection.executemany(statement, rows)


def _headers_text(record: LogRecord) -> str:
    return json.dumps([[name, None if v is None else v.hex()] for name, v in record.headers])


def _record(row: Sequence[Any]) -> LogRecord:
    told = json.loads(row[5])
    headers = tuple((name, None if v is None else bytes.fromhex(v)) for name, v in told)
    recorded_at = _EPOCH + timedelta(microseconds=row[2])
    return LogRecord(row[0], row[1], recorded_at, row[3], row[4], headers)
