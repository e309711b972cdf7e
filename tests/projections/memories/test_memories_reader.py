"""What recall reads: order, ties, bounds, links, and all of it beside a writer."""

from datetime import UTC
from functools import partial

import numpy as np
import pytest

from mnemolog.projections.generations import Description, Generations
from mnemolog.projections.memories.lance_reader import LanceMemoryReader
from mnemolog.projections.memories.rows import Filter
from mnemolog.schemas.errors import Damaged, InvalidSetting
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.histories import START, happened, memory_of
from support.memory_generations import ALL, asked, hashing, place
from support.memory_generations import folded as folded_into


@pytest.fixture
def folded(tmp_path):
    """Return a function that folds events into a generation and returns its reader."""
    return partial(folded_into, tmp_path)


def test_the_nearest_come_first_and_ties_by_id(folded):
    same = [ex.ObservationRecorded(text="deploy the billing gateway") for _ in range(4)]
    reader = folded(*same, ex.ObservationRecorded(text="the lamp of room 1"))
    hits = reader.nearest(asked("deploy the billing gateway"), where=ALL, hits_max=10)
    assert [hit.id for hit in hits[:4]] == sorted(memory_of(f"e{n}") for n in range(4))
    assert hits[0].score == pytest.approx(1, abs=1e-5)
    assert hits[4].score < hits[3].score
    few = reader.nearest(asked("deploy the billing gateway"), where=ALL, hits_max=2)
    assert [hit.id for hit in few] == [hit.id for hit in hits[:2]]


def test_words_are_found_stemmed_in_chinese_and_in_tags(folded):
    reader = folded(
        ex.ObservationRecorded(text="We deployed the gateway."),
        ex.ObservationRecorded(text="把机器推论洗成权威事实"),
        ex.ObservationRecorded(text="The lamp is on.", tags=("kitchen",)),
        ex.ObservationRecorded(text="Ticket INC-21234 is open."),
    )
    for question, number in (("deploying", 0), ("权威事实", 1), ("kitchen", 2), ("inc-21234", 3)):
        hits = reader.matching(question, where=ALL, hits_max=1)
        assert [hit.id for hit in hits] == [memory_of(f"e{number}")], question


@pytest.mark.parametrize("question", ["", "  \n", "???", "\u3000", '"', "a AND (", "🎉"])
def test_a_question_without_words_finds_nothing_and_harms_nothing(folded, question):
    reader = folded(ex.ObservationRecorded(text="The lamp is on."))
    assert list(reader.matching(question, where=ALL, hits_max=5)) == []


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_a_vector_that_points_nowhere_is_near_nothing(folded, value):
    reader = folded(ex.ObservationRecorded(text="The lamp is on."))
    vector = np.full(hashing().dimensions, value, dtype=np.float32)
    assert list(reader.nearest(vector, where=ALL, hits_max=5)) == []


def test_a_vector_of_another_length_is_refused_clearly(folded):
    reader = folded(ex.ObservationRecorded(text="The lamp is on."))
    with pytest.raises(InvalidSetting, match="512 numbers"):
        reader.nearest(np.ones(4, dtype=np.float32), where=ALL, hits_max=5)


def test_another_model_is_refused_with_the_way_out(folded, tmp_path):
    folded()
    with pytest.raises(InvalidSetting, match="rebuild memories"):
        LanceMemoryReader.open(place(tmp_path).folder, model_id="counting/4")


def test_a_description_without_an_embedder_is_damaged(tmp_path):
    folder = Generations(tmp_path / "memories").create(Description("memories", 1, "t", 1, {}))
    with pytest.raises(Damaged, match="names no embedder"):
        LanceMemoryReader.open(folder)


@pytest.mark.parametrize("bound", [0, -1])
def test_no_hits_wanted_are_no_hits(folded, bound):
    reader = folded(ex.ObservationRecorded(text="The lamp is on."))
    assert not reader.nearest(asked("lamp"), where=ALL, hits_max=bound)
    assert not reader.matching("lamp", where=ALL, hits_max=bound)
    assert not reader.latest(where=ALL, rows_max=bound)
    assert not reader.links([memory_of("e0")], links_max=bound)


