"""The vector cache on disk: one SQLite file in WAL mode that several processes share.

A damaged file is set aside and started anew, since it only saves work: so a call either works
on a sound file or raises StoreUnavailable (locked for too long, disk full). Two processes that
find the damage at once may both set a file aside; that costs vectors, never wrong ones. A file
that a later release wrote is left as it is: NewerRelease.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from threading import Lock
from typing import Final, TypeVar
from zlib import crc32

from mnemolog.projections.generations import clear_the_way
from mnemolog.projections.memories.embedding import Vector
from mnemolog.projections.memories.vector_cache import vector_bytes, vector_of
from mnemolog.projections.sqlite_damage import faults, refuse_remains
from mnemolog.projections.sqlite_store import open_store, speaking_of
from mnemolog.schemas.errors import Damaged, NewerRelease

BUSY_SECONDS_MAX: Final = 30.0
OPEN_ATTEMPTS_MAX: Final = 100
_OPEN_PAUSE_SECONDS: Final = 0.05
_SQL_PARAMETERS_MAX: Final = 500
DAMAGED_SUFFIX: Final = ".damaged"  # of a file that was set aside
FORMAT: Final = 1  # PRAGMA user_version; an earlier one is set aside
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS vectors (
    key TEXT NOT NULL PRIMARY KEY, vector BLOB NOT NULL, checksum INTEGER NOT NULL
)
"""
_DAMAGED: Final = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_GONE: Final = (sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_READONLY_DBMOVED)

Answer = TypeVar("Answer")


class SQLiteVectorCache:
    """A `VectorCache` in the file *path*; its folder is made. Open it anew after a fork."""

    def __init__(self, path: Path | str) -> None:
        self._path = Path(path)
        self._lock = Lock()
        self._connection, self._inode = _sound_or_new(self._path)

    def get_many(self, keys: Iterable[str]) -> dict[str, Vector]:
        """Return the vectors that are there and pass the checks."""
        wanted = list(dict.fromkeys(keys))
        rows = self._working(lambda connection: _rows(connection, wanted))
        found = {
            key: vector_of(stored) for key, stored, checksum in rows if crc32(stored) == checksum
        }
        return {key: vector for key, vector in found.items() if vector is not None}

    def put_many(self, vectors: Mapping[str, Vector]) -> None:
        """Keep *vectors*, all or none."""
        stored = [(key, vector_bytes(vector)) for key, vector in sorted(vectors.items())]
        rows = [(key, vector, crc32(vector)) for key, vector in stored]
        self._working(lambda connection: _write(connection, _PUT, rows))

    def delete_many(self, keys: Iterable[str]) -> None:
        """Forget *keys*, and empty the write-ahead log of them."""
        rows = [(key,) for key in keys]
        self._working(lambda connection: _write(connection, _DELETE, rows))
        self._working(lambda connection: connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))

    def count(self) -> int:
        """Return how many vectors there are."""
        rows = self._working(lambda connection: connection.execute(_COUNT).fetchall())
        return int(rows[0][0])

    def set_aside_if_damaged(self) -> int:
        """Begin anew if the file is damaged; return how many vectors there are then."""
        with self._lock:
            damaged = faults(self._connection, deep=True)
            if damaged:
                self._start_anew()
        return self.count()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _working(self, action: Callable[[sqlite3.Connection], Answer]) -> Answer:
        """Return what *action* does, on a new file if this one is damaged."""
        with speaking_of(f"vector cache {self._path}"), self._lock:
            try:
                return action(self._connection)
            except sqlite3.DatabaseError as error:
                if _code(error) not in (*_DAMAGED, *_GONE):
                    raise
                self._start_anew()
                return action(self._connection)

    def _start_anew(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()
        _set_aside(self._path, inode=self._inode)
        self._connection, self._inode = _sound_or_new(self._path)


def faults_of(path: Path) -> int:
    """Return how many vectors the file *path* has, and leave it as it is; 0 where there is none.

    Raises Damaged, NewerRelease, or StoreUnavailable.
    """
    if not path.exists():
        return 0
    refuse_remains(path)
    with speaking_of(path), closing(open_store(path, schema="", read_only=True)) as store:
        version = store.execute("PRAGMA user_version").fetchone()[0]
        if version > FORMAT:
            raise NewerRelease(str(path), f"format {version}; this one reads {FORMAT}")
        found = faults(store, deep=True)
        if found:
            raise Damaged(str(path), found[0])
        return int(store.execute(_COUNT).fetchone()[0])


_PUT: Final = "INSERT OR REPLACE INTO vectors (key, vector, checksum) VALUES (?, ?, ?)"
_DELETE: Final = "DELETE FROM vectors WHERE key = ?"
_COUNT: Final = "SELECT count(*) FROM vectors"


def _rows(connection: sqlite3.Connection, keys: list[str]) -> list[tuple[str, bytes, int]]:
    rows: list[tuple[str, bytes, int]] = []
    for start in range(0, len(keys), _SQL_PARAMETERS_MAX):
        chunk = keys[start : start + _SQL_PARAMETERS_MAX]
        marks = ", ".join("?" * len(chunk))
        select = f"SELECT key, vector, checksum FROM vectors WHERE key IN ({marks})"  # noqa: S608 - marks only
        rows += connection.execute(select, chunk).fetchall()
    return rows


def _write(
    connection: sqlite3.Connection, statement: str, rows: Sequence[tuple[object, ...]]
) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany(statement, rows)
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _sound_or_new(path: Path) -> tuple[sqlite3.Connection, int]:
    """Return an open connection and the inode of its file; a damaged file is set aside."""
    with speaking_of(f"vector cache {path}"):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            refuse_remains(path)
            return _opened(path)
        except (Damaged, sqlite3.DatabaseError) as error:
            if isinstance(error, sqlite3.Error) and _code(error) not in (*_DAMAGED, *_GONE):
                raise
            _set_aside(path, inode=_inode(path))
            return _opened(path)


def _opened(path: Path) -> tuple[sqlite3.Connection, int]:
    """Open *path*; processes that turn it to WAL at the same time wait for one another."""
    for _ in range(OPEN_ATTEMPTS_MAX - 1):
        try:
            return _connected(path), _inode(path)
        except sqlite3.OperationalError as error:
            if _code(error) != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(_OPEN_PAUSE_SECONDS)
    return _connected(path), _inode(path)


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS_MAX, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")  # a cache may lose its last commits
        connection.execute("PRAGMA secure_delete = ON")
        _check_format(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        connection.execute(_SCHEMA)
        connection.execute(f"PRAGMA user_version = {FORMAT}")
    elif version > FORMAT:
        raise NewerRelease(str(path), f"format {version}; this one reads {FORMAT}")
    elif version != FORMAT:
        other = sqlite3.DatabaseError(f"format {version} instead of {FORMAT}")
        other.sqlite_errorcode = sqlite3.SQLITE_NOTADB
        raise other
    connection.execute("SELECT key, vector, checksum FROM vectors LIMIT 1").fetchall()


def _set_aside(path: Path, *, inode: int) -> None:
    """Rename the file and what belongs to it, unless another process has already done so."""
    if _inode(path) != inode:
        return
    for suffix in ("", "-wal", "-shm"):
        found, aside = Path(f"{path}{suffix}"), Path(f"{path}{DAMAGED_SUFFIX}{suffix}")
        if found.exists():
            clear_the_way(aside)
            with suppress(FileNotFoundError):
                found.replace(aside)


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0


def _code(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0))
