"""What keeps the index small and quick: compaction, indices, and the end of old versions.

Forgetting takes a row away at once, but its bytes stay in the files of the version before, and
in a data file that holds few such rows. So a forget is followed by a scrub, which writes all
rows and indices anew; the versions before it are deleted `VERSIONS_KEPT_SECONDS` later, which is
longer than the longest read. Scrubs are that far apart too. So while a projector runs, what was
forgotten has left the disk after at most twice that time (`FORGOTTEN_SECONDS_MAX`).

A failure here is logged, counts in `failures`, is told to whoever notes it for `status` and
`doctor`, and stops nothing.
"""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import structlog

from mnemolog.projections.heap import give_back
from mnemolog.projections.memories.lance_filters import is_true
from mnemolog.projections.memories.lance_index import LanceIndex
from mnemolog.projections.memories.lance_searches import (
    full_text_index,
    has_vector_index,
    vector_index,
)

COMMITS_BETWEEN: Final = 100  # compactions
COMMITS_BEFORE_GIVING_BACK: Final = 4  # the memory that they needed and left in pieces
UNINDEXED_ROWS_MAX: Final = 5_000  # found by scanning until the next compaction
WORN_SHARE: Final = 0.1  # of rows that were deleted, or are found by scanning alone
WORN_ROWS_MIN: Final = 1_000  # fewer are no burden
VECTOR_INDEX_ROWS_MIN: Final = 20_000  # below, a scan is exact and quick enough
VERSIONS_KEPT_SECONDS: Final = 600.0
FORGOTTEN_SECONDS_MAX: Final = 2 * VERSIONS_KEPT_SECONDS
LOOK_SECONDS_MIN: Final = 1.0  # between two looks at whether something is due
FAILED_SECONDS_MIN: Final = 60.0  # before maintenance that failed is tried again

_log = structlog.get_logger("mnemolog.memories")


class LanceMaintenance:
    """Looks after *index*. *scrub_is_due* and *scrubbed* keep what was forgotten in mind.

    *tell* hears the error of a run that failed, and None with the bytes of what is served after
    one that did something. *check_room* raises where the disk is too full to write rows anew.
    """

    def __init__(
        self,
        index: LanceIndex,
        *,
        scrub_is_due: Callable[[], bool],
        scrubbed: Callable[[], None],
        tell: Callable[[str | None, int], None] = lambda _error, _live_bytes: None,
        check_room: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._index = index
        self._scrub_is_due = scrub_is_due
        self._scrubbed = scrubbed
        self._tell = tell
        self._check_room = check_room
        self._clock = clock
        self._look_at = float("-inf")
        self._scrub_at = float("-inf")
        self._clean_at = float("-inf")
        self._commits_done = 0
        self._commits_given_back = 0
        self._has_compacted = False
        self.failures = 0

    def run_if_due(self) -> None:
        """Do what is due; called often, it looks once a second. Takes as long as it takes."""
        if self._clock() < self._look_at:
            return
        self._look_at = self._clock() + LOOK_SECONDS_MIN
        try:
            self._run()
        except Exception as error:  # noqa: BLE001 - the next run may work; rows are served anyway
            self.failures += 1
            self._look_at = self._clock() + FAILED_SECONDS_MIN
            _log.warning("index maintenance failed", error=str(error), failures=self.failures)
            self._tell(str(error), 0)

    def _run(self) -> None:
        table = self._index.table
        if self._clock() >= self._scrub_at and self._scrub_is_due():
            self._check_room()
            self._scrub(table)
        elif self._is_grown(table) or self._has_old_versions(table):
            self._check_room()
            self._compact(table)
        self._index_vectors(table)
        if self._has_compacted:
            self._has_compacted = False
            self._tell(None, table.stats()["total_bytes"])
            self._give_back()
        elif self._index.commits - self._commits_given_back >= COMMITS_BEFORE_GIVING_BACK:
            self._give_back()

    def _give_back(self) -> None:
        self._commits_given_back = self._index.commits
        give_back()

    def _is_grown(self, table: Any) -> bool:
        if self._index.commits - self._commits_done >= COMMITS_BETWEEN:
            return True
        words = table.index_stats("words_idx")
        unindexed = 0 if words is None else words.num_unindexed_rows
        return unindexed >= UNINDEXED_ROWS_MAX or self._is_worn(table, unindexed)

    def _is_worn(self, table: Any, unindexed: int) -> bool:
        """Say whether more than a share of the rows was deleted since, or is not indexed yet."""
        if self._index.commits == self._commits_done:
            return False  # what compaction left it leaves again
        stats = table.stats()
        fragments = stats["fragment_stats"]
        rows, stored = stats["num_rows"], fragments["num_fragments"] * fragments["lengths"]["mean"]
        deleted = max(0, stored - rows)  # a mean is cut to a whole number
        return any(
            worn >= WORN_ROWS_MIN and worn > WORN_SHARE * of
            for worn, of in ((deleted, stored), (unindexed, rows))
        )

    def _has_old_versions(self, table: Any) -> bool:
        return self._clock() >= self._clean_at and len(table.list_versions()) > 1

    def _compact(self, table: Any) -> None:
        """Merge small files, index new rows, and delete versions that nobody reads any more."""
        self._commits_done = self._index.commits
        self._clean_at = self._clock() + VERSIONS_KEPT_SECONDS
        table.optimize(cleanup_older_than=timedelta(seconds=VERSIONS_KEPT_SECONDS))
        self._has_compacted = True

    def _scrub(self, table: Any) -> None:
        """Leave no byte of a forgotten memory in the newest version."""
        self._scrub_at = self._clock() + VERSIONS_KEPT_SECONDS
        table.update(values_sql={"seq": "seq"})  # each row into a new file
        table.create_index("words", config=full_text_index(), replace=True)
        if has_vector_index(table):
            table.create_index("vector", config=vector_index(), replace=True)
        self._compact(table)
        self._scrubbed()

    def _index_vectors(self, table: Any) -> None:
        vectors = 0 if has_vector_index(table) else table.count_rows(is_true("has_vector"))
        if vectors >= VECTOR_INDEX_ROWS_MIN:
            table.create_index("vector", config=vector_index(), replace=True)
