"""A SQLite file, read to its last page."""

from contextlib import closing
from pathlib import Path

from mnemolog.projections.sqlite_damage import faults, refuse_remains
from mnemolog.projections.sqlite_store import open_store, speaking_of
from mnemolog.schemas.errors import Damaged


def read_whole(path: Path) -> None:
    """Read all pages of the store at *path*, and leave it as it is.

    Raises Damaged where it is gone, holds nothing or can't be read, StoreUnavailable where the
    disk refuses.
    """
    if not path.exists():
        raise Damaged(str(path), "it is gone")
    refuse_remains(path)
    with speaking_of(path), closing(open_store(path, schema="", read_only=True)) as store:
        found = faults(store, deep=True)
        if not found and not store.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            found = ["it is empty"]  # to SQLite that is a sound file, too
    if found:
        raise Damaged(str(path), found[0])
