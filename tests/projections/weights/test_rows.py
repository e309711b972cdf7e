"""What single events do to a memory, written out by hand."""

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from mnemolog.projections.weights.decay import Standing
from mnemolog.schemas.events.experience import (
    ContextMeasured,
    DecisionMade,
    FeedbackGiven,
    MessageExchanged,
)
from mnemolog.schemas.events.governance import PolicyChanged
from mnemolog.schemas.events.memory import (
    MemoryArchived,
    MemoryForgotten,
    MemoryFormed,
    MemoryImportanceChanged,
    MemoryPinned,
    MemoryRecalled,
    MemorySummarised,
    MemorySuperseded,
    MemoryUsed,
    RecalledMemory,
)
from mnemolog.schemas.partitioning import governance_key
from mnemolog.schemas.policy import DecayPolicy, Policy
from support.histories import (
    START,
    agents,
    happened,
    identity,
    memory_of,
    recorded,
)
from support.weights import projected, read

A, B = agents(partitions=2)
FACT = MemoryFormed(text="The pool size is 40")
M = memory_of("e0")  # of FACT, where it is the first event and its agent the usual one
HASH_OF_FACT = "ff96ea5285e2d94ca6e951fc3c459bde"  # SHA-256, its first half
HASH_OF_GONE = "df4bc98ea616da7461050afe10cab308"


def standing_after(tmp_path: Path, *events, memory: str = M) -> Standing | None:
    projected(tmp_path, recorded(*events)).close()
    with read(tmp_path) as reader:
        return reader.standings([memory]).get(memory)


def test_a_memory_stands_as_the_rule_gave_it(tmp_path):
    assert standing_after(tmp_path, FACT) == Standing(
        kind="fact", importance=700, initial=1_000, occurred_at=START
    )


def test_an_event_that_forms_none_and_one_that_is_not_wanted_leave_no_row(tmp_path):
    ignored = ContextMeasured(used_tokens=1, limit_tokens=2)
    records = recorded(MessageExchanged(role="user", text="ok"), ignored)
    projection = projected(tmp_path, records)
    assert list(projection.content()) == []
    assert projection.settled() == {0: 1}


def test_uses_count_and_a_decision_that_rests_on_a_memory_is_one(tmp_path):
    standing = standing_after(
        tmp_path,
        FACT,
        MemoryUsed(memories=(M, M)),
        DecisionMade(what="keep it", because_memories=(M,)),
        MemoryRecalled(question="pool?", memories=(RecalledMemory(memory=M, score=1.0),)),
    )
    assert standing is not None
    assert standing.uses == 2
    assert standing.last_used_at == START + timedelta(minutes=2)


def test_the_last_reinforcement_is_the_latest_by_time_not_by_order(tmp_path):
    late = happened(MemoryUsed(memories=(M,)), at=START + timedelta(days=9))
    early = happened(MemoryUsed(memories=(M,)), at=START + timedelta(days=2))
    standing = standing_after(tmp_path, FACT, late, early)
    assert standing is not None
    assert standing.last_used_at == START + timedelta(days=9)


def test_feedback_reaches_a_memory_by_its_id_its_event_and_what_rested_on_it(tmp_path):
    standing = standing_after(
        tmp_path,
        FACT,
        happened(DecisionMade(what="keep it", because_memories=(M,)), event_id="d"),
        FeedbackGiven(target=M, target_kind="memory", score=1.0),
        FeedbackGiven(target="e0", score=0.5),
        FeedbackGiven(target="d", target_kind="decision", score=-0.25),
        FeedbackGiven(target="d", target_kind="event", score=-0.25),
        FeedbackGiven(target="somebody-else's", target_kind="decision", score=1.0),
    )
    assert standing is not None
    assert standing.feedback == 1_000 + 500 - 250 - 250
    assert (standing.relevance_gain, standing.utility_gain) == (200 + 100, -50 - 50)


def test_a_gain_counts_under_the_policy_of_its_event(tmp_path):
    key = governance_key(0, partitions=1)
    generous = Policy(decay=DecayPolicy(feedback_gain=1.0, weight_initial=2.0))
    praise = FeedbackGiven(target=M, target_kind="memory", score=1.0)
    change = happened(PolicyChanged(revision=1, policy=generous), key=key)
    standing = standing_after(tmp_path, FACT, praise, change, praise)
    assert standing is not None
    assert (standing.relevance_gain, standing.initial) == (200 + 1_000, 1_000)
    with read(tmp_path) as reader:
        assert reader.decay_policy() == generous.decay


