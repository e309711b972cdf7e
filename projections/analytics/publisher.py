"""The owner's side of publishing: when it is due, and how the files come about.

The live file is never copied as a file: closing any handle of it would drop DuckDB's lock on it.
Only the serving generation publishes by itself, so that a build beside it stays unseen.
"""

import shutil
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import duckdb

from mnemolog.projections.analytics.duckdb_store import (
    ROW_GROUP_ROWS,
    attach,
    let_go,
    quoted,
    transaction,
)
from mnemolog.projections.analytics.publishing import (
    FILE,
    PARQUET,
    forget_requests,
    published_folder,
    published_state,
    requested,
)
from mnemolog.projections.analytics.tables import RELATIONS, TABLES, create_tables, create_views
from mnemolog.projections.fault_points import reached
from mnemolog.projections.generations import Generations, clear_the_way
from mnemolog.projections.projection import Place
from mnemolog.schemas.errors import Damaged

IDLE_PUBLISH_SECONDS: Final = 30.0  # without a request, at most so often
IDLE_PUBLISH_SHARE_MAX: Final = 0.05  # of the time, without a request: others wait meanwhile
_DRAFT: Final = ".draft"


def idle_seconds(last_publish_seconds: float) -> float:
    """Return how long to wait for a request after a publish that took *last_publish_seconds*.

    >>> idle_seconds(0.5), idle_seconds(6.0)
    (30.0, 120.0)
    """
    return max(IDLE_PUBLISH_SECONDS, last_publish_seconds / IDLE_PUBLISH_SHARE_MAX)


class Publisher:
    """Publishes one generation from its connection; *now* is a monotonic clock."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        place: Place,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connection = connection
        self._place = place
        self._folder = published_folder(place.tenant_folder)
        self._now = now
        self._idle_since = now()
        self._last_seconds = 0.0

    def publish_if_due(self, applied: Mapping[int, int]) -> bool:
        """Publish if somebody waits for what is there, a forget is unpublished, or it is time.

        Says whether it did. Raises NoRoom where the disk is too full for another copy of the
        tables.
        """
        if not (self._is_serving() and applied and self._is_due(applied)):
            return False
        self._place.room.check(self._folder, "publishing")
        began = self._now()
        self.publish(self._folder)
        self._forgets_are_published()
        self._idle_since = self._now()
        self._last_seconds = self._idle_since - began
        return True

    def _is_serving(self) -> bool:
        return Generations(self._place.folder.parent).serving() == self._place.folder

    def _is_due(self, applied: Mapping[int, int]) -> bool:
        try:
            generation, there = published_state(self._place.tenant_folder)
        except Damaged:
            return True
        if (generation, there) == (self._place.folder.name, applied):
            forget_requests(self._folder)
            return False
        return (
            generation != self._place.folder.name
            or self._is_awaited(there, applied)
            or self._has_unpublished_forgets()
            or self._now() - self._idle_since >= idle_seconds(self._last_seconds)
        )

    def _is_awaited(self, there: Mapping[int, int], applied: Mapping[int, int]) -> bool:
        return any(
            token.is_covered_by(applied) and not token.is_covered_by(there)
            for token in requested(self._folder)
        )

    def _has_unpublished_forgets(self) -> bool:
        found = self._connection.execute("SELECT 1 FROM ledger.unpublished_forgets LIMIT 1")
        return bool(found.fetchall())

    def _forgets_are_published(self) -> None:
        if self._has_unpublished_forgets():
            self._connection.execute("DELETE FROM ledger.unpublished_forgets")

    def publish(self, target: Path) -> None:
        """Publish all tables, at one position, in *target*.

        1. Write a draft of the DuckDB file from one snapshot, and of each Parquet file from it.
        2. Rename the Parquet files into place.
        3. Rename the DuckDB file into place.

        A crash leaves drafts, which the next publish removes, or Parquet ahead of DuckDB.
        """
        (target / PARQUET).mkdir(parents=True, exist_ok=True)
        _remove_drafts(target)
        draft = target / f".{FILE}{_DRAFT}"
        cursor = self._connection.cursor()
        try:
            self._write_drafts(cursor, target, draft)  # 1
        finally:
            cursor.close()
        reached("analytics.draft-written")
        for relation in RELATIONS:
            _put(_parquet_draft(target, relation), target / PARQUET / f"{relation}.parquet")  # 2
        _put(draft, target / FILE)  # 3
        reached("analytics.published")

    def _write_drafts(self, cursor: duckdb.DuckDBPyConnection, target: Path, draft: Path) -> None:
        attach(cursor, draft, name="draft", row_group_rows=ROW_GROUP_ROWS)
        try:
            cursor.execute("USE draft")
            with transaction(cursor):
                create_tables(cursor)
                create_views(cursor)
                for table in (*TABLES, "columns"):
                    cursor.execute(f"INSERT INTO {table} SELECT * FROM live.main.{table}")  # noqa: S608 - ours
                    let_go(cursor)  # of both files' pages, or it would hold all of both
                cursor.execute(
                    "INSERT INTO published SELECT p.log_partition, p.last_applied,"
                    " (SELECT max(recorded_at) FROM live.main.events e"
                    "  WHERE e.log_partition = p.log_partition), ? FROM live.ledger.progress p",
                    [self._place.folder.name],
                )
            for relation in RELATIONS:
                path = quoted(_parquet_draft(target, relation))
                cursor.execute(
                    f"COPY (FROM {relation}) TO {path} (FORMAT parquet, COMPRESSION zstd)"
                )
                let_go(cursor)
            cursor.execute("CHECKPOINT draft")
        finally:
            cursor.execute("USE live")
            cursor.execute("DETACH draft")


def _put(draft: Path, path: Path) -> None:
    clear_the_way(path)
    draft.replace(path)


def _parquet_draft(target: Path, relation: str) -> Path:
    return target / PARQUET / f".{relation}.parquet{_DRAFT}"


def _remove_drafts(target: Path) -> None:
    for folder in (target, target / PARQUET):
        for draft in folder.glob(f".*{_DRAFT}*"):
            if draft.is_dir():
                shutil.rmtree(draft, ignore_errors=True)
            else:
                draft.unlink(missing_ok=True)
