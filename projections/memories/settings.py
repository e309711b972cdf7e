"""What a generation's `state.db` says of itself: its embedder, its owner, whether to scrub."""

import sqlite3
from pathlib import Path

from mnemolog.projections.generations import DESCRIPTION, described
from mnemolog.projections.sqlite_store import speaking_of, transaction
from mnemolog.schemas.errors import InvalidSetting, LeaseHeld

_REBUILD = "run `mnemolog rebuild memories` to embed with another"


class Settings:
    """The settings over a connection with `STATE_SCHEMA`."""

    def __init__(self, connection: sqlite3.Connection, *, store: Path) -> None:
        self._connection = connection
        self._store = store

    def check_embedder(self, folder: Path, *, model_id: str, dimensions: int) -> None:
        """Note the embedder of a new generation. Raises InvalidSetting if it has another one.

        A description beside the store, if there is one, has to name the same.
        """
        check_description(folder, model_id=model_id)
        wanted = {"embedder": model_id, "dimensions": str(dimensions)}
        with transaction(self._connection, store=self._store), speaking_of(self._store):
            for name, value in wanted.items():
                found = self._get(name)
                if found is None:
                    self._set(name, value)
                elif found != value:
                    limit = f"this generation's vectors are of {found}; {_REBUILD}"
                    raise InvalidSetting(name, value, limit)

    def own(self, epoch: int) -> int:
        """Become the owner under *epoch*, or under the last one if that was later; return it."""
        with transaction(self._connection, store=self._store), speaking_of(self._store):
            ours = max(epoch, int(self._get("epoch") or 0))
            self._set("epoch", str(ours))
            return ours

    def check_owner(self, epoch: int) -> None:
        """Raise LeaseHeld if a later owner has opened the generation."""
        found = int(self._get("epoch") or 0)
        if found != epoch:
            raise LeaseHeld(str(self._store), f"the owner of epoch {found}; this is {epoch}")

    def ask_for_scrub(self) -> None:
        """Note, in the caller's transaction, that forgotten bytes are still in the files."""
        self._set("scrub", "due")

    def scrub_is_due(self) -> bool:
        """Say whether forgotten bytes are still in the files."""
        with speaking_of(self._store):
            return self._get("scrub") is not None

    def scrubbed(self) -> None:
        """Note that the index is scrubbed, and empty the state's own write-ahead log."""
        with speaking_of(self._store):
            self._connection.execute("DELETE FROM settings WHERE name = 'scrub'")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _get(self, name: str) -> str | None:
        row = self._connection.execute("SELECT value FROM settings WHERE name = ?", [name])
        found = row.fetchone()
        return None if found is None else str(found[0])

    def _set(self, name: str, value: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO settings VALUES (?,?)", [name, value])


def check_description(folder: Path, *, model_id: str) -> None:
    """Raise InvalidSetting if the generation in *folder* is described as another embedder's."""
    if (folder / DESCRIPTION).exists():
        found = described(folder).options.get("embedder", model_id)
        if found != model_id:
            limit = f"this generation was built with {found}; {_REBUILD}"
            raise InvalidSetting("embedder", model_id, limit)
