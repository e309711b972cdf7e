"""The fold into the index: crashes, repeats, forgetting, owners, and an index that was lost."""

import errno
import shutil
from contextlib import suppress

import pytest

from mnemolog.projections import fault_points
from mnemolog.projections.generations import DESCRIPTION
from mnemolog.projections.memories.embedding import CheckedEmbedder
from mnemolog.projections.memories.projection import FAULT_POINTS, MemoriesProjection
from mnemolog.projections.memories.vector_cache import InMemoryVectorCache
from mnemolog.projections.write_rule import formed_in as formed_in_truth
from mnemolog.schemas.errors import InvalidSetting, LeaseHeld, StoreUnavailable
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.eventful import eventful_history
from support.histories import batches, happened, memory_of, recorded
from support.memory_generations import (
    ALL,
    CountingModel,
    digest,
    fold,
    hashing,
    opened,
    place,
    reader_of,
    settle,
    texts,
)

POOL = "The connection pool of web-1 is exhausted."
CACHE = "The cache of web-2 is cold."


class Died(BaseException):
    """The process is gone."""


def die_at(point, *, count=1):
    """Return a listener that dies when *point* is reached for the *count*-th time."""
    left = count

    def listener(name):
        nonlocal left
        left -= name == point
        if name == point and not left:
            raise Died

    return fault_points.listening(listener)


def built(tmp_path, records, *, partitions=1):
    """Return the digest of *records* in a new generation."""
    with opened(tmp_path / "wanted") as memories:
        fold(memories, records, partitions=partitions)
        settle(memories)
        return digest(memories)


# Crashes


@pytest.mark.parametrize("point", FAULT_POINTS)
@pytest.mark.parametrize("records_max", [1, 7, 100])
def test_after_a_death_other_cuts_of_the_batches_converge(tmp_path, point, records_max):
    records = recorded(*eventful_history())
    wanted = built(tmp_path, records)
    with die_at(point), suppress(Died), opened(tmp_path) as memories:
        fold(memories, records, records_max=20)
        settle(memories)
        pytest.fail(f"{point} was not reached")
    with opened(tmp_path) as memories:
        fold(memories, records, records_max=records_max)
        settle(memories)
        assert digest(memories) == wanted


def test_a_larger_batch_after_a_failed_one_leaves_nothing_old(tmp_path):
    records = recorded(
        ex.ObservationRecorded(text=POOL),
        mem.MemoryImportanceChanged(memory=memory_of("e0"), importance=0.6),
        mem.MemoryImportanceChanged(memory=memory_of("e0"), importance=0.9),
    )
    with opened(tmp_path) as memories:
        with die_at("memories.rows-written"), suppress(Died):
            fold(memories, records[:2])
        fold(memories, records)  # the same process, without opening anew
        (row,) = reader_of(tmp_path).latest(where=ALL, rows_max=9)
        assert row.importance == 0.9


def test_what_a_lost_batch_wrote_is_taken_back_on_opening(tmp_path):
    records = recorded(ex.ObservationRecorded(text=POOL), ex.ObservationRecorded(text=CACHE))
    with die_at("memories.rows-written", count=2), suppress(Died), opened(tmp_path) as memories:
        fold(memories, records, records_max=1)
    assert texts(tmp_path) == {POOL, CACHE}
    with opened(tmp_path):
        assert texts(tmp_path) == {POOL}


@pytest.mark.parametrize("damage", ["gone", "cut", "empty"])
def test_a_damaged_index_is_written_anew_from_the_state(tmp_path, damage):
    records = recorded(*eventful_history())
    cache = InMemoryVectorCache()
    with opened(tmp_path, cache=cache) as memories:
        fold(memories, records, records_max=9)
        settle(memories)
        wanted, counts = digest(memories), reader_of(tmp_path).counts()
    index = place(tmp_path).folder / "lance"
    if damage == "gone":
        shutil.rmtree(index)
    else:
        for file in index.glob("memories.lance/data/*"):
            file.write_bytes(file.read_bytes()[:-40] if damage == "cut" else b"")
    with opened(tmp_path, cache=cache) as memories:
        assert digest(memories) == wanted
        assert reader_of(tmp_path).counts() == counts


def test_rows_that_the_disk_lost_come_back_with_their_vectors(tmp_path):
    cache = InMemoryVectorCache()
    with opened(tmp_path, cache=cache) as memories:
        fold(
            memories, recorded(ex.ObservationRecorded(text=POOL), ex.ObservationRecorded(text="x"))
        )
        settle(memories)
        wanted = digest(memories)
        memories._index.delete([memory_of("e0")])
    with opened(tmp_path, cache=cache) as memories:
        assert digest(memories) == wanted
        assert reader_of(tmp_path).counts()["vectors"] == 2


def test_a_store_that_fails_moves_nothing_and_the_same_batch_may_come_again(tmp_path, monkeypatch):
    records = recorded(ex.ObservationRecorded(text=POOL))
    with opened(tmp_path) as memories:
        with monkeypatch.context() as broken:
            broken.setattr(memories._index, "table", None)
            with pytest.raises(AttributeError):
                fold(memories, records)
        assert memories.progress() == {}
        fold(memories, records)
        assert texts(tmp_path) == {POOL}


