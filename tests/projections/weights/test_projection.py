"""The weights of small histories, written out by hand, whatever way the events came."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.fault_points import listening
from mnemolog.projections.weights import projection as module
from mnemolog.projections.weights.decay import Standing
from mnemolog.projections.weights.projection import FAULT_POINTS, WeightsProjection
from mnemolog.schemas.events.experience import (
    ContextMeasured,
    DecisionMade,
    FeedbackGiven,
    MessageExchanged,
    ObservationRecorded,
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
from mnemolog.schemas.records import LogRecord
from support.histories import (
    START,
    agents,
    appended_again,
    batches,
    deliveries,
    happened,
    identity,
    memory_of,
    recorded,
)
from support.weights import place, read

A, B = agents(partitions=2)
FACT = MemoryFormed(text="The pool size is 40")
M = memory_of("e0")  # of FACT, where it is the first event and its agent the usual one


def standing_after(tmp_path: Path, *events, memory: str = M) -> Standing | None:
    projected(tmp_path, recorded(*events)).close()
    with read(tmp_path) as reader:
        return reader.standings([memory]).get(memory)


def projected(folder: Path, records, *, partitions=1, records_max=3) -> WeightsProjection:
    projection = WeightsProjection.open(place(folder))
    for batch in batches(records, records_max=records_max, partitions=partitions):
        projection.apply(batch)
    return projection


def digest(projection: WeightsProjection) -> str:
    return ContentDigest.of(projection.content()).hex


# What single events do


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


# The covered rows, by hand


def test_the_covered_rows_of_a_small_history(tmp_path):
    projection = projected(
        tmp_path,
        recorded(
            FACT,
            MemoryUsed(memories=(M,)),
            FeedbackGiven(target=M, target_kind="memory", score=-0.5),
            MemoryPinned(memory=M),
            MemoryForgotten(texts=("gone for good",)),
        ),
    )
    start = 1_893_456_000_000_000
    assert list(projection.content()) == [
        (
            "ops-1",
            "memories",
            M,
            {
                "kind": "fact",
                "importance": 700,
                "initial": 1_000,
                "occurred_at": start,
                "valid_from": None,
                "valid_until": None,
                "agent": "ops-1",
                "identity": identity("e0"),
                "text_hash": "ff96ea5285e2d94ca6e951fc3c459bde",
            },
        ),
        ("ops-1", "uses", f"{M}/{identity('e1')}", {"occurred_at": start + 60_000_000}),
        (
            "ops-1",
            "feedback",
            identity("e2"),
            {
                "target_kind": "memory",
                "target": M,
                "score": -500,
                "gain": -100,
                "occurred_at": start + 120_000_000,
            },
        ),
        (
            "ops-1",
            "marks",
            f"{M}/pinned/{identity('e3')}",
            {"occurred_at": start + 180_000_000, "number": 1, "other": None},
        ),
        (
            "ops-1",
            "forgotten",
            f"text/df4bc98ea616da7461050afe10cab308/{identity('e4')}",
            {"kind": "text"},
        ),
    ]


# However it came


def history() -> list[LogRecord]:
    """Return what two agents did, each with the other's memories, forgetting among it."""
    of_a, of_b = memory_of("a1", agent=A), memory_of("b1", agent=B)
    said = memory_of("a2", 1, agent=A)
    day = timedelta(days=1)
    return recorded(
        happened(FACT, agent=A, event_id="a1"),
        happened(ObservationRecorded(text="Node-7 leaks."), agent=B, event_id="b1"),
        happened(MemoryUsed(memories=(of_a, of_b)), agent=B),
        happened(MessageExchanged(role="user", text="Never restart it."), agent=A, event_id="a2"),
        happened(MemoryUsed(memories=(of_b, said)), agent=A),
        happened(MemoryPinned(memory=of_b), agent=A, at=START + 2 * day),
        happened(MemoryPinned(memory=of_b, pinned=False), agent=B, at=START + day),
        happened(FeedbackGiven(target="b1", score=0.7, comment="right"), agent=A),
        happened(MemoryImportanceChanged(memory=of_a, importance=0.4), agent=B),
        happened(MemoryForgotten(texts=("Never restart  it.",)), agent=B),
        happened(MemoryForgotten(memories=(of_a,)), agent=B),
        happened(MessageExchanged(role="user", text="Never restart it."), agent=B),
        happened(MemoryUsed(memories=(of_a, of_b)), agent=A),
        happened(FeedbackGiven(target=of_a, target_kind="memory", score=1.0), agent=A),
        happened(MemoryForgotten(events=("b7",)), agent=A),
        happened(ObservationRecorded(text="seven"), agent=B, event_id="b7"),
        happened(MemoryUsed(memories=(memory_of("b7", agent=B),)), agent=A),
        partitions=2,
    )