def test_filters_hold_in_both_signals(folded):
    reader = folded(
        happened(ex.ObservationRecorded(text="the lamp of ann"), agent="ann"),
        happened(ex.ObservationRecorded(text="the lamp of O'Brien"), agent="O'Brien"),
    )
    only = Filter(agent="O'Brien")
    wanted = [memory_of("e1", agent="O'Brien")]
    assert [h.id for h in reader.matching("lamp", where=only, hits_max=5)] == wanted
    assert [h.id for h in reader.nearest(asked("lamp"), where=only, hits_max=5)] == wanted


def test_what_is_outdated_or_out_of_the_way_is_not_current(folded):
    reader = folded(
        ex.ObservationRecorded(text="lamp one"),
        ex.ObservationRecorded(text="lamp two"),
        ex.ObservationRecorded(text="lamp three"),
        mem.MemorySuperseded(memory=memory_of("e0"), superseded_by=memory_of("e2")),
        mem.MemoryArchived(memory=memory_of("e1")),
    )
    assert {row.text for row in reader.latest(where=Filter(), rows_max=9)} == {"lamp three"}
    rows = reader.rows([memory_of("e0"), memory_of("e1")])
    assert rows[memory_of("e0")].superseded_by == memory_of("e2")
    assert rows[memory_of("e1")].archived


def test_rows_come_in_the_order_asked_for_and_only_those_that_are_there(folded):
    reader = folded(
        ex.ObservationRecorded(text="lamp one"), ex.ObservationRecorded(text="lamp two")
    )
    asked_for = [memory_of("e1"), "x' OR '1'='1", memory_of("e0"), "\ud800", memory_of("e1")]
    assert list(reader.rows(asked_for)) == [memory_of("e1"), memory_of("e0")]
    assert reader.rows([]) == {}


def test_all_fields_of_a_memory_come_back(folded):
    event = mem.MemoryFormed(
        text="Never log out live sessions.",
        kind="constraint",
        importance=0.85,
        confidence=0.7,
        entities=("JWT",),
        valid_from=START,
        from_events=("x1",),
        tags=("auth", "it's"),
    )
    scope = {"user": "u1", "project": "p1", "session": "s1", "task": "t1"}
    (row,) = folded(happened(event, **scope)).of_event("e0")
    assert (row.kind, row.text, row.importance, row.confidence) == (
        "constraint",
        "Never log out live sessions.",
        0.85,
        0.7,
    )
    assert {"auth", "it's"} <= set(row.tags)
    assert "JWT" in row.entities
    assert (row.valid_from, row.valid_until, row.occurred_at) == (START, None, START)
    assert row.occurred_at.tzinfo is UTC
    assert (row.user, row.project, row.session, row.task) == ("u1", "p1", "s1", "t1")
    assert (row.position, row.key, row.from_events) == ((0, 0), "ops-1", ["x1"])


def test_an_events_memories_come_by_ordinal(folded):
    said = "The rollout is at noon. You must never log out live sessions. I prefer short answers."
    rows = folded(ex.MessageExchanged(role="user", text=said)).of_event("e0")
    assert len(rows) > 1
    assert [row.ordinal for row in rows] == list(range(len(rows)))


def test_a_session_comes_in_the_order_of_occurrence_and_the_latest_newest_first(folded):
    told = [
        happened(ex.ObservationRecorded(text=f"lamp {n}"), session="s", at=START) for n in range(3)
    ]
    other = happened(ex.ObservationRecorded(text="lamp of others"), session="s2")
    reader = folded(*told, other)
    assert [r.text for r in reader.of_session("s", where=ALL, rows_max=2)] == ["lamp 0", "lamp 1"]
    latest = reader.latest(where=ALL, rows_max=3)
    assert [row.text for row in latest] == ["lamp of others", "lamp 2", "lamp 1"]
