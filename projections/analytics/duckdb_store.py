"""DuckDB files of ours: how they are opened, locked for a transaction, and complained of.

Every file is attached to an instance in memory, never opened as the main database: so the size of
row groups and the storage version can be said, and a replaced file is never taken for a former
one that some other connection of this process still holds. Nothing here touches the network.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import duckdb

from mnemolog.schemas.errors import Damaged, StoreUnavailable
from mnemolog.schemas.refusals import HINT_FULL, HINT_IN_THE_WAY, HINT_RIGHTS, refused

MEMORY_LIMIT: Final = "1GB"  # of the writer at work; what needs more is spilt beside the file
RESTING_LIMIT: Final = "96MB"  # of what it keeps to be quick, once it has let go
THREADS: Final = 1  # a second one gains nothing and takes from the other projections
# Of the write-ahead log: rows stay in memory until then. Smaller ones recompress too often.
CHECKPOINT_THRESHOLD: Final = "32MB"
ROW_GROUP_ROWS: Final = 20_480
STORAGE_VERSION: Final = "v1.2.0"  # DuckDB 1.5 opens what DuckDB 2 wrote
_OFFLINE: Final = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_DAMAGE: Final = (
    *("corrupt", "checksum", "not a valid duckdb", "replaying", "serializ", "truncat"),
    "could not read enough",
)


def instance(**settings: str) -> duckdb.DuckDBPyConnection:
    """Return a connection to an empty instance in memory that never asks the network."""
    connection = duckdb.connect(":memory:", config={**_OFFLINE, **settings})
    # Else a misspelt table would be looked for among the variables of our own functions.
    connection.execute("SET python_enable_replacements = false")
    return connection


def open_live(path: Path) -> duckdb.DuckDBPyConnection:
    """Return a connection that writes *path*, attached as `live` and in use.

    Raises StoreUnavailable while another process has it open, Damaged if it can't be read.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with speaking_of(path):
        connection = instance(
            threads=str(THREADS),
            memory_limit=MEMORY_LIMIT,
            temp_directory=str(path.parent / "spilt"),
            checkpoint_threshold=CHECKPOINT_THRESHOLD,
        )
        try:
            attach(connection, path, name="live", row_group_rows=ROW_GROUP_ROWS)
            connection.execute("USE live")
        except BaseException:
            connection.close()
            raise
        return connection


def let_go(connection: duckdb.DuckDBPyConnection) -> None:
    """Give back what the writer's instance holds in memory beyond `RESTING_LIMIT`.

    Those are pages of its files, which it would keep until the memory is full. A low limit at all
    times would not do: one batch of long texts needs many times their size.
    """
    try:
        with suppress(duckdb.OutOfMemoryException):  # it gave back what it could
            connection.execute(f"SET memory_limit = '{RESTING_LIMIT}'")
    finally:
        connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")


def attach(
    connection: duckdb.DuckDBPyConnection, path: Path, *, name: str, row_group_rows: int
) -> None:
    """Attach the file at *path* for writing as *name*; make it where there is none."""
    options = f"ROW_GROUP_SIZE {row_group_rows}, STORAGE_VERSION '{STORAGE_VERSION}'"
    connection.execute(f"ATTACH {quoted(path)} AS {name} ({options})")


def quoted(text: object) -> str:
    """Return *text* as a SQL literal, where a statement takes no parameters.

    >>> quoted("it's")
    "'it''s'"
    """
    return "'" + str(text).replace("'", "''") + "'"


@contextmanager
def transaction(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run the block as one transaction: all of it or nothing, also when it raises."""
    connection.execute("BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with suppress(duckdb.Error):  # a failed commit has rolled back already
            connection.execute("ROLLBACK")
        raise


@contextmanager
def speaking_of(store: Path | str) -> Iterator[None]:
    """Turn DuckDB's and the disk's errors into ours; what a value or a statement caused passes."""
    try:
        yield
    except duckdb.Error as error:
        if is_of_a_row(error) or isinstance(error, duckdb.ProgrammingError):
            raise
        if _is_damage(error):
            raise Damaged(str(store), _first_line(error)) from error
        raise StoreUnavailable(str(store), _first_line(error), hint=_hint(error)) from error
    except OSError as error:
        raise refused(str(store), error) from error
    except MemoryError as error:
        raise StoreUnavailable(str(store), f"out of memory: {error}") from error


def is_of_a_row(error: Exception) -> bool:
    """Say whether a value is at fault, and neither the store nor a statement of ours.

    What is no error of DuckDB's or of the disk's came about on a value's way there.
    """
    if isinstance(error, duckdb.Error):
        faults = (duckdb.DataError, duckdb.IntegrityError, duckdb.InvalidInputException)
        return isinstance(error, faults)
    return not isinstance(error, OSError | MemoryError | StoreUnavailable | Damaged)


def _is_damage(error: duckdb.Error) -> bool:
    if isinstance(error, duckdb.InternalError | duckdb.FatalException):
        return True
    return any(word in str(error).lower() for word in _DAMAGE)


def _hint(error: duckdb.Error) -> str | None:
    return next((hint for words, hint in _HINTS.items() if words in str(error)), None)


_HINTS: Final = {
    "No space left": HINT_FULL,
    "File too large": HINT_FULL,
    "Disk quota": HINT_FULL,
    "Permission denied": HINT_RIGHTS,
    "Read-only file system": HINT_RIGHTS,
    "Is a directory": HINT_IN_THE_WAY,
}


def _first_line(error: duckdb.Error) -> str:
    return str(error).partition("\n")[0]
