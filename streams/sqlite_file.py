"""The embedded log's file: its tables and its connections.

Tenant, partition count and format are fixed when the file is made, and compared whenever it is
opened.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemolog.projections.sqlite_store import can_not_change
from mnemolog.schemas.errors import (
    InvalidSetting,
    LogDamaged,
    LogUnavailable,
    NewerRelease,
    NotFound,
)
from mnemolog.schemas.refusals import HINT_IN_THE_WAY, refused
from mnemolog.streams.sqlite_errors import is_busy, speaking_of
from mnemolog.streams.sqlite_wal import TORN_COMMITS_MAX, commits_lost

FORMAT: Final = 1  # PRAGMA user_version
APPLICATION: Final = 0x6D6E656D  # PRAGMA application_id, "mnem"
OPEN_SECONDS_MAX: Final = 10.0  # how long opening waits for other processes
READ_SECONDS_MAX: Final = 10.0  # how long a read waits for them
WAL_BYTES_KEPT: Final = 67_108_864
WAL_PAGES_MAX: Final = (
    8_000  # 32 MB, then they are moved: identities hit pages anywhere, often again
)
CACHE_KIB: Final = 16_384
PARTITION_SHIFT: Final = 48  # place = partition << 48 | offset
PARTITIONS_MAX: Final = 1_024
HINT_OPEN_AGAIN: Final = "Open it again: it was opened while nobody could write it."
_PAUSE_SECONDS: Final = 0.02

INDEX: Final = "CREATE UNIQUE INDEX once ON records (identity, content)"
_TABLES: Final = """
CREATE TABLE log (
    tenant TEXT NOT NULL,
    partitions INTEGER NOT NULL
);
CREATE TABLE ends (
    partition INTEGER PRIMARY KEY,
    end INTEGER NOT NULL,      -- the offset of the next record
    latest_at INTEGER NOT NULL -- the greatest recorded_at so far
);
CREATE TABLE records (
    place INTEGER PRIMARY KEY, -- partition << 48 | offset
    recorded_at INTEGER NOT NULL, -- microseconds since 1970, UTC
    latest_at INTEGER NOT NULL,   -- the greatest recorded_at of the partition up to here
    key BLOB,
    value BLOB,
    headers TEXT NOT NULL,     -- JSON: [[name, hexadecimal or null], ...]
    checksum INTEGER NOT NULL, -- CRC-32 of headers, key and value
    identity BLOB,             -- of (key, source, id)
    content BLOB               -- of what the event says
);
CREATE VIEW readable AS
    SELECT place >> 48 AS "partition", place & 0xFFFFFFFFFFFF AS "offset",
           datetime(recorded_at / 1000000, 'unixepoch') AS recorded_at,
           CAST(key AS TEXT) AS key, CAST(value AS TEXT) AS value
    FROM records;
"""


@dataclass(frozen=True, slots=True)
class LogFile:
    """A log's file that is there, and is ours."""

    path: Path
    partitions: int
    read_only: bool
    immutable: bool
    on_disk: tuple[int, int]

    def check_in_place(self) -> None:
        """Raise LogUnavailable when the file was removed: what is written to it would be lost.

        So does a handle that was opened where nobody could write, once somebody does.
        """
        if _on_disk(self.path) != self.on_disk:
            reason = "it was removed or replaced while it was open; open the log again"
            raise LogUnavailable(str(self.path), reason)
        if self.immutable and not can_not_change(self.path):
            reason = "it may be written again"
            raise LogUnavailable(str(self.path), reason, hint=HINT_OPEN_AGAIN)

    def connect(self) -> sqlite3.Connection:
        """Return a new connection. Any thread may use it, one at a time."""
        self.check_in_place()
        with speaking_of(self.path):
            db = _connected(self.path, read_only=self.read_only, immutable=self.immutable)
            if not self.read_only:
                _make_durable(db)
            return db


def open_file(path: Path, *, tenant: str, partitions: int | None, read_only: bool) -> LogFile:
    """Return the log's file at *path*, made first where there is none.

    *partitions* is what the file must have, or None for what it has, or 1 for a new one. Raises
    InvalidSetting for another log's file, NewerRelease for one of a later format, NotFound for
    none when *read_only*, LogUnavailable where disk or rights are in the way, LogDamaged for a
    file that SQLite can't read, or of which it would drop acknowledged commits.
    """
    if read_only and (not path.exists() or (path.is_file() and not path.stat().st_size)):
        raise NotFound("log", str(path))
    _refuse_what_is_no_file(path)
    if partitions is not None and not 1 <= partitions <= PARTITIONS_MAX:
        raise InvalidSetting("partitions", partitions, f"1 to {PARTITIONS_MAX}")
    if not read_only:
        _make_folder(path)
        _refuse_lost_commits(path)
    immutable = read_only and can_not_change(path)
    with (
        speaking_of(path),
        contextlib.closing(_connected(path, read_only=read_only, immutable=immutable)) as db,
    ):
        if not read_only and _is_new(db):
            _make_durable(db)
            _create(db, path, tenant=tenant, partitions=partitions or 1)
        there = _checked(db, path, tenant=tenant, partitions=partitions)
    return LogFile(path, there, read_only, immutable, _on_disk(path))