RECORDS = history()


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> str:
    return digest(projected(tmp_path_factory.mktemp("expected"), RECORDS, partitions=2))


@given(data=st.data())
def test_any_interleaving_cut_and_repetition_gives_one_digest(expected, data):
    with TemporaryDirectory() as folder:
        projection = WeightsProjection.open(place(folder))
        for batch in data.draw(deliveries(RECORDS, partitions=2)):
            projection.apply(batch)
        assert digest(projection) == expected
        projection.close()


@given(again=st.lists(st.sampled_from(RECORDS)))
def test_events_appended_again_far_apart_have_no_effect(expected, again):
    with TemporaryDirectory() as folder:
        records = appended_again(RECORDS, again)
        projection = projected(Path(folder), records, partitions=2, records_max=4)
        assert digest(projection) == expected
        assert projection._ledger.counts()["repeats"] == 0
        projection.close()


def test_one_partition_or_two_give_one_digest(tmp_path, expected):
    ends: list[LogRecord] = []
    for record in RECORDS:
        ends.append(replace(record, partition=0, offset=len(ends)))
    assert digest(projected(tmp_path, ends)) == expected


def test_a_second_event_of_an_identity_is_listed_and_not_applied(tmp_path):
    other = happened(MemoryFormed(text="The pool size is 50"), event_id="e0")
    projection = projected(tmp_path, recorded(FACT, other))
    assert digest(projection) == digest(projected(tmp_path / "other", recorded(FACT)))
    assert projection._ledger.counts()["repeats"] == 1


class Crash(Exception):
    pass


@pytest.mark.parametrize("point", FAULT_POINTS)
@pytest.mark.parametrize("nth", [1, 3])
def test_a_crash_between_two_steps_loses_and_doubles_nothing(tmp_path, expected, point, nth):
    reached = []

    def die(name: str) -> None:
        reached.append(name)
        if reached.count(point) == nth:
            raise Crash

    with suppress(Crash), listening(die):
        projected(tmp_path, RECORDS, partitions=2)
    assert reached.count(point) == nth
    assert digest(projected(tmp_path, RECORDS, partitions=2)) == expected


def test_every_fault_point_is_reached(tmp_path):
    reached = []
    with listening(reached.append):
        projected(tmp_path, recorded(FACT))
    assert reached == list(FAULT_POINTS)


def test_what_can_not_be_folded_is_parked_with_its_keys_later_events(tmp_path, monkeypatch):
    def poisoned(recorded_event, formed, decay):
        if isinstance(recorded_event.event, MemoryPinned):
            raise ZeroDivisionError("poison")
        return module_rows_of(recorded_event, formed, decay)

    module_rows_of = module.rows_of
    monkeypatch.setattr(module, "rows_of", poisoned)
    records = recorded(
        happened(FACT, agent=A),
        happened(MemoryPinned(memory="m"), agent=A, event_id="bad"),
        happened(FACT, agent=A, event_id="behind"),
        happened(FACT, agent=B, event_id="other-key"),
        partitions=2,
    )
    projection = projected(tmp_path, records, partitions=2, records_max=10)
    parked = [(p.identity, p.reason, p.behind) for p in projection.parked()]
    assert parked == [
        (identity("bad", agent=A), "ZeroDivisionError: poison", False),
        (identity("behind", agent=A), "ZeroDivisionError: poison", True),
    ]
    assert {row.key for row in projection.content()} == {A, B}
    assert projection.settled() == {0: 2, 1: 0}

    monkeypatch.setattr(module, "rows_of", module_rows_of)
    (retry,) = batches([p.record for p in projection.parked()], partitions=2)
    projection.apply(replace(retry, retried=True))
    assert projection.parked() == []
    assert digest(projection) == digest(
        projected(tmp_path / "sound", records, partitions=2, records_max=10)
    )


def test_an_opened_generation_goes_on_where_it_was(tmp_path, expected):
    first = projected(tmp_path, RECORDS[:9], partitions=2)
    first.close()
    first.close()
    second = projected(tmp_path, RECORDS, partitions=2)
    assert digest(second) == expected
    assert not second.follow_up(seconds_max=0)
    assert second.settled() == {p: done.last_applied for p, done in second.progress().items()}
