"""How the index's table is reached. LanceDB is imported here, late, and its errors end here."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from mnemolog.projections.memories.lance_schema import FOLDER, TABLE
from mnemolog.schemas.errors import MnemologError, StoreUnavailable

# What LanceDB raises: its own errors come as RuntimeError, ValueError or OSError.
_DRIVER_ERRORS: Final = (RuntimeError, ValueError, OSError, TypeError)


def connected(folder: Path) -> Any:
    """Return a connection to the index of the generation in *folder*."""
    if "LANCEDB_LOG" not in os.environ:  # it warns of ordinary calls, on standard error
        os.environ["LANCEDB_LOG"] = "error"
    import lancedb  # noqa: PLC0415 - it takes a second

    return lancedb.connect(folder / FOLDER)


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
    """Turn the driver's errors into ours."""
    try:
        yield
    except MnemologError:
        raise
    except _DRIVER_ERRORS as error:
        raise StoreUnavailable(str(folder / FOLDER), str(error)) from error
