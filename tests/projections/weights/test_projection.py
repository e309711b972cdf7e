"""One content, whatever way the events came; crashes and faults lose and double nothing."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.fault_points import listening
from mnemolog.projections.weights import projection as module
from mnemolog.projections.weights.projection import FAULT_POINTS, WeightsProjection
from mnemolog.schemas.events.experience import (
    FeedbackGiven,
    MessageExchanged,
    ObservationRecorded,
)
from mnemolog.schemas.events.memory import (
    MemoryForgotten,
    MemoryFormed,
    MemoryImportanceChanged,
    MemoryPinned,
    MemoryUsed,
)
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
from support.weights import digest, place, projected

A, B = agents(partitions=2)
FACT = MemoryFormed(text="The pool size is 40")


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
        happened(MemoryForgotten(events=(identity("b7", agent=B),)), agent=A),
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