# Owners and embedders


def test_a_later_owner_ends_the_writes_of_the_one_before(tmp_path):
    records = recorded(ex.ObservationRecorded(text=POOL), ex.ObservationRecorded(text=CACHE))
    with opened(tmp_path, epoch=1) as stale, opened(tmp_path, epoch=2) as owner:
        fold(owner, records[:1])
        with pytest.raises(LeaseHeld):
            fold(stale, records)
        assert texts(tmp_path) == {POOL}


def test_an_owner_with_an_earlier_epoch_still_writes_over_older_rows(tmp_path):
    changed = mem.MemoryImportanceChanged(memory=memory_of("e0"), importance=0.9)
    records = recorded(ex.ObservationRecorded(text=POOL), changed)
    with opened(tmp_path, epoch=7) as memories:
        fold(memories, records[:1])
    with opened(tmp_path, epoch=3) as memories:
        fold(memories, records)
        (row,) = reader_of(tmp_path).latest(where=ALL, rows_max=9)
        assert row.importance == 0.9


@pytest.mark.parametrize("described", [True, False])
def test_another_embedder_is_refused_with_the_way_out(tmp_path, described):
    with opened(tmp_path):
        pass
    made_at = place(tmp_path)
    if not described:
        (made_at.folder / DESCRIPTION).unlink()
    other = CheckedEmbedder(CountingModel())
    with pytest.raises(InvalidSetting, match="rebuild memories"):
        MemoriesProjection.open(made_at, embedder=other, cache=InMemoryVectorCache())


# The rest


@pytest.mark.bad_input(77)
def test_the_same_event_twice_in_a_batch_forms_one_memory(tmp_path):
    (record,) = recorded(ex.ObservationRecorded(text=POOL))
    again = recorded(ex.ObservationRecorded(text=CACHE), ex.ObservationRecorded(text="x"))[1]
    with opened(tmp_path) as memories:
        for batch in batches([record, again, record]):
            memories.apply(batch)
        assert reader_of(tmp_path).counts()["memories"] == 2


@pytest.mark.bad_input(69)
def test_a_history_of_empty_texts_makes_an_index_that_finds_what_comes_next(tmp_path):
    empty = [ex.ObservationRecorded(text=text) for text in ("", "\u3000\u200b\n") * 5]
    told = recorded(*empty, ex.ObservationRecorded(text=POOL))
    with opened(tmp_path) as memories:
        fold(memories, told[:10])
        settle(memories)
        reader = reader_of(tmp_path)
        vector = hashing().embed([POOL], role="question")[0]
        assert not reader.matching("pool", where=ALL, hits_max=5)
        assert not reader.nearest(vector, where=ALL, hits_max=5)
        fold(memories, told)
        settle(memories)
        assert [hit.id for hit in reader.matching("pool", where=ALL, hits_max=5)] == [
            memory_of("e10")
        ]
        assert reader.nearest(vector, where=ALL, hits_max=5)[0].score == pytest.approx(1)


def test_an_event_that_the_fold_cannot_take_is_parked_with_those_behind_it(tmp_path, monkeypatch):
    records = recorded(
        ex.ObservationRecorded(text=POOL),
        ex.ObservationRecorded(text=CACHE),
        happened(ex.ObservationRecorded(text="The lamp is on."), agent="bob"),
        ex.ObservationRecorded(text="The lamp is off."),
    )

    def formed_in(batch, step):
        if step.item.recorded.event.text == CACHE:
            raise ArithmeticError("no such thing")
        return formed_in_truth(batch, step)

    module = "mnemolog.projections.memories.projection.formed_in"
    with opened(tmp_path) as memories:
        with monkeypatch.context() as failing:
            failing.setattr(module, formed_in)
            fold(memories, records)
        assert texts(tmp_path) == {POOL, "The lamp is on."}
        first, second = memories.parked()
        assert (first.record.offset, second.record.offset) == (1, 3)
        assert "ArithmeticError: no such thing" in first.reason
        assert second.behind


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOSPC, errno.EROFS, errno.EIO])
def test_a_disk_that_refuses_is_told_as_such_and_the_index_stays(tmp_path, monkeypatch, number):
    with opened(tmp_path) as memories:
        fold(memories, recorded(ex.ObservationRecorded(text=POOL)))
    files = [path for path in (place(tmp_path).folder / "lance").rglob("*") if path.is_file()]

    def refuse(*_arguments, **_options):
        raise RuntimeError(f"lance error: LanceError(IO): no (os error {number}), local.rs:1")

    with monkeypatch.context() as failing:
        failing.setattr("mnemolog.projections.memories.lance_index.opened", refuse)
        with pytest.raises(StoreUnavailable), opened(tmp_path):
            pass
    assert all(path.exists() for path in files)
    with opened(tmp_path):
        assert texts(tmp_path) == {POOL}


def test_what_took_the_place_of_the_index_is_replaced_by_it(tmp_path):
    with opened(tmp_path) as memories:
        fold(memories, recorded(ex.ObservationRecorded(text=POOL)))
    folder = place(tmp_path).folder / "lance"
    shutil.rmtree(folder)
    folder.write_text("no folder")
    with opened(tmp_path):
        assert texts(tmp_path) == {POOL}
