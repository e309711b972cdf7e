"""What hangs, fails or is not there is named, and the rest answers."""

import threading

import numpy as np
import pytest

from mnemolog.schemas.errors import StoreUnavailable
from support.asking import (
    HASHING,
    POOL,
    READER,
    TEAM,
    Hanging,
    ask,
    ids,
)
from support.in_memory_reader import InMemoryReader


@pytest.fixture
def gate():
    opened = threading.Event()
    yield opened
    opened.set()


class FailingEmbedder:
    model_id = HASHING.model_id
    dimensions = HASHING.dimensions

    def embed(self, texts, *, role):
        raise StoreUnavailable("embedder test", "out of memory")


# What is missing


def test_an_empty_index_gives_an_empty_answer():
    answer = ask("anything", InMemoryReader([], model_id=HASHING.model_id))
    assert (len(answer), answer.text, answer.tokens, answer.missing) == (0, "", 0, ())


def test_before_anything_is_projected_the_answer_says_so():
    answer = ask("anything", None)
    assert (len(answer), answer.missing) == (0, ("memories: nothing has been projected yet",))


def test_an_embedder_that_hangs_leaves_what_the_words_find_and_is_named(gate):
    answer = ask("connection pool", READER, embedder=Hanging(gate), timeout_seconds=0.5)
    assert ids(answer)[0] == POOL.id
    assert answer.missing == ("dense: timed out",)


def test_an_embedder_that_fails_leaves_what_the_words_find_and_is_named():
    answer = ask("connection pool", READER, embedder=FailingEmbedder())
    assert ids(answer) == [POOL.id]
    assert answer.missing == ("dense: embedder test: out of memory",)


def test_without_an_embedder_the_words_answer():
    answer = ask("connection pool", READER, embedder=None)
    assert ids(answer) == [POOL.id]
    assert answer.missing == ("dense: embedder: there is none",)


def test_vectors_of_another_model_are_not_compared():
    other = InMemoryReader([POOL], vectors={POOL.id: np.ones(4)}, model_id="another")
    answer = ask("connection pool", other)
    assert ids(answer) == [POOL.id]
    assert "the index holds another" in answer.missing[0]


def test_a_store_that_hangs_gives_an_empty_answer_in_time(gate):
    answer = ask("connection pool", Hanging(gate), timeout_seconds=0.2)
    assert len(answer) == 0
    assert answer.missing == ("dense: timed out", "lexical: timed out")


class RowsFail(InMemoryReader):
    def rows(self, ids):
        raise StoreUnavailable("memories", "not found")


def test_a_store_that_fails_between_two_reads_gives_an_empty_answer():
    answer = ask("pool", RowsFail([POOL], model_id=HASHING.model_id))
    assert len(answer) == 0
    assert answer.missing == ("memories: memories: not found",)


def test_no_time_at_all_gives_what_is_ready_which_may_be_nothing(gate):
    answer = ask("pool", Hanging(gate), embedder=Hanging(gate), timeout_seconds=0)
    assert len(answer) == 0
    assert len(answer.missing) == 2


def test_weights_that_hang_are_named_and_the_rest_answers(gate):
    weights = Hanging(gate)
    answer = ask("connection pool", READER, weights=weights, without=(), timeout_seconds=0.5)
    assert ids(answer)[0] == POOL.id
    assert answer.missing == ("weight: timed out",)
    assert answer[0].weight is None


def test_weights_that_nothing_has_projected_are_named():
    answer = ask("connection pool", READER, without=())
    assert answer.missing == ("weight: nothing has been projected yet",)


def test_a_memory_without_a_vector_is_found_by_its_words():
    reader = InMemoryReader([POOL, TEAM], vectors={}, model_id=HASHING.model_id)
    answer = ask("connection pool", reader)
    assert ids(answer) == [POOL.id]
    assert answer.missing == ()
