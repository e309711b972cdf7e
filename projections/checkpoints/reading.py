"""Asking the checkpoints: any process may, while the owner writes. Reads, and never writes.

Order is by position within a key and never by time; a parent is found by its pointer alone. A
damaged file is read from the log instead; without a log it is named, and never hides the one
before it.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from mnemolog.projections.checkpoints import queries
from mnemolog.projections.checkpoints.file_format import SnapshotFiles
from mnemolog.projections.checkpoints.loading import ALONE, Sources, load
from mnemolog.projections.checkpoints.queries import Where
from mnemolog.projections.checkpoints.sqlite_index import FILES_FOLDER, INDEX_FILE, INDEX_SCHEMA
from mnemolog.projections.checkpoints.stored import (
    Action,
    ActionStatus,
    Ancestry,
    Following,
    Newest,
    SavedCheckpoint,
    StoredCheckpoint,
    TimelineEntry,
)
from mnemolog.projections.checkpoints.weaving import newest_first, woven
from mnemolog.projections.sqlite_store import open_store, speaking_of
from mnemolog.schemas.errors import Circular, Damaged, NotFound
from mnemolog.schemas.positions import Position

__all__ = ["CheckpointReader", "TimelineEntry"]

EVENTS_MAX: Final = 200  # of a timeline, unless asked otherwise
CHECKPOINTS_MAX: Final = 50  # of a list, unless asked otherwise
ACTIONS_MAX: Final = 1_000
DAMAGED_MAX: Final = 100  # damaged checkpoints that are passed in search of a sound one
ANCESTORS_MAX: Final = 10_000
_PAGE_ROWS: Final = 64
_OFFSET_MAX: Final = 2**63 - 1

Row = TypeVar("Row", TimelineEntry, SavedCheckpoint)


class CheckpointReader:
    """Answers from one generation. Any thread may use it."""

    def __init__(self, folder: Path, connection: sqlite3.Connection, sources: Sources) -> None:
        self._store = folder / INDEX_FILE
        self._connection = connection
        self._files = SnapshotFiles(folder / FILES_FOLDER)
        self._sources = sources
        self._lock = threading.Lock()

    @classmethod
    def open(cls, folder: Path, *, sources: Sources = ALONE) -> Self:
        """Open the generation in *folder* for reading. Raises StoreUnavailable or Damaged."""
        store = open_store(folder / INDEX_FILE, schema=INDEX_SCHEMA, read_only=True)
        return cls(folder, store, sources)

    def close(self) -> None:
        """Let go of the index. Harmless twice."""
        with self._lock:
            self._connection.close()

    # Checkpoints

    def newest(
        self,
        *,
        task: str | None = None,
        agent: str | None = None,
        before: datetime | None = None,
        known_at: Mapping[int, int] | None = None,
    ) -> Newest:
        """Return the newest sound checkpoint of *task* and *agent*, saved *before* a time.

        Damaged ones on the way to it are named. *known_at* looks at the log up to those offsets.
        """
        damaged: list[Damaged] = []
        where = Where().equal({"task": task, "agent": agent}, table="c")
        for saved in self._checkpoints(where.within(before=before, known_at=known_at)):
            try:
                return Newest(self.load(saved), tuple(damaged))
            except Damaged as error:
                damaged.append(error)
                if len(damaged) == DAMAGED_MAX:
                    break
            except NotFound:
                continue  # forgotten since its row was read
        return Newest(None, tuple(damaged))

    def list(
        self,
        *,
        task: str | None = None,
        agent: str | None = None,
        rows_max: int = CHECKPOINTS_MAX,
    ) -> Sequence[SavedCheckpoint]:
        """Return the last checkpoints of *task* and *agent*, the newest first; no file is read."""
        where = Where().equal({"task": task, "agent": agent}, table="c")
        return [*islice(self._checkpoints(where), max(rows_max, 0))]

    def get(self, checkpoint_id: str, *, agent: str | None = None) -> StoredCheckpoint:
        """Return the checkpoint of this id, the newest if several were saved under it.

        Raises NotFound, or Damaged as `load`.
        """
        saved = self._saved(checkpoint_id, agent=agent)
        if saved is None:
            raise NotFound("checkpoint", checkpoint_id)
        return self.load(saved)

    def load(self, saved: SavedCheckpoint) -> StoredCheckpoint:
        """Return *saved* whole. Raises as `loading.load` does."""
        return load(saved, files=self._files, sources=self._sources, is_known=self._is_known)

    def _is_known(self, file: str) -> bool:
        return next(self._checkpoints(Where().and_("c.file = ?", file)), None) is not None

    def ancestry(self, checkpoint_id: str, *, agent: str | None = None) -> Ancestry:
        """Return the checkpoint and its ancestors by their parent pointers alone.

        A parent is looked for under the child's key first. Raises NotFound for the checkpoint
        itself, and Circular, which names the ids, when a parent leads back.
        """
        saved = self._saved(checkpoint_id, agent=agent)
        if saved is None:
            raise NotFound("checkpoint", checkpoint_id)
        line = {saved.event.position: saved}
        while saved.parent is not None and len(line) < ANCESTORS_MAX:
            parent = self._saved(saved.parent, key=saved.event.key) or self._saved(saved.parent)
            if parent is None:
                return Ancestry(tuple(line.values()), missing=saved.parent)
            if parent.event.position in line:
                turn = [*line].index(parent.event.position)
                ids = [one.id for one in [*line.values()][turn:]]
                raise Circular("the ancestry of a checkpoint", [*ids, parent.id])
            line[parent.event.position] = saved = parent
        return Ancestry(tuple(line.values()))

    def _saved(
        self, checkpoint_id: str, *, agent: str | None = None, key: str | None = None
    ) -> SavedCheckpoint | None:
        named = {"id": checkpoint_id, "agent": agent, "key": key}
        return next(self._checkpoints(Where().equal(named, table="c")), None)

    # The timeline

    def timeline(
        self,
        *,
        agent: str | None = None,
        task: str | None = None,
        session: str | None = None,
        project: str | None = None,
        types: Sequence[str] = (),
        before: datetime | None = None,
        rows_max: int = EVENTS_MAX,
    ) -> Sequence[TimelineEntry]:
        """Return the last events of all that is named, the oldest first.

        *types* are written as in `TimelineEntry.type`; none means all.
        """
        named = {"agent": agent, "task": task, "session": session, "project": project}
        where = Where().equal(named, table="t").of_types(types)
        return self._last(where.within(before=before, known_at=None), rows_max)

    def events_after(
        self, position: Position, *, task: str | None = None, rows_max: int = EVENTS_MAX
    ) -> Following:
        """Return the last events of *task* that follow the event at *position*, the oldest first.

        Of the same key those are the events at later offsets; of others, between which there is
        no order, those that happened later. Without a task it is the event's own key's. Raises
        NotFound if there is no event.
        """
        here = Where().and_('t.partition = ? AND t."offset" = ?', *position)
        event = next(self._events(here), None)
        if event is None:
            raise NotFound("event", str(position))
        where = Where().following(event, task=task)
        events = self._last(where, rows_max)
        every = self._rows(queries.COUNT_EVENTS.format(where=where), where.values)[0][0]
        return Following(events, every - len(events))

    def places(self, event_id: str) -> Sequence[Position]:
        """Return where the events of this id stand; ids of several keys may be the same."""
        return [entry.position for entry in self.of_event(event_id)]

    def of_event(self, event_id: str) -> Sequence[TimelineEntry]:
        """Return the events of this id, those that were forgotten too."""
        return [*self._events(Where().is_("t.event_id", event_id))]

    def _last(self, where: Where, rows_max: int) -> tuple[TimelineEntry, ...]:
        return tuple(reversed([*islice(self._events(where), max(rows_max, 0))]))

    # Actions

    def pending_actions(
        self, task: str | None = None, *, agent: str | None = None, session: str | None = None
    ) -> Sequence[Action]:
        """Return the actions that were started and may still finish, the oldest first."""
        return self.actions(task, agent=agent, session=session, status=ActionStatus.PENDING)

    def orphaned_actions(
        self, task: str | None = None, *, agent: str | None = None, session: str | None = None
    ) -> Sequence[Action]:
        """Return the actions whose session or task ended without their end, the oldest first."""
        return self.actions(task, agent=agent, session=session, status=ActionStatus.ORPHANED)

    def actions(
        self,
        task: str | None = None,
        *,
        agent: str | None = None,
        session: str | None = None,
        status: ActionStatus | None = None,
        rows_max: int = ACTIONS_MAX,
    ) -> Sequence[Action]:
        """Return started actions of all that is named, the last ones, the oldest first."""
        where = Where().equal({"task": task, "agent": agent, "session": session}, table="t")
        query, values = queries.ACTIONS.format(where=where), where.values
        if status is not None:
            query, values = f"{query} WHERE status = ?", [*values, status.value]
        found = queries.actions_of(self._rows(query, values))
        return tuple(reversed(woven(found)[: max(rows_max, 0)]))

    # Rows

    def _checkpoints(self, where: Where) -> Iterator[SavedCheckpoint]:
        select = f"SELECT {queries.CHECKPOINT} FROM {queries.CHECKPOINTS}"  # noqa: S608 - ours
        return self._newest_first(select, where, queries.CHECKPOINTS, queries.checkpoint_of)

    def _events(self, where: Where) -> Iterator[TimelineEntry]:
        select = f"SELECT {queries.EVENT} FROM timeline t"  # noqa: S608 - ours
        return self._newest_first(select, where, "timeline t", queries.event_of)

    def _newest_first(
        self, select: str, where: Where, tables: str, row_of: Callable[[Sequence[Any]], Row]
    ) -> Iterator[Row]:
        keys = f"SELECT DISTINCT t.key FROM {tables} WHERE {where}"  # noqa: S608 - ours
        streams = [
            map(row_of, self._of_key(select, where.and_("t.key = ?", key)))
            for (key,) in self._rows(keys, where.values)
        ]
        return newest_first(streams)

    def _of_key(self, select: str, where: Where) -> Iterator[Sequence[Any]]:
        """Yield one key's rows, the last one first, read in pages as they are asked for."""
        offset = _OFFSET_MAX
        while True:
            page = self._rows(
                f'{select} WHERE {where} AND t."offset" < ? ORDER BY t."offset" DESC LIMIT ?',
                [*where.values, offset, _PAGE_ROWS],
            )
            yield from page
            if len(page) < _PAGE_ROWS:
                return
            offset = page[-1][1]

    def _rows(self, query: str, values: Sequence[Any]) -> Sequence[Sequence[Any]]:
        with self._lock, speaking_of(self._store):
            return self._connection.execute(query, values).fetchall()
