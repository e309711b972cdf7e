"""Vectors follow the rows, once a text, and nothing waits for one that can't be had."""

from contextlib import suppress

import numpy as np
import pytest

from mnemolog.projections import fault_points
from mnemolog.projections.memories.embedding import CheckedEmbedder
from mnemolog.projections.memories.lance_index import LanceIndex
from mnemolog.projections.memories.vector_cache import InMemoryVectorCache, vector_key
from mnemolog.projections.memories.vector_filler import TEXTS_PER_RUN_MAX
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.histories import agents, happened, memory_of, recorded
from support.memory_generations import ALL, CountingModel, digest, fold, opened, reader_of, settle


class BrokenModel(CountingModel):
    def vectors(self, texts, *, role):
        raise OSError("no engine")


class BrokenCache(InMemoryVectorCache):
    broken = True

    def get_many(self, keys):
        if self.broken:
            raise StoreUnavailable("vector cache", "locked")
        return super().get_many(keys)


class Died(BaseException):
    """The process is gone."""


def observed(*texts):
    return recorded(*(ex.ObservationRecorded(text=text) for text in texts))


def test_a_row_is_found_by_its_words_before_its_vector_is_there(tmp_path):
    with opened(tmp_path, embedder=CheckedEmbedder(CountingModel())) as memories:
        fold(memories, observed("the pool is exhausted"))
        reader = reader_of(tmp_path)
        assert [hit.id for hit in reader.matching("pools", where=ALL, hits_max=5)] == [
            memory_of("e0")
        ]
        (row,) = reader.latest(where=ALL, rows_max=5)
        assert (row.has_vector, row.vector_key is not None) == (False, True)
        assert reader.counts() == {
            "memories": 1,
            "vectors": 0,
            "outstanding": 1,
            "unembeddable": 0,
        }


def test_settled_waits_for_the_first_outstanding_vector_of_each_partition(tmp_path):
    ann, bob = agents(partitions=2)
    told = [
        happened(ex.ObservationRecorded(text="好的"), agent=ann),
        happened(ex.ObservationRecorded(text="The lamp of room 1 is on."), agent=ann),
        happened(ex.ObservationRecorded(text="好的"), agent=bob),
    ]
    with opened(tmp_path) as memories:
        fold(memories, recorded(*told, partitions=2), partitions=2)
        assert memories.settled() == {0: 0, 1: 0}
        settle(memories)
        assert memories.settled() == {0: 1, 1: 0}


def test_a_text_is_embedded_once_for_all_that_say_it_and_never_again(tmp_path):
    model, cache = CountingModel(), InMemoryVectorCache()
    said = observed("one two", "one  two", "three four")
    for name in ("first", "again"):
        folder = tmp_path / name
        with opened(folder, embedder=CheckedEmbedder(model), cache=cache) as memories:
            fold(memories, said)
            settle(memories)
            assert reader_of(folder).counts()["vectors"] == 3
    assert sorted(model.texts) == ["one two", "three four"]


def test_rows_whose_vectors_are_cached_come_with_them(tmp_path):
    model, cache = CountingModel(), InMemoryVectorCache()
    vector = np.full(4, 0.5, dtype=np.float32)
    cache.put_many({vector_key(model.model_id, "memory", "one two"): vector})
    with opened(tmp_path, embedder=CheckedEmbedder(model), cache=cache) as memories:
        fold(memories, observed("one two"))
        (hit,) = reader_of(tmp_path).nearest(vector, where=ALL, hits_max=5)
        assert (hit.id, hit.score) == (memory_of("e0"), pytest.approx(1))
        assert memories.settled() == {0: 0}


@pytest.mark.bad_input(63)
def test_one_bad_vector_of_ten_is_reported_and_the_others_are_there(tmp_path):
    model = CountingModel()
    model.not_a_number = {"bad text"}
    told = [f"text {number}" for number in range(9)]
    with opened(tmp_path, embedder=CheckedEmbedder(model)) as memories:
        fold(memories, observed(*told, "bad text"))
        settle(memories)
        reader = reader_of(tmp_path)
        assert reader.counts() == {
            "memories": 10,
            "vectors": 9,
            "outstanding": 0,
            "unembeddable": 1,
        }
        row = reader.rows([memory_of("e9")])[memory_of("e9")]
        assert (row.has_vector, row.vector_key) == (False, None)
        assert reader.matching("bad", where=ALL, hits_max=3)[0].id == row.id
        assert memories.settled() == {0: 9}


def test_a_text_that_cannot_be_embedded_is_not_tried_again(tmp_path):
    model, cache = CountingModel(), InMemoryVectorCache()
    model.not_a_number = {"bad text"}
    told = [ex.ObservationRecorded(text="bad text"), ex.ObservationRecorded(text="good text")]
    changed = mem.MemoryImportanceChanged(memory=memory_of("e0"), importance=0.9)
    embedder = CheckedEmbedder(model)
    with opened(tmp_path, embedder=embedder, cache=cache) as memories:
        fold(memories, recorded(*told))
        settle(memories)
    tried = len(model.texts)
    with opened(tmp_path, embedder=embedder, cache=cache) as memories:
        fold(memories, recorded(*told, changed))
        settle(memories)
        assert reader_of(tmp_path).counts()["unembeddable"] == 1
    assert len(model.texts) == tried