def test_numbers_beyond_a_column_are_bounded(tmp_path):
    key = governance_key(0, partitions=1)
    absurd = Policy(decay=DecayPolicy(feedback_gain=1e300, weight_initial=1e300))
    change = happened(PolicyChanged(revision=1, policy=absurd), key=key)
    praise = FeedbackGiven(target=memory_of("e1"), target_kind="memory", score=-1.0)
    standing = standing_after(tmp_path, change, FACT, praise, memory=memory_of("e1"))
    assert standing is not None
    assert (standing.initial, standing.relevance_gain) == (10**12, -(10**12))


def test_marks_hold_as_they_were_said_last(tmp_path):
    standing = standing_after(
        tmp_path,
        FACT,
        MemoryPinned(memory=M),
        MemoryImportanceChanged(memory=M, importance=0.25),
        MemorySummarised(memory=M, level=2, text="pool 40"),
        MemorySummarised(memory=M, level=1, text="pool: 40"),
        MemorySuperseded(memory=M, superseded_by="mem_x", valid_until=START + timedelta(days=1)),
        MemoryArchived(memory=M),
    )
    assert standing == Standing(
        kind="fact",
        importance=250,
        initial=1_000,
        occurred_at=START,
        pinned=True,
        level=2,
        valid_until=START + timedelta(days=1),
        superseded=True,
        superseded_by="mem_x",
        archived=True,
    )


def test_within_a_key_the_later_mark_holds_whatever_its_time(tmp_path):
    unpinned = happened(MemoryPinned(memory=M, pinned=False), at=START - timedelta(days=9))
    standing = standing_after(tmp_path, FACT, MemoryPinned(memory=M), unpinned)
    assert standing is not None
    assert not standing.pinned


def test_of_several_keys_marks_the_last_by_time_holds():
    formed = happened(FACT, agent=A)
    memory = memory_of("e0", agent=A)
    pinned = happened(MemoryPinned(memory=memory), agent=A, at=START + timedelta(days=2))
    loosed = happened(
        MemoryPinned(memory=memory, pinned=False), agent=B, at=START + timedelta(days=3)
    )
    again = happened(MemoryPinned(memory=memory), agent=A, at=START + timedelta(days=1))
    for events, expected in (
        ((formed, pinned, loosed), False),
        ((formed, loosed, pinned), False),
        ((formed, pinned, again, loosed), False),
        ((formed, loosed, again, pinned), False),
        ((formed, again, pinned), True),
    ):
        with TemporaryDirectory() as folder:
            projected(Path(folder), recorded(*events, partitions=2), partitions=2).close()
            with read(folder) as reader:
                assert reader.standings([memory])[memory].pinned is expected


def test_what_an_event_says_of_a_memory_may_come_before_the_memory():
    memory = memory_of("formed", agent=A)
    events = (
        happened(MemoryUsed(memories=(memory,)), agent=B),
        happened(MemoryPinned(memory=memory), agent=B),
        happened(FeedbackGiven(target=memory, target_kind="memory", score=1.0), agent=B),
        happened(FACT, agent=A, event_id="formed"),
    )
    with TemporaryDirectory() as folder:
        projected(Path(folder), recorded(*events, partitions=2), partitions=2).close()
        with read(folder) as reader:
            standing = reader.standings([memory])[memory]
    assert (standing.uses, standing.pinned, standing.relevance_gain) == (1, True, 200)


def test_the_covered_rows_of_a_small_history(tmp_path):
    history = recorded(
        FACT,
        MemoryUsed(memories=(M,)),
        FeedbackGiven(target=M, target_kind="memory", score=-0.5),
        MemoryPinned(memory=M),
        MemoryForgotten(texts=("gone for good",)),
    )
    start, minute = 1_893_456_000_000_000, 60_000_000
    memory = {
        "kind": "fact",
        "importance": 700,
        "initial": 1_000,
        "occurred_at": start,
        "valid_from": None,
        "valid_until": None,
        "agent": "ops-1",
        "identity": identity("e0"),
        "text_hash": HASH_OF_FACT,
    }
    judged = {"target_kind": "memory", "target": M, "score": -500, "gain": -100}
    assert [tuple(row[1:]) for row in projected(tmp_path, history).content()] == [
        ("memories", M, memory),
        ("uses", f"{M}/{identity('e1')}", {"occurred_at": start + minute}),
        ("feedback", identity("e2"), {**judged, "occurred_at": start + 2 * minute}),
        (
            "marks",
            f"{M}/pinned/{identity('e3')}",
            {"occurred_at": start + 3 * minute, "number": 1, "other": None},
        ),
        ("forgotten", f"text/{HASH_OF_GONE}/{identity('e4')}", {"kind": "text"}),
    ]
