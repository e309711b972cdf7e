"""What every `BlobStore` does. Subclass it and say how to make one."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from mnemolog.schemas.errors import BlobMissing
from mnemolog.streams.blobs import BlobStore
from mnemolog.streams.clock import system_clock

UNKNOWN = "0" * 64
EVER = system_clock() + timedelta(days=1)  # after all that a test does
NEVER = system_clock() - timedelta(days=1)


class BlobStoreContract:
    @pytest.fixture
    def store(self) -> BlobStore:
        raise NotImplementedError

    @pytest.mark.parametrize(
        "content", [b"", b"a", "好".encode(), b"\x00\xed\xb3\xa9", b"x" * 10**6]
    )
    def test_what_was_put_comes_back_under_its_sha_256(self, store, content):
        assert store.put(content) == hashlib.sha256(content).hexdigest()
        assert store.get(store.put(content)) == content

    def test_a_new_store_has_nothing_and_says_so(self, store):
        assert list(store.stored()) == list(store.leftovers()) == []
        assert store.discard(UNKNOWN, put_before=EVER) is False
        assert store.sweep(written_before=EVER) == 0

    def test_what_is_missing_is_named(self, store):
        with pytest.raises(BlobMissing, match=UNKNOWN) as raised:
            store.get(UNKNOWN)
        assert raised.value.sha256 == UNKNOWN

    def test_what_is_put_twice_is_there_once(self, store):
        names = {store.put(b"a"), store.put(b"b"), store.put(b"a")}
        assert {blob.sha256 for blob in store.stored()} == names
        assert [blob.bytes for blob in store.stored()] == [1, 1]

    def test_what_was_put_before_a_moment_can_be_taken_away(self, store):
        kept, taken = store.put(b"kept"), store.put(b"taken")
        assert store.discard(taken, put_before=EVER) is True
        assert [blob.sha256 for blob in store.stored()] == [kept]
        with pytest.raises(BlobMissing):
            store.get(taken)
        assert store.get(store.put(b"taken")) == b"taken"

    def test_what_was_put_later_stays_and_to_put_it_again_counts(self, store):
        name = store.put(b"a")
        put_at = next(iter(store.stored())).put_at
        assert store.discard(name, put_before=put_at) is False
        store.put(b"a")
        assert next(iter(store.stored())).put_at >= put_at
        assert store.discard(name, put_before=NEVER) is False
        assert store.get(name) == b"a"

    def test_many_who_put_and_take_away_at_once_never_lose_what_was_put_after(self, store):
        contents = [b"%d" % (number % 5) for number in range(200)]

        def work(content: bytes) -> bool:
            store.discard(hashlib.sha256(content).hexdigest(), put_before=NEVER)
            return store.get(store.put(content)) == content

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(work, contents))
        assert len(list(store.stored())) == 5
        assert list(store.leftovers()) == []
