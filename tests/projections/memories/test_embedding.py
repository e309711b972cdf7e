"""What stands around every model: texts prepared, vectors checked, one bad text harms no other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.memories.embedding import (
    BATCH_TEXTS_MAX,
    EMBEDDED_BYTES_MAX,
    CheckedEmbedder,
    Reason,
    Unembeddable,
    checked_vector,
    is_sound,
    prepared_text,
)
from mnemolog.schemas.errors import StoreUnavailable

ANY_TEXT = st.text(st.characters(codec=None))
GOOD = np.array([0.6, 0.8], dtype=np.float32)


class Model:
    """A model that answers as told: `answers` by text, an exception is raised."""

    model_id = "test/2"
    dimensions = 2

    def __init__(self, **answers):
        self.answers = answers
        self.calls = []

    def vectors(self, texts, *, role):
        self.calls.append(list(texts))
        answers = [self.answers.get(text, GOOD) for text in texts]
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers


def reasons(model, texts):
    embedded = CheckedEmbedder(model).embed(texts, role="memory")
    return [one.reason if isinstance(one, Unembeddable) else None for one in embedded]


@pytest.mark.bad_input(63)
@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (np.array([np.nan, 1], dtype=np.float32), Reason.NOT_FINITE),
        (np.array([np.inf, 1], dtype=np.float32), Reason.NOT_FINITE),
        (np.zeros(2, dtype=np.float32), Reason.ZERO),
        (np.ones(3, dtype=np.float32), Reason.WRONG_LENGTH),
        (np.ones((1, 2), dtype=np.float32), Reason.WRONG_LENGTH),
        (ValueError("no such token"), Reason.FAILED),
    ],
)
def test_one_bad_vector_of_ten_leaves_nine(bad, reason):
    texts = [f"text {number}" for number in range(9)]
    assert (
        reasons(Model(bad=bad), [*texts[:4], "bad", *texts[4:]])
        == [None] * 4 + [reason] + [None] * 5
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", Reason.BLANK),
        ("\u3000\u200b\n", Reason.BLANK),
        ("\u2063\ufe0f\u0301", Reason.BLANK),
        ("data:;base64,AAAA", Reason.BLANK),
        ("what is the \0 weather", Reason.NUL),
        ("caf\udce9", Reason.LONE_SURROGATE),
        ("\ud83e", Reason.LONE_SURROGATE),
    ],
)
def test_a_text_that_no_model_should_see_is_never_shown_to_one(text, reason):
    model = Model()
    assert reasons(model, ["good", text, "also good"]) == [None, reason, None]
    assert model.calls == [["good", "also good"]]


def test_only_bad_texts_call_no_model():
    model = Model()
    assert reasons(model, ["", " "]) == [Reason.BLANK] * 2
    assert reasons(model, []) == []
    assert model.calls == []


def test_a_model_that_works_for_no_text_is_the_worlds_fault():
    class Broken(Model):
        def vectors(self, texts, *, role):
            raise RuntimeError("weights are gone")

    with pytest.raises(StoreUnavailable, match="weights are gone"):
        CheckedEmbedder(Broken()).embed(["a", "b"], role="memory")


def test_a_model_that_loses_a_vector_is_asked_text_by_text():
    class Lossy(Model):
        def vectors(self, texts, *, role):
            return super().vectors(texts[:1], role=role)

    assert reasons(Lossy(), ["a", "b", "c"]) == [None] * 3


def test_a_model_that_gives_no_vector_at_all_is_the_worlds_fault():
    class Empty(Model):
        def vectors(self, texts, *, role):
            return []

    with pytest.raises(StoreUnavailable, match="not one vector a text"):
        CheckedEmbedder(Empty()).embed(["a"], role="memory")


def test_a_call_has_a_bounded_number_of_texts():
    model = Model()
    texts = [f"text {number}" for number in range(2 * BATCH_TEXTS_MAX + 1)]
    assert reasons(model, texts) == [None] * len(texts)
    assert [len(call) for call in model.calls] == [BATCH_TEXTS_MAX, BATCH_TEXTS_MAX, 1]


def test_vectors_get_unit_length_and_those_that_have_it_keep_their_bits():
    long = checked_vector(np.array([3, 4], dtype=np.float32), dimensions=2)
    assert long.tobytes() == GOOD.tobytes()
    assert checked_vector(GOOD, dimensions=2) is GOOD
    huge = checked_vector(np.array([3e30, 4e30], dtype=np.float32), dimensions=2)
    assert np.allclose(huge, GOOD)
    assert is_sound(huge)


def test_what_is_checked_twice_keeps_its_bits():
    drawn = np.random.default_rng(1).normal(size=(200, 384)).astype(np.float32)
    once = [checked_vector(vector, dimensions=384) for vector in drawn]
    assert all(is_sound(vector) for vector in once)
    assert all(checked_vector(v, dimensions=384).tobytes() == v.tobytes() for v in once)


def test_texts_that_look_alike_are_prepared_alike():
    assert prepared_text(" cafe\u0301\u3000 au\nlait ") == "café au lait"


def test_base64_is_not_embedded_but_the_words_around_it_are():
    picture = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUg" * 200_000
    assert (
        prepared_text(f"the chart {picture} shows the peak") == "the chart image/png shows the peak"
    )


def test_a_long_text_is_cut_within_the_bound():
    assert len(prepared_text("好" * 10_000).encode()) <= EMBEDDED_BYTES_MAX
    assert len(prepared_text("好" * 10_000).encode()) > EMBEDDED_BYTES_MAX - 3


def test_a_character_longer_than_the_bound_is_still_embedded():
    prepared = prepared_text("a" + "\u0301" * 5_000)
    assert prepared.startswith("á")
    assert len(prepared.encode()) <= EMBEDDED_BYTES_MAX


def test_a_family_at_the_cut_is_whole_or_absent():
    family = "👩‍👩‍👧‍👦"
    prepared = prepared_text("x" * (EMBEDDED_BYTES_MAX - 10) + family)
    assert prepared == "x" * (EMBEDDED_BYTES_MAX - 10)


@given(ANY_TEXT)
def test_any_text_is_prepared_or_has_a_reason(text):
    prepared = prepared_text(text)
    if isinstance(prepared, Unembeddable):
        assert prepared.reason in {Reason.BLANK, Reason.NUL, Reason.LONE_SURROGATE}
    else:
        assert 0 < len(prepared.encode("utf-8", "strict")) <= EMBEDDED_BYTES_MAX
        assert prepared_text(prepared) == prepared
