"""SQLite files of projections: how they are opened, locked for a transaction, and complained of.

WAL, so that other processes read while the owner writes. A commit is durable against a crash of
the process; after a power cut the log brings back what the last commits held.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

from mnemolog.schemas.errors import Damaged, StoreUnavailable

BUSY_SECONDS_MAX: Final = 10.0
PARAMETERS_MAX: Final = 500  # of one statement; SQLite's own bound is higher


T = TypeVar("T")


def open_store(path: Path, *, schema: str, read_only: bool = False) -> sqlite3.Connection:
    """Return a connection to the store at *path*, made with *schema* where it is new.

    The connection may pass between threads, one at a time. Raises StoreUnavailable or Damaged.
    """
    with speaking_of(path):
        if read_only:
            target = f"{path.absolute().as_uri()}?mode=ro"
            connection = _connect(target, uri=True)
            connection.execute("PRAGMA query_only = 1")
            return connection
        path.parent.mkdir(parents=True, exist_ok=True)
        connection = _connect(str(path), uri=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.executescript(schema)
        return connection


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
        if isinstance(error, sqlite3.OperationalError):
            raise StoreUnavailable(str(store), str(error)) from error
        raise Damaged(str(store), str(error)) from error
    except OSError as error:
        raise StoreUnavailable(str(store), str(error)) from error


def chunks(items: Sequence[T], *, items_max: int = PARAMETERS_MAX) -> Iterator[Sequence[T]]:
    """Yield *items* in runs that fit one statement's parameters; none yields none."""
    for start in range(0, len(items), items_max):
        yield items[start : start + items_max]


def marks(items: Sequence[object]) -> str:
    """Return a parameter mark for each of *items*, for an IN list."""
    return ",".join("?" * len(items))
