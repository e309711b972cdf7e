"""What the content digest covers of the checkpoints: as served, from the files and the index.

No position, no time of the log, no file name. Governance events are left out: a log has one copy
of them for each partition, and the digest must not depend on how many there are.
"""

import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from mnemolog.projections.checkpoints.file_format import SnapshotFiles
from mnemolog.projections.digests import ContentRow
from mnemolog.projections.sqlite_store import marks
from mnemolog.schemas.checkpoint import embedding_text
from mnemolog.schemas.errors import Damaged
from mnemolog.schemas.events import GOVERNANCE

_GOVERNANCE: Final = tuple(event.event_type for event in GOVERNANCE)
_SCOPE: Final = ("agent", "user", "project", "session", "task")


def covered_rows(connection: sqlite3.Connection, files: SnapshotFiles) -> Iterator[ContentRow]:
    """Yield the rows that the digest covers, in any order."""
    yield from _events(connection)
    yield from _actions(connection)
    yield from _checkpoints(connection, files)


def _events(connection: sqlite3.Connection) -> Iterator[ContentRow]:
    columns = ("type", "guest", "event_id", "occurred_at", "text", "cause", *_SCOPE)
    rows = connection.execute(
        f"SELECT identity, key, {', '.join(columns)} FROM timeline"  # noqa: S608 - ours
        f" WHERE guest = 1 OR type NOT IN ({marks(_GOVERNANCE)})",
        _GOVERNANCE,
    )
    for identity, key, *values in rows:
        yield ContentRow(key, "timeline", identity.hex(), dict(zip(columns, values, strict=True)))


def _actions(connection: sqlite3.Connection) -> Iterator[ContentRow]:
    columns = ("action", "part", "tool", "success", "costly")
    rows = connection.execute(
        f"SELECT t.identity, a.key, {', '.join(columns)}"  # noqa: S608 - ours
        ' FROM actions a JOIN timeline t USING (partition, "offset")'
    )
    for identity, key, *values in rows:
        yield ContentRow(key, "actions", identity.hex(), dict(zip(columns, values, strict=True)))


def _checkpoints(connection: sqlite3.Connection, files: SnapshotFiles) -> Iterator[ContentRow]:
    rows = connection.execute(
        "SELECT t.identity, t.event_id, t.occurred_at, c.key, c.id, c.agent, c.task, c.parent,"
        ' c.tags, c.file FROM checkpoints c JOIN timeline t USING (partition, "offset")'
    )
    columns = ("event_id", "occurred_at", "id", "agent", "task", "parent", "tags")
    for identity, event_id, occurred_at, key, *values, file in rows:
        covered = dict(zip(columns, (event_id, occurred_at, *values), strict=True))
        covered.update(_from_file(files, file))
        yield ContentRow(key, "checkpoints", identity.hex(), covered)


def _from_file(files: SnapshotFiles, name: str) -> dict[str, Any]:
    """Return what a file says; a damaged one makes the row differ, and the reason can be read.

    To read a file is to check that its name is the digest of what it says.
    """
    try:
        checkpoint = files.read(name).checkpoint
    except Damaged as error:
        return {"damaged": str(error)}
    return {"digest": name, "text": embedding_text(checkpoint)}
