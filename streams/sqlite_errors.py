"""SQLite's errors of the embedded log in our words. Only here are its result codes told apart."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mnemolog.projections.sqlite_damage import is_undecodable
from mnemolog.schemas.errors import LogDamaged, LogUnavailable, MnemologError
from mnemolog.schemas.refusals import HINT_FULL, HINT_RIGHTS


@contextmanager
def speaking_of(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise _translated(error, str(path)) from error


def is_busy(error: sqlite3.Error) -> bool:
    """Say whether another connection was in the way."""
    return _code(error) in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


def _code(error: sqlite3.Error) -> int:
    code: Any = getattr(error, "sqlite_errorcode", 0)
    return int(code or 0) & 0xFF  # the rest says more than we ask


def _translated(error: sqlite3.Error, path: str) -> MnemologError:
    code = _code(error)
    if is_busy(error):
        return LogUnavailable(path, "another process kept it locked all the while")
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB} or (
        isinstance(error, sqlite3.DatabaseError) and is_undecodable(error)
    ):
        return LogDamaged(path, str(error))
    if isinstance(error, sqlite3.ProgrammingError):
        return LogUnavailable(path, "this handle was closed")
    reason, hint = _REASONS.get(code, (str(error), None))
    return LogUnavailable(path, reason, hint=hint)


_REASONS: Final = {
    sqlite3.SQLITE_FULL: ("the disk is full", HINT_FULL),
    sqlite3.SQLITE_READONLY: ("it or its folder may not be written", HINT_RIGHTS),
    sqlite3.SQLITE_PERM: ("it or its folder may not be written", HINT_RIGHTS),
    sqlite3.SQLITE_CANTOPEN: ("it can't be opened; may its folder be written?", HINT_RIGHTS),
    sqlite3.SQLITE_IOERR: ("the disk refused; is it full, limited or failing?", HINT_FULL),
}
