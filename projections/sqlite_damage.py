"""What is wrong with a SQLite file, where SQLite itself would not say so when it opens it.

SQLite keeps no checksums of pages. It takes a file that was cut short for one whose last rows
are zeros, an empty one for a new one, and complains of the rest only when it comes across it.
"""

import sqlite3
import struct
from pathlib import Path
from typing import Final

from mnemolog.schemas.errors import Damaged

FOUND_MAX: Final = 10  # faults that are named of one file
_HEADER_BYTES: Final = 100
_BESIDE: Final = ("-wal", "-shm")


def refuse_remains(path: Path) -> None:
    """Raise Damaged if what stands at *path*, or beside it, can't be what SQLite left there."""
    for one in (path, *(path.with_name(path.name + suffix) for suffix in _BESIDE)):
        if one.exists() and not one.is_file():
            raise Damaged(str(one), "it is no file")
    missing = _bytes_missing(path)
    if missing:
        raise Damaged(str(path), f"it was cut short by {missing} bytes")


def check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Raise Damaged, naming the first fault, if the pages of *path* don't fit together."""
    found = faults(connection, deep=False)
    if found:
        raise Damaged(str(path), found[0])


def faults(connection: sqlite3.Connection, *, deep: bool) -> list[str]:
    """Return what is wrong with a store's pages; *deep* compares indices with their tables, too."""
    name = "integrity_check" if deep else "quick_check"
    try:
        rows = connection.execute(f"PRAGMA {name}({FOUND_MAX})").fetchall()
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.OperationalError):
            raise
        return [str(error)]
    return [str(said).replace("\n", " ") for (said,) in rows if said != "ok"]


def is_undecodable(error: sqlite3.DatabaseError) -> bool:
    """Say whether *error* is of a text whose bytes are no longer one: SQLite does not look."""
    return str(error).startswith("Could not decode to UTF-8")


def _bytes_missing(path: Path) -> int:
    """Return how many bytes the header tells of that are not there.

    Nothing is said of a file beside which a write-ahead log stands: that may hold them.
    """
    wal = path.with_name(path.name + "-wal")
    if not path.exists() or (wal.exists() and wal.stat().st_size):
        return 0
    with path.open("rb") as file:
        header = file.read(_HEADER_BYTES)
    size = path.stat().st_size
    if len(header) < _HEADER_BYTES or not header.startswith(b"SQLite format 3\0"):
        return 0  # empty, or something else: SQLite says so
    (page,) = struct.unpack_from(">H", header, 16)
    changed, pages = struct.unpack_from(">II", header, 24)
    (counted_at,) = struct.unpack_from(">I", header, 92)
    if changed != counted_at:  # by an old writer that did not count
        return 0
    expected = int(pages) * (65_536 if page == 1 else int(page))
    return max(0, expected - size)
