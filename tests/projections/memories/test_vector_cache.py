"""The key of a vector, and the cache that lasts as long as the process."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.vector_cache import VectorCacheContract, unit
from mnemolog.projections.memories.vector_cache import (
    InMemoryVectorCache,
    vector_bytes,
    vector_key,
    vector_of,
)

ANY_TEXT = st.text(st.characters(codec=None))


class TestInMemoryVectorCache(VectorCacheContract):
    @pytest.fixture
    def cache(self):
        return InMemoryVectorCache()


def test_a_key_is_the_same_for_ever():
    assert vector_key("m", "memory", "部署 失败") == "64ee71df327e90a3de32d8a6498ce843"


def test_texts_that_look_alike_share_a_vector():
    assert vector_key("m", "memory", "cafe\u0301  au\nlait") == vector_key(
        "m", "memory", "café au lait"
    )


def test_model_role_and_text_each_make_another_key():
    keys = {
        vector_key(model, role, text)
        for model in ("m", "n")
        for role in ("memory", "question")
        for text in ("a", "b")
    }
    assert len(keys) == 8


def test_parts_that_run_into_each_other_do_not_meet():
    assert vector_key("m:memory", "memory", "x") != vector_key("m", "memory", ":memory x")


@given(ANY_TEXT)
def test_any_text_has_a_key_of_32_digits(text):
    key = vector_key("m", "memory", text)
    assert len(key) == 32
    assert int(key, 16) >= 0


@pytest.mark.parametrize("stored", [b"", b"abc", b"\0" * 16, b"\xff" * 16])
def test_bytes_that_are_no_vector_are_none(stored):
    assert vector_of(stored) is None


def test_bytes_are_little_endian_float32():
    assert vector_bytes(np.array([1, 0], dtype=np.float32)) == bytes.fromhex("0000803f00000000")
    assert vector_of(vector_bytes(unit(1))).tobytes() == unit(1).tobytes()
