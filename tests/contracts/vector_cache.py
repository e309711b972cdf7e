"""What every `VectorCache` does. Subclass it and say how to make one."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from mnemolog.projections.memories.vector_cache import VectorCache, vector_key


def unit(seed: int, *, dimensions: int = 384) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=dimensions)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


class VectorCacheContract:
    @pytest.fixture
    def cache(self) -> VectorCache:
        raise NotImplementedError

    def test_an_empty_cache_has_nothing(self, cache):
        assert cache.get_many(["a", "b"]) == {}
        assert cache.get_many([]) == {}
        assert cache.count() == 0

    def test_what_was_put_comes_back_bit_for_bit(self, cache):
        cache.put_many({"a": unit(1), "b": unit(2, dimensions=512)})
        found = cache.get_many(["a", "b", "c"])
        assert found.keys() == {"a", "b"}
        assert found["a"].dtype == np.float32
        assert found["a"].tobytes() == unit(1).tobytes()
        assert found["b"].tobytes() == unit(2, dimensions=512).tobytes()

    def test_putting_twice_keeps_one_and_the_later(self, cache):
        cache.put_many({"a": unit(1)})
        cache.put_many({"a": unit(2)})
        assert cache.count() == 1
        assert cache.get_many(["a", "a"])["a"].tobytes() == unit(2).tobytes()

    def test_putting_nothing_is_harmless(self, cache):
        cache.put_many({})
        assert cache.count() == 0

    def test_more_keys_than_a_statement_takes_are_found(self, cache):
        vectors = {f"k{number}": unit(number, dimensions=4) for number in range(2_100)}
        cache.put_many(vectors)
        assert cache.get_many(vectors).keys() == vectors.keys()

    def test_a_changed_array_does_not_change_what_was_put(self, cache):
        vector = unit(1)
        cache.put_many({"a": vector})
        vector[:] = 0
        assert cache.get_many(["a"])["a"].tobytes() == unit(1).tobytes()

    @pytest.mark.parametrize(
        "unsound",
        [
            np.full(4, np.nan, dtype=np.float32),
            np.zeros(4, dtype=np.float32),
            np.ones(4, dtype=np.float32),
            np.zeros(0, dtype=np.float32),
            np.array([1.0, 0.0]),
            np.array([[1.0, 0.0]], dtype=np.float32),
        ],
        ids=["not a number", "zero", "too long", "empty", "float64", "a matrix"],
    )
    def test_an_unsound_vector_is_refused_and_nothing_of_its_batch_is_kept(self, cache, unsound):
        with pytest.raises(AssertionError):
            cache.put_many({"a": unit(1), "b": unsound})
        assert cache.count() == 0

    def test_deleted_keys_are_gone_and_the_others_stay(self, cache):
        cache.put_many({"a": unit(1), "b": unit(2)})
        cache.delete_many(["a", "never put"])
        assert cache.get_many(["a", "b"]).keys() == {"b"}

    def test_threads_share_it(self, cache):
        def work(number: int) -> bytes:
            cache.put_many({f"k{number}": unit(number)})
            return cache.get_many([f"k{number}"])[f"k{number}"].tobytes()

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(work, range(40)))
        assert found == [unit(number).tobytes() for number in range(40)]
        assert cache.count() == 40

    def test_a_key_with_quotes_is_only_a_key(self, cache):
        cache.put_many({"x' OR '1'='1": unit(1)})
        assert cache.get_many(["x"]) == {}
        cache.delete_many(["' OR 1=1 --"])
        assert cache.get_many([key := "x' OR '1'='1"]).keys() == {key}

    def test_keys_of_vector_key_are_keys(self, cache):
        key = vector_key("model", "memory", "部署失败")
        cache.put_many({key: unit(1)})
        assert cache.get_many([key]).keys() == {key}
