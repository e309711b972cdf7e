"""Can every checkpoint's file be read? Asked by `doctor`; readers read the log instead."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from mnemolog.projections.checkpoints.file_format import SnapshotFiles
from mnemolog.projections.checkpoints.sqlite_index import FILES_FOLDER, INDEX_FILE
from mnemolog.projections.sqlite_store import open_store, speaking_of
from mnemolog.schemas.errors import Damaged

_FILES = "SELECT DISTINCT file FROM checkpoints ORDER BY file"
_USED = "SELECT 1 FROM checkpoints WHERE file = ? LIMIT 1"


def damaged_files(folder: Path) -> Iterator[Damaged]:
    """Yield what is wrong with each damaged or missing file of the generation in *folder*.

    What is forgotten meanwhile is no fault. Raises Damaged where the index can't be read.
    """
    path, files = folder / INDEX_FILE, SnapshotFiles(folder / FILES_FOLDER)
    with speaking_of(path), closing(open_store(path, schema="", read_only=True)) as index:
        for (name,) in index.execute(_FILES).fetchall():
            try:
                files.read(name)
            except Damaged as error:
                if _is_used(index, name):
                    yield error


def _is_used(index: sqlite3.Connection, name: str) -> bool:
    return index.execute(_USED, [name]).fetchone() is not None
