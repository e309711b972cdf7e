"""Readers beside the writer: threads, processes, versions that are deleted meanwhile."""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from mnemolog.projections.generations import Description, Generations
from mnemolog.projections.memories.lance_reader import LanceMemoryReader
from mnemolog.schemas.events import experience as ex
from support.histories import memory_of, recorded
from support.memory_generations import (
    ALL,
    asked,
    fold,
    folded,
    hashing,
    opened,
    place,
    reader_of,
    settle,
)

READER_PROCESS = Path(__file__).parents[2] / "support" / "memory_reader_process.py"


def test_a_generation_that_is_not_there_yet_answers_with_nothing_until_it_is(tmp_path):
    options = {"embedder": hashing().model_id, "dimensions": hashing().dimensions}
    folder = Generations(tmp_path / "memories").create(Description("memories", 1, "t", 1, options))
    reader = LanceMemoryReader.open(folder)
    assert reader.model_id == hashing().model_id
    assert not reader.latest(where=ALL, rows_max=1)
    assert not reader.matching("lamp", where=ALL, hits_max=1)
    assert not reader.nearest(asked("lamp"), where=ALL, hits_max=1)
    assert not reader.links(["m"], links_max=1)
    assert reader.counts()["memories"] == 0
    with opened(tmp_path) as memories:
        fold(memories, recorded(ex.ObservationRecorded(text="lamp one")))
        assert [row.text for row in reader.latest(where=ALL, rows_max=1)] == ["lamp one"]
        fold(memories, recorded(*(ex.ObservationRecorded(text=t) for t in ("lamp one", "two"))))
        assert reader.counts()["memories"] == 2
    reader.close()
    reader.close()


@pytest.mark.filterwarnings("ignore:optimize.cleanup_older_than=0")
def test_a_reader_goes_on_after_the_version_that_it_had_open_is_deleted(tmp_path):
    with opened(tmp_path) as memories:
        fold(memories, recorded(*lamps(9)))
        reader = reader_of(tmp_path)
        assert len(reader.latest(where=ALL, rows_max=99)) == 9
        fold(memories, recorded(*lamps(12)))
        memories._index.table.optimize(cleanup_older_than=timedelta(0))
        assert len(reader.latest(where=ALL, rows_max=99)) == 12
        assert len(reader.matching("lamp", where=ALL, hits_max=99)) == 12


def test_a_reader_opens_an_index_that_was_made_anew(tmp_path):
    with opened(tmp_path) as memories:
        fold(memories, recorded(*lamps(9)))
    reader = reader_of(tmp_path)
    assert len(reader.latest(where=ALL, rows_max=99)) == 9
    shutil.rmtree(place(tmp_path).folder / "lance")
    assert not reader.latest(where=ALL, rows_max=99)
    with opened(tmp_path):
        assert len(reader.latest(where=ALL, rows_max=99)) == 9
        assert len(reader.matching("lamp", where=ALL, hits_max=99)) == 9


def lamps(count):
    return [ex.ObservationRecorded(text=f"lamp {number}") for number in range(count)]


def test_many_threads_share_a_reader(tmp_path):
    reader = folded(tmp_path, *(ex.ObservationRecorded(text=f"lamp {n}") for n in range(20)))
    ids = [memory_of(f"e{n}") for n in range(20)]

    def ask(number):
        hits = reader.matching("lamp", where=ALL, hits_max=50)
        rows = reader.rows(ids[number : number + 3])
        return len(hits), len(rows), len(reader.links(ids, links_max=5))

    with ThreadPoolExecutor(max_workers=8) as pool:
        assert set(pool.map(ask, range(16))) == {(20, 3, 0)}


def test_another_process_reads_beside_the_writer_without_an_error(tmp_path):
    with opened(tmp_path) as memories:
        fold(memories, recorded(ex.ObservationRecorded(text="memory number one")))
        command = [sys.executable, str(READER_PROCESS), str(place(tmp_path).folder)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "reading\n"
            told = [ex.ObservationRecorded(text=f"memory number {n}") for n in range(400)]
            last = ex.ObservationRecorded(text="the end")
            fold(memories, recorded(*told, last), records_max=10)
            settle(memories)
            said, complaints = process.communicate(timeout=120)
        assert (process.returncode, complaints) == (0, "")
        seen, reads, fell = said.split()
        assert (seen, fell) == ("401", "False")
        assert int(reads) > 1
