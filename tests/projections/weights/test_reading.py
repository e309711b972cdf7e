"""Reading weights beside a writer, in this process and in another."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from mnemolog.projections.weights.projection import WeightsProjection
from mnemolog.projections.weights.reading import WeightReader
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.schemas.events.experience import DecisionMade, FeedbackGiven
from mnemolog.schemas.events.governance import PolicyChanged
from mnemolog.schemas.events.memory import MemoryFormed, MemoryPinned, MemoryUsed
from mnemolog.schemas.partitioning import governance_key
from mnemolog.schemas.policy import BUILT_IN, DecayPolicy, Policy
from support.histories import START, batches, happened, memory_of, recorded
from support.weights import place, read

FACT = MemoryFormed(text="The pool size is 40")
M = memory_of("e0")
IN_ANOTHER_PROCESS = """
import json, sys
from datetime import datetime
from pathlib import Path
from mnemolog.projections.weights.reading import WeightReader
reader = WeightReader.open(Path(sys.argv[1]))
at = datetime.fromisoformat(sys.argv[3])
found = reader.weights([sys.argv[2]], at=at, decay=reader.decay_policy())
print(json.dumps({name: [w.uses, w.weight] for name, w in found.items()}))
"""


def applied(folder, *events, partitions=1) -> WeightsProjection:
    projection = WeightsProjection.open(place(folder))
    for batch in batches(recorded(*events, partitions=partitions), partitions=partitions):
        projection.apply(batch)
    return projection


def test_a_weight_shows_what_it_follows_from(tmp_path):
    applied(tmp_path, FACT, MemoryUsed(memories=(M,)), MemoryPinned(memory=M)).close()
    with read(tmp_path) as reader:
        weight = reader.weights([M], at=START + timedelta(days=5), decay=BUILT_IN.decay)[M]
    assert (weight.initial, weight.importance, weight.uses) == (1, 0.7, 1)
    assert (weight.pinned, weight.retention, weight.weight) == (True, 1, 1)
    assert weight.last_reinforcement == START + timedelta(minutes=1)
    assert weight.age_days == pytest.approx(5 - 1 / 1_440)
    assert weight.time_constant_days == pytest.approx(90 * 3.8 * (1 + 0.6931471805599453))
    assert weight.standing.kind == "fact"


def test_the_age_is_that_at_the_questions_time(tmp_path):
    applied(tmp_path, FACT).close()
    with read(tmp_path) as reader:
        soon, late, before = (
            reader.weights([M], at=START + timedelta(days=d), decay=BUILT_IN.decay)[M]
            for d in (1, 100, -5)
        )
    assert before.age_days == 0 < soon.age_days < late.age_days
    assert before.weight > soon.weight > late.weight


def test_unknown_memories_are_absent_and_many_can_be_asked_for(tmp_path):
    events = [happened(FACT, event_id=f"m{n}") for n in range(1_100)]
    applied(tmp_path, *events).close()
    ids = [memory_of(f"m{n}") for n in range(1_100)]
    with read(tmp_path) as reader:
        assert reader.weights([], at=START, decay=BUILT_IN.decay) == {}
        found = reader.weights([*ids, "mem_unknown"], at=START, decay=BUILT_IN.decay)
    assert found.keys() == set(ids)


def test_the_decay_policy_is_that_of_the_highest_revision_of_any_partition(tmp_path):
    numbers = [DecayPolicy(weight_min=0.1 * n) for n in range(3)]
    changes = [
        happened(
            PolicyChanged(revision=revision, policy=Policy(decay=numbers[revision])),
            key=governance_key(partition, partitions=2),
        )
        for partition, revision in ((0, 2), (1, 1))
    ]
    projection = applied(tmp_path, *changes, partitions=2)
    with read(tmp_path) as reader:
        assert reader.decay_policy() == numbers[2]
    projection.close()


def test_without_a_policy_the_built_in_one_holds(tmp_path):
    applied(tmp_path, FACT).close()
    with read(tmp_path) as reader:
        assert reader.decay_policy() == BUILT_IN.decay


def test_a_memorys_contributing_events_are_named_oldest_first(tmp_path):
    applied(
        tmp_path,
        FACT,
        happened(DecisionMade(what="keep it", because_memories=(M,)), event_id="d"),
        happened(FeedbackGiven(target=M, target_kind="memory", score=1.0), event_id="f1"),
        happened(FeedbackGiven(target="d", target_kind="decision", score=1.0), event_id="f2"),
        happened(FeedbackGiven(target="e0", score=1.0), event_id="f3"),
        happened(MemoryPinned(memory=M), event_id="p1"),
        happened(MemoryPinned(memory=M, pinned=False), event_id="p2"),
        happened(MemoryPinned(memory="another"), event_id="p3"),
    ).close()
    with read(tmp_path) as reader:
        assert reader.contributing_events(M) == ["d", "f1", "f2", "f3", "p1", "p2"]
        assert reader.contributing_events(M, events_max=2) == ["d", "f1"]
        assert reader.contributing_events("mem_unknown") == []


@pytest.mark.parametrize("writer_open", [True, False])
def test_another_process_reads_beside_the_writer_and_after_it(tmp_path, writer_open):
    projection = applied(tmp_path, FACT, MemoryUsed(memories=(M,)))
    if not writer_open:
        projection.close()
    at = (START + timedelta(minutes=1)).isoformat()
    command = [sys.executable, "-c", IN_ANOTHER_PROCESS, str(tmp_path), M, at]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout) == {M: [1, 1.0]}
    projection.close()


def test_a_reader_sees_what_is_committed_after_it_was_opened(tmp_path):
    projection = applied(tmp_path, FACT)
    with read(tmp_path) as reader:
        assert reader.standings([M])[M].uses == 0
        records = recorded(FACT, MemoryUsed(memories=(M,)))
        for batch in batches(records):
            projection.apply(batch)
        assert reader.standings([M])[M].uses == 1
    projection.close()


def test_a_reader_takes_no_lock_that_the_writer_waits_for(tmp_path):
    projection = applied(tmp_path, FACT)
    records = recorded(FACT, *(MemoryUsed(memories=(M,)) for _ in range(40)))
    with read(tmp_path) as reader, ThreadPoolExecutor(4) as threads:
        counts = [threads.submit(lambda: reader.standings([M])[M].uses) for _ in range(200)]
        for batch in batches(records, records_max=1):
            projection.apply(batch)
        assert all(0 <= count.result() <= 40 for count in counts)
        assert reader.standings([M])[M].uses == 40
    projection.close()


def test_a_reader_may_not_write(tmp_path):
    applied(tmp_path, FACT).close()
    with read(tmp_path) as reader, pytest.raises(Exception, match="readonly"):
        reader._connection.execute("DELETE FROM memories")


def test_where_no_generation_is_the_store_is_unavailable(tmp_path):
    with pytest.raises(StoreUnavailable):
        WeightReader.open(tmp_path).decay_policy()


def test_a_reader_may_be_closed_twice(tmp_path):
    applied(tmp_path, FACT).close()
    reader = WeightReader.open(tmp_path)
    reader.close()
    reader.close()
