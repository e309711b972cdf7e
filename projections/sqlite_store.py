"""SQLite files of projections: how they are opened, locked for a transaction, and complained of.

WAL, so that other processes read while the owner writes. A commit is durable against a crash of
the process; after a power cut the log brings back what the last commits held.
"""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

from mnemolog.projections.sqlite_damage import check_pages, is_undecodable, refuse_remains
from mnemolog.schemas.errors import Damaged, MnemologError, StoreUnavailable
from mnemolog.schemas.refusals import HINT_FULL, HINT_RIGHTS, refused

BUSY_SECONDS_MAX: Final = 10.0
PARAMETERS_MAX: Final = 500  # of one statement; SQLite's own bound is higher


T = TypeVar("T")


def open_store(
    path: Path, *, schema: str, read_only: bool = False, thorough: bool = False
) -> sqlite3.Connection:
    """Return a connection to the store at *path*, made with *schema* where it is new.

    The connection may pass between threads, one at a time. *thorough* looks at every page. Raises
    StoreUnavailable or Damaged.
    """
    with speaking_of(path):
        if read_only:
            return _connected_to_read(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        refuse_remains(path)
        connection = _connect(str(path), uri=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            if thorough:
                check_pages(connection, path)
            connection.executescript(schema)
        except BaseException:
            connection.close()
            raise
        return connection


def _connected_to_read(path: Path) -> sqlite3.Connection:
    mode = "mode=ro&immutable=1" if can_not_change(path) else "mode=ro"
    connection = _connect(f"{path.absolute().as_uri()}?{mode}", uri=True)
    connection.execute("PRAGMA query_only = 1")
    return connection


def can_not_change(path: Path) -> bool:
    """Say whether nobody here can be writing: then SQLite needs no files beside its own.

    That is so in a folder that may not be written, and on a disk that has no room for them.
    """
    if not os.access(path.parent, os.W_OK):
        return not path.with_name(path.name + "-wal").exists()
    return path.is_file() and not _has_room_beside(path)


def _has_room_beside(path: Path) -> bool:
    """Say whether SQLite finds what it needs beside *path* to read it, or can make it."""
    wal, index = (_size(path.with_name(path.name + suffix)) for suffix in ("-wal", "-shm"))
    if wal or index >= _INDEX_BYTES:
        return True  # who has it open, or had it, made them
    try:
        with closing(_connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.execute("PRAGMA schema_version")
    except sqlite3.OperationalError as error:
        return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF not in _NO_ROOM
    except sqlite3.DatabaseError:
        return True
    return True


def _size(path: Path) -> int:
    with suppress(OSError):
        return path.stat().st_size
    return 0


_INDEX_BYTES: Final = 32_768  # of the file beside a write-ahead log; a shorter one is nobody's
_NO_ROOM: Final = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN}


def _connect(target: str, *, uri: bool) -> sqlite3.Connection:
    return sqlite3.connect(
        target,
        uri=uri,
        timeout=BUSY_SECONDS_MAX,
        isolation_level=None,  # we say BEGIN ourselves
        check_same_thread=False,
    )


@contextmanager
def transaction(connection: sqlite3.Connection, *, store: Path | str) -> Iterator[None]:
    """Run the block as one transaction: all of it or nothing, also when it raises."""
    with speaking_of(store):
        connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        with speaking_of(store):
            connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def speaking_of(store: Path | str) -> Iterator[None]:
    """Turn SQLite's and the disk's errors into ours."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError):
            raise  # our own mistake
        raise _translated(error, str(store)) from error
    except OSError as error:
        raise refused(str(store), error) from error


def _translated(error: sqlite3.DatabaseError, store: str) -> MnemologError:
    code = int(getattr(error, "sqlite_errorcode", 0) or 0)
    is_short = code == sqlite3.SQLITE_IOERR_SHORT_READ
    is_damage = is_short or is_undecodable(error)
    if is_damage or not isinstance(error, sqlite3.OperationalError):
        return Damaged(store, str(error))
    return StoreUnavailable(store, str(error), hint=_HINTS.get(code & 0xFF))


_HINTS: Final = {
    sqlite3.SQLITE_FULL: HINT_FULL,
    sqlite3.SQLITE_READONLY: HINT_RIGHTS,
    sqlite3.SQLITE_PERM: HINT_RIGHTS,
    sqlite3.SQLITE_CANTOPEN: HINT_RIGHTS,
    sqlite3.SQLITE_IOERR: "The disk refused: is it full, limited or failing? Nothing was applied.",
}


def chunks(items: Sequence[T], *, items_max: int = PARAMETERS_MAX) -> Iterator[Sequence[T]]:
    """Yield *items* in runs that fit one statement's parameters; none yields none."""
    for start in range(0, len(items), items_max):
        yield items[start : start + items_max]


def marks(items: Sequence[object]) -> str:
    """Return a parameter mark for each of *items*, for an IN list."""
    return ",".join("?" * len(items))
