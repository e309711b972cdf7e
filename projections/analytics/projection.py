"""The read model of analysts: typed tables in DuckDB, published for anyone to open.

Rows, the ledger and the counts of rows move in one transaction. What each table means stands in
its table `columns`; what a forget takes away in `forgetting`.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

import duckdb
import structlog

from mnemolog.projections.analytics.checking import read_all
from mnemolog.projections.analytics.content import content_rows
from mnemolog.projections.analytics.counting import begin_counting, check_counts, count
from mnemolog.projections.analytics.duckdb_ledger import DuckDBLedger, create_ledger
from mnemolog.projections.analytics.duckdb_store import (
    is_of_a_row,
    let_go,
    open_live,
    speaking_of,
    transaction,
)
from mnemolog.projections.analytics.fold import fold
from mnemolog.projections.analytics.publisher import Publisher
from mnemolog.projections.analytics.set_aside import changes, write_set_aside
from mnemolog.projections.analytics.tables import (
    create_bookkeeping,
    create_tables,
    create_views,
    insert_columns,
)
from mnemolog.projections.batch import Batch
from mnemolog.projections.choosing import Choice, Step, choose
from mnemolog.projections.digests import ContentRow
from mnemolog.projections.fault_points import reached
from mnemolog.projections.formed_memory import FormedMemory
from mnemolog.projections.kinds import ANALYTICS, VERSIONS
from mnemolog.projections.ledger import Entries, ParkedRecord
from mnemolog.projections.progress import Progress
from mnemolog.projections.projection import Place
from mnemolog.projections.write_rule import formed_in
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.errors import Damaged

DATABASE: Final = "analytics.duckdb"  # in the generation's folder
COMMITS_BETWEEN: Final = 8  # two times that memory is given back
FAULT_POINTS: Final = (
    "analytics.rows-written",
    "analytics.committed",
    "analytics.draft-written",
    "analytics.published",
)

_log = structlog.get_logger("mnemolog.analytics")


class AnalyticsProjection:
    """One generation of the analysts' tables, open for writing."""

    name: Final = "analytics"
    version: Final[int] = VERSIONS[ANALYTICS]

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path, place: Place) -> None:
        self._connection = connection
        self._path = path
        self._ledger = DuckDBLedger(connection)
        self._publisher = Publisher(connection, place)
        self._is_told = False  # what is set aside
        self._commits = 0  # since memory was given back

    @classmethod
    def open(cls, place: Place) -> Self:
        """Open the generation of *place*; make its file where there is none.

        Raises StoreUnavailable while another process has it open, Damaged if rows are missing.
        """
        path = place.folder / DATABASE
        _refuse_remains(path)
        connection = open_live(path)
        try:
            with speaking_of(path):
                _make_or_check(connection, path)
                if place.thorough:
                    read_all(connection)
                opened = cls(connection, path, place)
                opened._tell()
        except BaseException:
            connection.close()
            raise
        return opened

    def progress(self) -> Mapping[int, Progress]:
        """Return how far each partition has been applied."""
        with speaking_of(self._path):
            return self._ledger.progress()

    def apply(self, batch: Batch) -> None:
        """Fold what is new in *batch*: rows and progress together, repeats without effect.

        An event that the write rule or a statement fails on is parked, its key's later ones
        behind it.
        """
        with speaking_of(self._path):
            choice = choose(batch, self._ledger, projection=self.name, wants=lambda _: True)
            while not self._committed(choice, batch):
                pass  # each turn parks one event more
            self._tell()

    def _tell(self) -> None:
        """Tell who can't open the live file what is set aside, if that has changed."""
        if not self._is_told:
            write_set_aside(self._path.parent, self._ledger)
            self._is_told = True

    def _committed(self, choice: Choice, batch: Batch) -> bool:
        """Write *choice*; say whether it was, or one of its events was parked instead.

        1. Form the memories.
        2. Write the rows, what they count, and the ledger, in one transaction.

        A crash before the commit leaves nothing, one after it all.
        """
        if choice.entries == Entries():
            return True
        memories: list[FormedMemory] = []
        for step in choice.steps:  # 1
            try:
                memories += _formed(batch, step)
            except Exception as error:  # noqa: BLE001 - whatever the rule fails on waits, parked
                self._park(choice, step, error)
                return False
        try:
            with transaction(self._connection):  # 2
                items = [step.item for step in choice.steps]
                count(self._connection, fold(self._connection, items, memories))
                reached("analytics.rows-written")
                self._ledger.record(choice.entries)
        except Exception as error:
            if not is_of_a_row(error):
                raise
            self._park(choice, self._culprit(choice.steps, batch, error), error)
            return False
        self._is_told = self._is_told and not changes(choice.entries)
        self._let_go_now_and_then()
        reached("analytics.committed")
        return True

    def _let_go_now_and_then(self) -> None:
        self._commits += 1
        if self._commits >= COMMITS_BETWEEN:
            self._commits = 0
            let_go(self._connection)

    def _culprit(self, steps: Sequence[Step], batch: Batch, error: Exception) -> Step:
        """Return the first of *steps* that can't be written, found by halving.

        Raises *error* where each half can be: then no event is at fault.
        """
        if len(steps) == 1:
            return steps[0]
        for half in (steps[: len(steps) // 2], steps[len(steps) // 2 :]):
            if not self._can_be_written(half, batch):
                return self._culprit(half, batch, error)
        raise error

    def _can_be_written(self, steps: Sequence[Step], batch: Batch) -> bool:
        memories = [memory for step in steps for memory in _formed(batch, step)]
        self._connection.execute("BEGIN")
        try:
            fold(self._connection, [step.item for step in steps], memories)
        except Exception as error:
            if not is_of_a_row(error):
                raise
            return False
        finally:
            self._connection.execute("ROLLBACK")
        return True

    def _park(self, choice: Choice, step: Step, error: Exception) -> None:
        reason = f"{type(error).__name__}: {error}"
        position = str(step.item.record.position)
        _log.error("parked", position=position, error=type(error).__name__)
        choice.park(step, reason.encode(errors="backslashreplace").decode())

    def follow_up(self, *, seconds_max: float) -> bool:
        """Publish if it is due, at once and whole; there is never a rest that could be done now.

        It is due when a request is covered, when a forget or another generation is published,
        and else now and then if something was applied, see `publisher.idle_seconds`.
        """
        del seconds_max  # a publish is whole or not at all
        with speaking_of(self._path):
            self._tell()
            if self._publisher.publish_if_due(self.settled()):
                let_go(self._connection)
        return False

    def publish(self, target: Path) -> None:
        """Publish all tables in the folder *target*, at one position; see `publishing`."""
        with speaking_of(target):
            self._publisher.publish(target)

    def settled(self) -> Mapping[int, int]:
        """Return the last applied offset of each partition; publishing has its own positions."""
        return {partition: at.last_applied for partition, at in self.progress().items()}

    def content(self) -> Iterator[ContentRow]:
        """Yield every row that the content digest covers, as it is served."""
        with speaking_of(self._path):
            cursor = self._connection.cursor()
            try:
                cursor.execute("USE live")
                yield from content_rows(cursor)
            finally:
                cursor.close()

    def parked(self) -> Sequence[ParkedRecord]:
        """Return the parked records, by partition and offset."""
        with speaking_of(self._path):
            return self._ledger.parked()

    def close(self) -> None:
        """Let go of the store. Harmless twice."""
        self._connection.close()


def _formed(batch: Batch, step: Step) -> Sequence[FormedMemory]:
    return formed_in(batch, step).memories if isinstance(step.item, Ours) else ()


def _refuse_remains(path: Path) -> None:
    """Raise Damaged for what DuckDB might take for a new database."""
    if path.exists() and (not path.is_file() or path.stat().st_size == 0):
        raise Damaged(str(path), "it is empty" if path.is_file() else "it is no file")
    if not path.exists() and path.with_name(f"{path.name}.wal").exists():
        raise Damaged(str(path), "only its write-ahead log is left")


def _make_or_check(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Make everything in an empty database; check that nothing is missing in another one."""
    found = connection.execute(
        "SELECT count(*) FROM duckdb_tables() WHERE database_name = 'live'"
    ).fetchone()
    if found != (0,):
        check_counts(connection, path=path)
        return
    with transaction(connection):
        create_ledger(connection)
        create_bookkeeping(connection)
        create_tables(connection)
        create_views(connection)
        insert_columns(connection)
        begin_counting(connection)
