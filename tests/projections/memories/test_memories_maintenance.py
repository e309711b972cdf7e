"""The index stays small and quick, forgets for good, and survives a maintenance that fails."""

import subprocess
import sys
from datetime import timedelta

import pytest

from mnemolog.projections.memories import lance_maintenance
from mnemolog.projections.memories.embedding import CheckedEmbedder
from mnemolog.projections.memories.lance_maintenance import (
    FAILED_SECONDS_MIN,
    LOOK_SECONDS_MIN,
    VERSIONS_KEPT_SECONDS,
    LanceMaintenance,
)
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.histories import memory_of, recorded
from support.memory_generations import ALL, CountingModel, fold, opened, place, reader_of, settle

SECRET = "kohlrabi-7f3a91"


class Clock:
    def __init__(self):
        self.seconds = 0.0

    def __call__(self):
        return self.seconds


class Watched:
    """A table whose `optimize` is counted, and can be made to fail."""

    def __init__(self, table, *, failures=0):
        self._table = table
        self.failures = failures
        self.optimized = 0

    def __getattr__(self, name):
        return getattr(self._table, name)

    def optimize(self, **options):
        if self.failures:
            self.failures -= 1
            raise RuntimeError("no space left on device")
        self.optimized += 1
        return self._table.optimize(**options)


def watched(memories, *, failures=0):
    """Return the index's table, watched, with a maintenance that has a clock of the test's."""
    table = Watched(memories._index.table, failures=failures)
    memories._index.table = table
    memories.maintenance = LanceMaintenance(
        memories._index,
        scrub_is_due=memories._settings.scrub_is_due,
        scrubbed=memories._settings.scrubbed,
        clock=Clock(),
    )
    return table, memories.maintenance._clock


def lamps(count):
    return [ex.ObservationRecorded(text=f"The lamp of room {n} is on.") for n in range(count)]


def files_with(folder, text):
    files = [path for path in (place(folder).folder / "lance").rglob("*") if path.is_file()]
    return [path.name for path in files if text.encode() in path.read_bytes()]


@pytest.mark.bad_input(71)
def test_a_failure_is_counted_and_the_projector_goes_on(tmp_path):
    with opened(tmp_path) as memories:
        table, clock = watched(memories, failures=3)
        for count in range(1, 4):
            fold(memories, recorded(*lamps(count)))
            memories.follow_up(seconds_max=1)
            assert memories.maintenance.failures == count
            clock.seconds += FAILED_SECONDS_MIN + VERSIONS_KEPT_SECONDS
        memories.follow_up(seconds_max=1)
        assert (memories.maintenance.failures, table.optimized) == (3, 1)
        assert reader_of(tmp_path).counts()["vectors"] == 3


def test_after_a_hundred_commits_the_index_is_compacted_and_finds_all(tmp_path, monkeypatch):
    monkeypatch.setattr(lance_maintenance, "COMMITS_BETWEEN", 10)
    with opened(tmp_path) as memories:
        table, clock = watched(memories)
        memories.follow_up(seconds_max=1)
        before = table.optimized
        fold(memories, recorded(*lamps(9)), records_max=1)
        clock.seconds += LOOK_SECONDS_MIN
        memories.maintenance.run_if_due()
        assert table.optimized == before
        fold(memories, recorded(*lamps(11)), records_max=1)
        clock.seconds += LOOK_SECONDS_MIN
        memories.maintenance.run_if_due()
        assert table.optimized == before + 1
        assert len(table.list_versions()) > 1  # readers may still have the former ones open
        assert table.index_stats("words_idx").num_unindexed_rows == 0
        assert len(reader_of(tmp_path).matching("lamps", where=ALL, hits_max=50)) == 11


