"""How the index was looked after, noted in the state so that any process can tell of it."""

import json
import sqlite3
from dataclasses import asdict, dataclass
from typing import Final

from mnemolog.schemas.text import cut

_NAME: Final = "upkeep"  # among the state's settings
_ERROR_CHARACTERS_MAX: Final = 300


@dataclass(frozen=True, slots=True)
class Upkeep:
    """How maintenance went: `failures` in a row with the last one's `error`.

    `live_bytes` are those of the rows that were served when it last succeeded; what the index
    takes on the disk beyond some times as much is old versions that nobody deleted.
    """

    failures: int = 0
    error: str | None = None
    live_bytes: int = 0


def upkeep_in(connection: sqlite3.Connection) -> Upkeep:
    """Return what was noted; nothing yet is a run that did not fail."""
    row = connection.execute("SELECT value FROM settings WHERE name = ?", [_NAME]).fetchone()
    return Upkeep() if row is None else Upkeep(**json.loads(row[0]))


def note_failure(connection: sqlite3.Connection, error: str) -> None:
    """Note that one more run failed, in the caller's transaction."""
    before = upkeep_in(connection)
    said = cut(error, characters_max=_ERROR_CHARACTERS_MAX)
    _note(connection, Upkeep(before.failures + 1, said, before.live_bytes))


def note_success(connection: sqlite3.Connection, *, live_bytes: int) -> None:
    """Note that a run did what was due, in the caller's transaction."""
    _note(connection, Upkeep(live_bytes=live_bytes))


def _note(connection: sqlite3.Connection, upkeep: Upkeep) -> None:
    value = json.dumps(asdict(upkeep))
    connection.execute("INSERT OR REPLACE INTO settings VALUES (?,?)", [_NAME, value])
