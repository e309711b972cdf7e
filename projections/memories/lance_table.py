"""How the index's table is reached. LanceDB is imported here, late, and its errors end here."""

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mnemolog.projections.memories.lance_schema import FOLDER, TABLE
from mnemolog.schemas.errors import Damaged, MnemologError, StoreUnavailable
from mnemolog.schemas.refusals import refused

READER_CACHE_BYTES: Final = 268_435_456
WRITER_CACHE_BYTES: Final = 8_388_608  # it reads little twice; more made writes no quicker

# What LanceDB raises: its own errors come as RuntimeError, ValueError or OSError.
_DRIVER_ERRORS: Final = (RuntimeError, ValueError, OSError, TypeError)
_PANICS: Final = frozenset({"RustPanic", "PanicException"})  # over bytes that it did not expect
_ERRNO: Final = re.compile(r"\(os error (\d+)\)|\[Errno (\d+)\]")
_IN_THE_WAY: Final = frozenset({errno.ENOTDIR, errno.EISDIR, errno.EEXIST})  # nothing of ours
_PASSING: Final = ("timed out", "timeout", "conflict", "too many concurrent")  # a retry may do


def connected(folder: Path, *, cache_bytes: int = READER_CACHE_BYTES) -> Any:
    """Return a connection to the index of the generation in *folder*.

    LanceDB may keep *cache_bytes* of indices in memory, and as much of what describes its files:
    of itself it would keep gigabytes, which a long import fills.
    """
    if "LANCEDB_LOG" not in os.environ:  # it warns of ordinary calls, on standard error
        os.environ["LANCEDB_LOG"] = "error"
    import lancedb  # noqa: PLC0415 - it takes a second

    session = lancedb.Session(
        index_cache_size_bytes=cache_bytes, metadata_cache_size_bytes=cache_bytes
    )
    return lancedb.connect(folder / FOLDER, session=session)


def opened(connection: Any) -> Any | None:
    """Return the table as it is now, or None if there is none."""
    try:
        return connection.open_table(TABLE)
    except _DRIVER_ERRORS as error:
        if is_missing(error):
            return None
        raise


def is_missing(error: BaseException) -> bool:
    """Say whether *error* tells that the table, or a file of the version read, is gone."""
    return "not found" in str(error).lower()


@contextmanager
def speaking_of_index(folder: Path) -> Iterator[None]:
    """Turn the driver's errors into ours.

    What the disk refuses, and what passes, is StoreUnavailable. Everything else is Damaged: the
    driver tells of it in words that change, and an index is opened anew at little cost.
    """
    try:
        yield
    except MnemologError:
        raise
    except _DRIVER_ERRORS as error:
        raise _translated(error, folder / FOLDER) from error
    except BaseException as error:
        if type(error).__name__ not in _PANICS:
            raise
        raise Damaged(str(folder / FOLDER), "the driver could not read it") from error


def _translated(error: Exception, index: Path) -> MnemologError:
    said = str(error).partition("\n")[0]
    named = _ERRNO.search(str(error))
    if named is not None:
        number = int(named[1] or named[2])
        if number not in _IN_THE_WAY:
            return refused(str(index), OSError(number, said))
    elif any(word in said.lower() for word in _PASSING):
        return StoreUnavailable(str(index), said)
    return Damaged(str(index), said)