def test_what_commits_needed_of_memory_is_given_back_now_and_then(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(lance_maintenance, "COMMITS_BEFORE_GIVING_BACK", 4)
    monkeypatch.setattr(lance_maintenance, "give_back", lambda: given.append(1))
    with opened(tmp_path) as memories:
        _, clock = watched(memories)
        memories.maintenance.run_if_due()
        given.clear()
        for so_far in (3, 5):
            fold(memories, recorded(*lamps(so_far)), records_max=1)
            clock.seconds += LOOK_SECONDS_MIN
            memories.maintenance.run_if_due()
        assert len(given) == 1


def test_many_rows_that_are_not_indexed_are_reason_enough(tmp_path, monkeypatch):
    monkeypatch.setattr(lance_maintenance, "UNINDEXED_ROWS_MAX", 20)
    with opened(tmp_path) as memories:
        table, clock = watched(memories)
        memories.maintenance.run_if_due()
        before = table.optimized
        fold(memories, recorded(*lamps(20)))
        clock.seconds += LOOK_SECONDS_MIN
        memories.maintenance.run_if_due()
        assert table.optimized == before + 1


def test_a_share_of_rows_that_are_not_indexed_is_reason_enough(tmp_path, monkeypatch):
    monkeypatch.setattr(lance_maintenance, "WORN_ROWS_MIN", 3)
    with opened(tmp_path) as memories:
        fold(memories, recorded(*lamps(40)))
        table, clock = watched(memories)
        memories.maintenance.run_if_due()
        for count, more in ((43, 0), (47, 1)):  # 3 of 43 are less than a tenth, 7 of 47 more
            before = table.optimized
            fold(memories, recorded(*lamps(count)))
            clock.seconds += LOOK_SECONDS_MIN
            memories.maintenance.run_if_due()
            assert table.optimized == before + more
        assert table.index_stats("words_idx").num_unindexed_rows == 0


def test_a_share_of_rows_that_were_deleted_is_reason_enough(tmp_path, monkeypatch):
    monkeypatch.setattr(lance_maintenance, "WORN_ROWS_MIN", 3)
    told = lamps(40)
    with opened(tmp_path) as memories:
        fold(memories, recorded(*told))
        table, clock = watched(memories)
        memories._settings.scrubbed()
        memories.maintenance.run_if_due()
        for gone, more in ((3, 0), (8, 1)):
            before = table.optimized
            told.append(mem.MemoryForgotten(memories=[memory_of(f"e{n}") for n in range(gone)]))
            fold(memories, recorded(*told))
            memories._settings.scrubbed()  # a scrub would do it, and more
            clock.seconds += LOOK_SECONDS_MIN
            memories.maintenance.run_if_due()
            assert table.optimized == before + more


def test_nothing_is_done_twice_for_nothing(tmp_path):
    with opened(tmp_path) as memories:
        fold(memories, recorded(*lamps(3)))
        table, clock = watched(memories)
        settle(memories)
        done = table.optimized
        for _ in range(5):
            clock.seconds += LOOK_SECONDS_MIN
            memories.follow_up(seconds_max=1)
        assert table.optimized == done


def test_old_versions_are_looked_for_once_they_may_be_deleted(tmp_path):
    with opened(tmp_path) as memories:
        fold(memories, recorded(*lamps(3)))
        table, clock = watched(memories)
        settle(memories)
        done = table.optimized
        clock.seconds += VERSIONS_KEPT_SECONDS
        memories.follow_up(seconds_max=1)
        assert table.optimized == done + 1


@pytest.mark.filterwarnings("ignore:optimize.cleanup_older_than=0")
def test_a_scrub_leaves_no_byte_of_what_was_forgotten(tmp_path):
    told = [*lamps(40), ex.ObservationRecorded(text=f"The word is {SECRET}.")]
    forgotten = mem.MemoryForgotten(memories=(memory_of("e40"),))
    with opened(tmp_path) as memories:
        fold(memories, recorded(*told))
        settle(memories)
        memories._index.table.optimize(cleanup_older_than=timedelta(0))
        assert files_with(tmp_path, SECRET), "the test would see nothing"
        fold(memories, recorded(*told, forgotten))
        memories._index.table.optimize(cleanup_older_than=timedelta(0))
        assert files_with(tmp_path, SECRET), "compaction is not enough"
    with opened(tmp_path) as memories:  # what is due is remembered
        assert memories._settings.scrub_is_due()
        memories.follow_up(seconds_max=1)
        assert not memories._settings.scrub_is_due()
        memories._index.table.optimize(cleanup_older_than=timedelta(0))  # as time will
        assert files_with(tmp_path, SECRET) == []
        assert len(reader_of(tmp_path).matching("lamps", where=ALL, hits_max=99)) == 40


def test_scrubs_are_apart_so_that_many_forgets_cost_one(tmp_path):
    told = lamps(4)
    with opened(tmp_path) as memories:
        fold(memories, recorded(*told))
        _, clock = watched(memories)
        for number in range(3):
            told.append(mem.MemoryForgotten(memories=(memory_of(f"e{number}"),)))
            fold(memories, recorded(*told))
            memories.follow_up(seconds_max=1)
            clock.seconds += LOOK_SECONDS_MIN
        assert memories._settings.scrub_is_due()
        clock.seconds += VERSIONS_KEPT_SECONDS
        memories.follow_up(seconds_max=1)
        assert not memories._settings.scrub_is_due()
        assert reader_of(tmp_path).counts()["memories"] == 1


def test_many_vectors_get_an_index_that_finds_what_a_scan_finds(tmp_path, monkeypatch):
    monkeypatch.setattr(lance_maintenance, "VECTOR_INDEX_ROWS_MIN", 300)
    embedder = CheckedEmbedder(CountingModel())
    with opened(tmp_path, embedder=embedder) as memories:
        fold(memories, recorded(*lamps(300)), records_max=300)
        reader = reader_of(tmp_path)
        (vector,) = embedder.embed(["The lamp of room 77 is on."], role="question")
        memories._filler.fill(deadline=float("inf"))
        scanned = reader.nearest(vector, where=ALL, hits_max=3)
        memories.maintenance.run_if_due()
        kinds = {index.index_type for index in memories._index.table.list_indices()}
        assert kinds == {"FTS", "IvfSq"}
        indexed = reader.nearest(vector, where=ALL, hits_max=3)
        assert [hit.id for hit in indexed] == [hit.id for hit in scanned]


ALIKE = """
import sys
from pathlib import Path
import numpy as np, pyarrow as pa
from mnemolog.projections.memories.lance_table import connected
connection = connected(Path(sys.argv[1]))
from lancedb.index import IvfSq
vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.ones(1200, dtype="f4")), 4)
table = connection.create_table("alike", pa.table({"vector": vectors}))
table.create_index("vector", config=IvfSq(distance_type="cosine", num_partitions=4))
"""


def test_the_driver_does_not_warn_on_standard_error(tmp_path):
    command = [sys.executable, "-c", ALIKE, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