def _on_disk(path: Path) -> tuple[int, int]:
    """Return what tells a file from any other; a path without one has zeros."""
    try:
        there = path.stat()
    except OSError:
        return 0, 0
    return there.st_dev, there.st_ino


def _refuse_what_is_no_file(path: Path) -> None:
    for one in (path, *(path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))):
        if one.exists() and not one.is_file():
            raise LogUnavailable(str(one), "it is no file", hint=HINT_IN_THE_WAY)


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        refusal = refused(str(path.parent), error)
        reason = f"its folder can't be made: {refusal.reason}"
        raise LogUnavailable(str(path), reason, hint=refusal.hint) from error


def _refuse_lost_commits(path: Path) -> None:
    """Raise LogDamaged where acknowledged commits can't be read; the first write would drop them.

    The write-ahead log is named, and where the readable part of the log ends.
    """
    lost, end = unreadable_commits(path)
    if lost > TORN_COMMITS_MAX:
        reason = f"{lost} commits behind {end} can't be read; nothing was changed"
        raise LogDamaged(str(path.with_name(path.name + "-wal")), reason)


def unreadable_commits(path: Path) -> tuple[int, str]:
    """Return how many commits can't be read of the log at *path*, and behind which record.

    Nothing is written: the connection that only reads, and is closed last, keeps SQLite from
    tidying up. Raises LogUnavailable where the file may not be written.
    """
    wal = path.with_name(path.name + "-wal")
    if not path.is_file() or not wal.is_file() or not wal.stat().st_size:
        return 0, ""
    with (
        speaking_of(path),
        contextlib.closing(_connected(path, read_only=True, immutable=False)) as reading,
    ):
        reading.execute("BEGIN")
        _refuse_a_later_format(reading, path)
        with (
            contextlib.closing(_connected(path, read_only=False, immutable=False)) as writing,
            transaction(writing, wait_seconds=OPEN_SECONDS_MAX),
        ):
            lost = commits_lost(path)
        return lost, _where_it_ends(reading)


def _where_it_ends(connection: sqlite3.Connection) -> str:
    """Return up to where the log can be read, for a message."""
    try:
        ends = connection.execute("SELECT partition, end - 1 FROM ends WHERE end ORDER BY 1")
        return ", ".join(f"{partition}@{last}" for partition, last in ends) or "its beginning"
    except sqlite3.Error:
        return "its beginning"


def _connected(path: Path, *, read_only: bool, immutable: bool) -> sqlite3.Connection:
    mode = "ro" if read_only else "rwc"
    uri = f"{path.absolute().as_uri()}?mode={mode}" + ("&immutable=1" if immutable else "")
    connection = sqlite3.connect(
        uri,
        uri=True,
        timeout=READ_SECONDS_MAX,
        isolation_level=None,  # transactions begin where we say so
        check_same_thread=False,
    )
    connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
    return connection


def _is_new(connection: sqlite3.Connection) -> bool:
    return not connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]


def _make_durable(connection: sqlite3.Connection) -> None:
    """Have each commit on the disk before it returns, and readers beside the writer."""
    deadline = time.monotonic() + OPEN_SECONDS_MAX
    while True:  # SQLite does not wait by itself when the mode changes under others
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            break
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # macOS: through the drive's own cache
    connection.execute("PRAGMA checkpoint_fullfsync = ON")
    connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_KEPT}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES_MAX}")


def _create(connection: sqlite3.Connection, path: Path, *, tenant: str, partitions: int) -> None:
    """Make the tables where the file is new, all of them or none; the first of several does it."""
    with transaction(connection, wait_seconds=OPEN_SECONDS_MAX):
        if not _is_new(connection):
            return
        for statement in (*_TABLES.split(";\n"), INDEX):
            connection.execute(statement)
        connection.execute("INSERT INTO log VALUES (?, ?)", (tenant, partitions))
        rows = [(partition, 0, 0) for partition in range(partitions)]
        connection.executemany("INSERT INTO ends VALUES (?, ?, ?)", rows)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new file's name as durable as its content, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _checked(
    connection: sqlite3.Connection, path: Path, *, tenant: str, partitions: int | None
) -> int:
    """Return how many partitions the file has. Raises InvalidSetting where it is not as asked."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise InvalidSetting("log", str(path), "this file is no log of mnemolog's")
    _refuse_a_later_format(connection, path)
    owner, there = connection.execute("SELECT tenant, partitions FROM log").fetchone()
    if owner != tenant:
        raise InvalidSetting("tenant", tenant, f"{path} is the log of tenant {owner!r}")
    if partitions not in {None, there}:
        limit = f"{path} has {there}, fixed when it was made; export and import to change it"
        raise InvalidSetting("partitions", partitions, limit)
    return int(there)


def _refuse_a_later_format(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA user_version").fetchone()[0]
    if found > FORMAT:
        raise NewerRelease(str(path), f"format {found}; this one reads {FORMAT}")


@contextmanager
def transaction(connection: sqlite3.Connection, *, wait_seconds: float) -> Iterator[None]:
    """Hold the write lock, and commit at the end, or undo everything after an error."""
    connection.execute(f"PRAGMA busy_timeout = {max(int(wait_seconds * 1000), 1)}")
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