def test_the_digest_does_not_depend_on_the_pace_of_vectors(tmp_path):
    model = CountingModel()
    model.not_a_number = {"bad text"}
    with opened(tmp_path, embedder=CheckedEmbedder(model)) as memories:
        fold(memories, observed("bad text", "good text"))
        before = digest(memories)
        settle(memories)
        assert digest(memories) == before


def test_rows_go_on_while_the_embedder_does_not_work(tmp_path):
    with opened(tmp_path, embedder=CheckedEmbedder(BrokenModel())) as memories:
        fold(memories, observed("the pool", "the cache"))
        with pytest.raises(StoreUnavailable, match="no engine"):
            memories.follow_up(seconds_max=1)
        fold(memories, observed("the pool", "the cache", "the lamp"))
        assert reader_of(tmp_path).counts()["memories"] == 3
        assert memories.settled() == {0: -1}


def test_rows_go_on_while_the_cache_does_not_work(tmp_path):
    cache = BrokenCache()
    with opened(tmp_path, cache=cache) as memories:
        fold(memories, observed("the pool"))
        with pytest.raises(StoreUnavailable):
            memories.follow_up(seconds_max=1)
        cache.broken = False
        settle(memories)
        assert reader_of(tmp_path).counts()["vectors"] == 1


def test_a_memory_that_changes_keeps_a_vector_that_the_cache_has_lost(tmp_path):
    model = CountingModel()
    told = [ex.ObservationRecorded(text="the pool")]
    changed = mem.MemoryImportanceChanged(memory=memory_of("e0"), importance=0.9)
    with opened(tmp_path, embedder=CheckedEmbedder(model)) as memories:
        fold(memories, recorded(*told))
        settle(memories)
    with opened(tmp_path, embedder=CheckedEmbedder(model)) as memories:  # another cache, empty
        fold(memories, recorded(*told, changed))
        assert reader_of(tmp_path).counts()["vectors"] == 1
    assert len(model.texts) == 1


def test_time_ends_a_follow_up_after_a_run_and_says_that_more_is_left(tmp_path):
    model = CountingModel()
    many = 2 * TEXTS_PER_RUN_MAX + 1
    with opened(tmp_path, embedder=CheckedEmbedder(model)) as memories:
        fold(memories, observed(*(f"text {number}" for number in range(many))))
        assert memories.follow_up(seconds_max=0)
        assert len(model.texts) == TEXTS_PER_RUN_MAX
        assert reader_of(tmp_path).counts()["vectors"] == TEXTS_PER_RUN_MAX
        settle(memories)
        assert len(model.texts) == many


def test_parts_of_a_write_wait_in_the_cache_until_commits_take_a_twentieth_of_the_time(
    tmp_path, monkeypatch
):
    model, seconds = CountingModel(), [0.0]
    many = 5 * TEXTS_PER_RUN_MAX

    def slow_fill(index, vectors, reasons):
        seconds[0] += 1
        fill(index, vectors, reasons)

    fill = LanceIndex.fill
    monkeypatch.setattr(LanceIndex, "fill", slow_fill)
    with opened(tmp_path, embedder=CheckedEmbedder(model)) as memories:
        memories._filler._clock = lambda: seconds[0]
        fold(memories, observed(*(f"text {number}" for number in range(many))))

        def written_after(pause):
            seconds[0] += pause
            assert memories.follow_up(seconds_max=0)
            return reader_of(tmp_path).counts()["vectors"] // TEXTS_PER_RUN_MAX

        assert [written_after(pause) for pause in (0, 0, 19, 1)] == [1, 1, 1, 4]
        assert not memories.follow_up(seconds_max=0), "the last ones are written at once"
        assert len(model.texts) == many
        assert reader_of(tmp_path).counts()["vectors"] == many


@pytest.mark.parametrize(
    "point", ["memories.vectors-cached", "memories.vectors-written", "memories.vectors-noted"]
)
def test_after_a_death_no_text_is_embedded_twice(tmp_path, point):
    model, cache = CountingModel(), InMemoryVectorCache()

    def die(name):
        if name == point:
            raise Died

    embedder = CheckedEmbedder(model)
    with suppress(Died), opened(tmp_path, embedder=embedder, cache=cache) as memories:
        fold(memories, observed("one two", "three four"))
        with fault_points.listening(die):
            settle(memories)
        pytest.fail(f"{point} was not reached")
    with opened(tmp_path, embedder=embedder, cache=cache) as memories:
        settle(memories)
        assert reader_of(tmp_path).counts()["vectors"] == 2
    assert sorted(model.texts) == ["one two", "three four"]


def test_a_vector_for_a_memory_that_is_forgotten_meanwhile_brings_nothing_back(tmp_path):
    forgotten = mem.MemoryForgotten(memories=(memory_of("e0"),))
    with opened(tmp_path) as memories:
        fold(memories, observed("the pool"))
        vector = np.zeros(memories._filler._embedder.dimensions, dtype=np.float32)
        vector[0] = 1
        fold(memories, recorded(ex.ObservationRecorded(text="the pool"), forgotten))
        memories._index.fill({memory_of("e0"): vector}, {})
        assert reader_of(tmp_path).counts()["memories"] == 0
