"""Forgetting is final, whichever came first, and takes what others added with it."""

from datetime import timedelta
from itertools import permutations

import pytest

from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.weights.projection import WeightsProjection
from mnemolog.schemas.events.experience import FeedbackGiven, ObservationRecorded
from mnemolog.schemas.events.memory import MemoryForgotten, MemoryPinned, MemoryUsed
from support.histories import START, agents, batches, happened, identity, memory_of, recorded
from support.weights import place

NAMES = agents(partitions=4)
TEXT = "The pool  is exhausted"
M = memory_of("formed", agent=NAMES[0])
FORMED = happened(ObservationRecorded(text=TEXT), agent=NAMES[0], event_id="formed")
ADDED = (
    happened(MemoryUsed(memories=(M,)), agent=NAMES[1], event_id="used"),
    happened(
        FeedbackGiven(target=M, target_kind="memory", score=1.0), agent=NAMES[2], event_id="f"
    ),
)
WAYS = {
    "memory": MemoryForgotten(memories=(M,)),
    "event": MemoryForgotten(events=(identity("formed", agent=NAMES[0]),)),
    "text": MemoryForgotten(texts=(" The pool is\nexhausted",)),
}


def rows(folder, events) -> tuple[list[tuple[str, str]], str]:
    projection = WeightsProjection.open(place(folder))
    for batch in batches(recorded(*events, partitions=4), records_max=1, partitions=4):
        projection.apply(batch)
    content = list(projection.content())
    projection.close()
    return sorted((row.table, row.row_id) for row in content), ContentDigest.of(content).hex


@pytest.mark.parametrize("way", WAYS)
def test_in_any_order_nothing_but_the_forgetting_is_left(tmp_path, way):
    forgotten = happened(WAYS[way], agent=NAMES[3], event_id="forget")
    at = {
        name: START + timedelta(minutes=n)
        for n, name in enumerate(("formed", "used", "f", "forget"))
    }
    left = set()
    for number, order in enumerate(permutations((FORMED, *ADDED, forgotten))):
        timed = [
            happened(e.event, agent=e.agent, event_id=e.event_id, at=at[e.event_id]) for e in order
        ]
        found, digest = rows(tmp_path / str(number), timed)
        assert [table for table, _ in found] == ["forgotten", "gone"]
        assert found[1] == ("gone", M)
        left.add(digest)
    assert len(left) == 1


def test_what_is_added_later_to_a_forgotten_memory_leaves_no_row(tmp_path):
    forgotten = happened(WAYS["text"], agent=NAMES[3])
    later = happened(MemoryPinned(memory=M), agent=NAMES[1])
    found, _ = rows(tmp_path, (FORMED, forgotten, *ADDED, later))
    assert [table for table, _ in found] == ["forgotten", "gone"]


def test_the_same_text_said_again_is_forgotten_too_and_another_is_not(tmp_path):
    forgotten = happened(WAYS["text"], agent=NAMES[3])
    again = happened(ObservationRecorded(text="The pool is exhausted"), agent=NAMES[1])
    other = happened(ObservationRecorded(text="The pool is full"), agent=NAMES[1], event_id="o")
    found, _ = rows(tmp_path, (FORMED, forgotten, again, other))
    assert [table for table, _ in found] == ["forgotten", "gone", "gone", "memories"]
    assert found[-1] == ("memories", memory_of("o", agent=NAMES[1]))


def test_a_memory_forgotten_by_id_leaves_its_like_alone(tmp_path):
    again = happened(ObservationRecorded(text=TEXT), agent=NAMES[1], event_id="again")
    forgotten = happened(WAYS["memory"], agent=NAMES[3])
    found, _ = rows(tmp_path, (FORMED, again, forgotten, *ADDED))
    assert ("memories", memory_of("again", agent=NAMES[1])) in found
    assert ("memories", M) not in found


def test_many_memories_are_forgotten_by_one_event(tmp_path):
    ids = tuple(memory_of(f"e{n}", agent=NAMES[0]) for n in range(1_200))
    events = [
        happened(ObservationRecorded(text=f"number {n}"), agent=NAMES[0], event_id=f"e{n}")
        for n in range(1_200)
    ]
    projection = WeightsProjection.open(place(tmp_path))
    forgotten = happened(MemoryForgotten(memories=ids[:1_100]), agent=NAMES[0], event_id="forget")
    for batch in batches(recorded(*events, forgotten, partitions=4), partitions=4):
        projection.apply(batch)
    left = {row.row_id for row in projection.content() if row.table == "memories"}
    assert left == set(ids[1_100:])
