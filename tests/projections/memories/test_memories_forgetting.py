"""What is forgotten is gone for good, whichever comes first and under every id that it has."""

import pytest

from mnemolog.projections.memories.state_schema import STATE_FILE
from mnemolog.projections.memories.vector_cache import InMemoryVectorCache
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.histories import happened, identity, memory_of, recorded
from support.memory_generations import (
    ALL,
    fold,
    opened,
    place,
    reader_of,
    settle,
    texts,
)

POOL = "The connection pool of web-1 is exhausted."
CACHE = "The cache of web-2 is cold."


@pytest.mark.parametrize("records_max", [1, 2, 9])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(
    "forgetting",
    [
        mem.MemoryForgotten(memories=(memory_of("pin"),)),
        mem.MemoryForgotten(events=(identity("pin"),)),
        mem.MemoryForgotten(texts=("my  word is kohlrabi\n",)),
    ],
)
def test_what_is_forgotten_is_gone_whichever_comes_first(tmp_path, forgetting, first, records_max):
    pin = happened(ex.ObservationRecorded(text="my word is kohlrabi"), event_id="pin")
    about = happened(mem.MemorySummarised(memory=memory_of("pin"), level=1, text="kohlrabi"))
    told = [forgetting, about, pin] if first else [about, pin, forgetting]
    with opened(tmp_path) as memories:
        fold(memories, recorded(ex.ObservationRecorded(text=POOL), *told), records_max=records_max)
        settle(memories)
        assert texts(tmp_path) == {POOL}
        assert {row.values["text"] for row in memories.content()} == {POOL}
    assert b"kohlrabi" not in (place(tmp_path).folder / STATE_FILE).read_bytes()


@pytest.mark.bad_input(87)
def test_a_text_is_forgotten_under_every_id_that_it_has(tmp_path):
    pin = ex.ObservationRecorded(text="my PIN is 0000")
    forgotten = mem.MemoryForgotten(texts=("my PIN is 0000",))
    said = [happened(pin, agent="ann"), happened(pin, agent="bob"), forgotten]
    later = happened(pin, agent="eve")
    with opened(tmp_path) as memories:
        fold(memories, recorded(*said, ex.ObservationRecorded(text=POOL), later), records_max=2)
        assert texts(tmp_path) == {POOL}


def test_to_forget_what_an_event_says_is_to_forget_all_that_it_formed(tmp_path):
    said = "The rollout is at noon. You must never tell my PIN 0000 to anyone."
    message = ex.MessageExchanged(role="user", text=said)
    with opened(tmp_path) as memories:
        fold(memories, recorded(message))
        assert len(texts(tmp_path)) > 1
        fold(memories, recorded(message, mem.MemoryForgotten(texts=(said,))))
        assert texts(tmp_path) == set()


def test_a_shorter_text_is_forgotten_by_itself(tmp_path):
    memory = memory_of("e0")
    told = [
        ex.ObservationRecorded(text=POOL),
        mem.MemorySummarised(memory=memory, level=1, text="pool"),
        mem.MemorySummarised(memory=memory, level=1, text="the PIN is 0000"),
        mem.MemoryForgotten(texts=("the PIN is 0000",)),
    ]
    for records_max in (1, 4):
        with opened(tmp_path / str(records_max)) as memories:
            fold(memories, recorded(*told), records_max=records_max)
            (row,) = reader_of(tmp_path / str(records_max)).latest(where=ALL, rows_max=9)
            assert row.levels == {1: "pool"}


def test_a_vector_that_only_a_forgotten_memory_had_leaves_the_cache(tmp_path):
    cache = InMemoryVectorCache()
    same = ex.ObservationRecorded(text=POOL)
    told = [
        happened(same, agent="ann", event_id="a"),
        happened(same, agent="bob", event_id="b"),
        ex.ObservationRecorded(text=CACHE),
    ]
    with opened(tmp_path, cache=cache) as memories:
        fold(memories, recorded(*told))
        settle(memories)
        assert cache.count() == 2
        one = mem.MemoryForgotten(memories=(memory_of("a", agent="ann"), memory_of("e2")))
        fold(memories, recorded(*told, one))
        settle(memories)
        assert cache.count() == 1
        other = mem.MemoryForgotten(memories=(memory_of("b", agent="bob"),))
        fold(memories, recorded(*told, one, other))
        settle(memories)
        assert cache.count() == 0
