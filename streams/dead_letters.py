"""Dead letters: copies of parked records for whoever looks after them elsewhere. Never read back.

A parked record stays in its projection's ledger, from which it is retried or skipped. On Kafka the
worker that owns the tenant puts a copy on the topic of dead letters, too:

1. What is parked and was not copied yet is put on the topic, at most `LETTERS_MAX` at once.
2. That it was copied is noted in a file of the tenant's folder.

A death between the two doubles those, at most `LETTERS_MAX`; so does another folder, whose file
knows of no copy. Headers say which record of which topic a letter is, so that a reader can tell.
"""

import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from mnemolog.projections.ledger import ParkedSummary
from mnemolog.projections.sqlite_store import open_store, transaction
from mnemolog.schemas.errors import Damaged
from mnemolog.schemas.ids import encoded_name
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord, NewRecord
from mnemolog.schemas.text import cut_bytes
from mnemolog.schemas.times import written
from mnemolog.streams.log import TOPIC_PREFIX

LETTERS_MAX: Final = 100  # on their way at once: so many a death may double
TOPIC_SUFFIX: Final = ".dead-letters"
FILE: Final = "dead-letters.db"  # in the tenant's folder
HEADER: Final = "mnemolog-dead-letter-"  # of each header that a copy has and its record had not
ERROR_BYTES_MAX: Final = 1_000
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS copied (
    projection TEXT, partition INTEGER, "offset" INTEGER,
    PRIMARY KEY (projection, partition, "offset")) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS trouble (id INTEGER PRIMARY KEY CHECK (id = 1), said TEXT NOT NULL);
"""


def dead_letters_topic(tenant: str) -> str:
    """Return the name of *tenant*'s topic of dead letters.

    >>> dead_letters_topic("acme")
    'mnemolog.acme.dead-letters'
    """
    return f"{TOPIC_PREFIX}{encoded_name(tenant)}{TOPIC_SUFFIX}"


class DeadLetters(Protocol):
    """Where copies go."""

    def put(self, letters: Sequence[NewRecord]) -> None:
        """Put *letters* there, durable on return. Raises LogUnavailable or InvalidSetting."""
        ...

    def close(self) -> None:
        """Let go of connections. Harmless twice."""
        ...


def letter(
    record: LogRecord, told: ParkedSummary, *, projection: str, version: int, topic: str
) -> NewRecord:
    """Return the copy of a parked *record* of *topic*: its key, bytes and headers, and ours."""
    ours = {
        "topic": topic,
        "partition": str(record.partition),
        "offset": str(record.offset),
        "recorded-at": written(record.recorded_at),
        "projection": projection,
        "projection-version": str(version),
        "error": cut_bytes(told.reason, bytes_max=ERROR_BYTES_MAX),
        "waits": "behind another" if told.behind else "by its own fault",
        "identity": told.identity,
    }
    named = tuple((f"{HEADER}{name}", text.encode()) for name, text in ours.items())
    place = hashlib.sha256(f"{projection} {topic} {record.position}".encode()).hexdigest()
    return NewRecord(record.key, record.value, (*record.headers, *named), place[:32], place[32:])


class Copied:
    """Which parked records have their copy, and what keeps copies from being made."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    @classmethod
    def open(cls, folder: Path) -> "Copied":
        """Open the file of the tenant's *folder*; one that is damaged is made anew."""
        path = folder / FILE
        try:
            return cls(open_store(path, schema=_SCHEMA), path)
        except Damaged:
            for part in (path, *folder.glob(f"{FILE}-*")):
                part.unlink(missing_ok=True)
            return cls(open_store(path, schema=_SCHEMA), path)

    def positions(self, projection: str) -> set[Position]:
        """Return which of *projection*'s have been copied and were parked since."""
        rows = self._connection.execute(
            'SELECT partition, "offset" FROM copied WHERE projection = ?', [projection]
        )
        return {Position(*row) for row in rows}

    def note(self, projection: str, positions: Sequence[Position]) -> None:
        """Note that *positions* have been copied."""
        with transaction(self._connection, store=self._path):
            self._connection.executemany(
                "INSERT OR IGNORE INTO copied VALUES (?,?,?)",
                [(projection, *position) for position in positions],
            )

    def forget(self, projection: str, positions: Sequence[Position]) -> None:
        """Forget *positions*, which are parked no more: parked again, they are copied again."""
        with transaction(self._connection, store=self._path):
            self._connection.executemany(
                'DELETE FROM copied WHERE projection = ? AND partition = ? AND "offset" = ?',
                [(projection, *position) for position in positions],
            )

    def say(self, trouble: str | None) -> None:
        """Note what keeps copies from being made, for whoever asks how the tenant stands."""
        with transaction(self._connection, store=self._path):
            self._connection.execute("DELETE FROM trouble")
            if trouble is not None:
                self._connection.execute("INSERT INTO trouble VALUES (1, ?)", [trouble])

    def close(self) -> None:
        """Let go of the file. Harmless twice."""
        self._connection.close()


def trouble_in(folder: Path) -> str | None:
    """Return what keeps copies from being made in the tenant's *folder*, if anything does."""
    if not (folder / FILE).exists():
        return None
    connection = open_store(folder / FILE, schema="", read_only=True)
    try:
        row = connection.execute("SELECT said FROM trouble").fetchone()
    except sqlite3.OperationalError:
        return None  # being made at this moment
    finally:
        connection.close()
    return None if row is None else str(row[0])
