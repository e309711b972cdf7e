"""What events say of memories, and that the order in which they say it does not matter."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.formed_memory import Formed
from mnemolog.projections.memories.composing import composed, latest
from mnemolog.projections.memories.contributions import Contribution, changes_of, text_hash
from mnemolog.projections.memories.formed_json import formed_json, formed_of
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from mnemolog.schemas.times import microseconds
from support.histories import START, happened
from support.histories import opened as events
from support.memory_generations import formed

NOTHING = Formed((), "none")


def said(**of):
    plain = {"target": "m", "kind": "importance", "cause": "c", "key": "k"}
    return Contribution(**plain | {"offset": 0, "occurred_at": 0} | of)


contributions = st.builds(
    said,
    kind=st.sampled_from(["superseded", "archived", "importance", "summary"]),
    level=st.integers(0, 2),
    key=st.sampled_from(["ann", "bob"]),
    offset=st.integers(0, 3),
    occurred_at=st.integers(0, 2),
    number=st.one_of(st.none(), st.integers(0, 1000)),
    text=st.one_of(st.none(), st.sampled_from(["x", "y"])),
).map(lambda one: replace(one, cause=f"{one.offset} of {one.key}"))  # each event has one identity


@given(st.lists(contributions, unique_by=lambda one: one.cause), st.data())
def test_contributions_in_any_order_compose_one_memory(some, data):
    other = data.draw(st.permutations(some))
    assert composed(formed(1), some) == composed(formed(1), other)


def test_within_a_key_the_later_position_counts_whatever_the_clock_says():
    early = said(offset=1, occurred_at=9, number=100)
    late = said(offset=2, occurred_at=3, number=200)
    assert latest([late, early]) is late


def test_across_keys_the_later_time_counts_and_ties_are_broken_by_identity():
    ann = said(key="ann", offset=9, occurred_at=5, cause="a")
    bob = said(key="bob", offset=1, occurred_at=5, cause="b")
    assert latest([bob, ann]) is bob
    assert latest([bob, replace(ann, occurred_at=6)]).key == "ann"


def test_a_memory_ends_at_the_earliest_end_that_is_named():
    own = formed(1, valid_until=START + timedelta(days=5))
    ends = [said(kind="superseded", number=microseconds(START + timedelta(days=d))) for d in (3, 9)]
    assert composed(own, ends).valid_until == START + timedelta(days=3)
    assert composed(own, ends[1:]).valid_until == own.valid_until


def test_what_supersedes_is_the_last_that_is_named_even_if_a_later_event_names_none():
    named = said(kind="superseded", offset=1, text="newer", cause="a")
    unnamed = said(kind="superseded", offset=2, cause="b")
    made = composed(formed(1), [unnamed, named])
    assert (made.superseded, made.superseded_by) == (True, "newer")


def test_an_importance_of_zero_counts():
    assert composed(formed(1), [said(number=0)]).importance == 0


def test_each_level_has_its_latest_text():
    texts = [
        said(kind="summary", level=2, offset=1, text="short"),
        said(kind="summary", level=1, offset=2, text="longer"),
        said(kind="summary", level=2, offset=3, text="shorter"),
    ]
    assert composed(formed(1), texts).levels == {1: "longer", 2: "shorter"}


def test_a_memory_survives_its_line_of_json():
    memory = formed(
        7,
        text="短 \u2028 'x' \\ 🎉",
        tags=("a", "b"),
        valid_from=START,
        from_events=("e1",),
        importance=0,
    )
    assert formed_of(formed_json(memory)) == memory


@pytest.mark.parametrize(
    ("event", "kind", "number", "text"),
    [
        (mem.MemoryArchived(memory="m"), "archived", None, None),
        (mem.MemoryImportanceChanged(memory="m", importance=0.35), "importance", 350, None),
        (mem.MemorySummarised(memory="m", level=3, text="s"), "summary", None, "s"),
        (mem.MemorySuperseded(memory="m", superseded_by="n"), "superseded", None, "n"),
    ],
)
def test_an_event_contributes_to_its_target(event, kind, number, text):
    (one,) = changes_of(events(event)[0], NOTHING).contributions
    assert (one.target, one.kind, one.number, one.text) == ("m", kind, number, text)


def test_what_supersedes_is_linked_to_what_it_supersedes():
    (event,) = events(mem.MemorySuperseded(memory="old", superseded_by="new"))
    (link,) = changes_of(event, NOTHING).links
    assert (link.from_memory, link.to_memory, link.kind) == ("new", "old", "supersedes")


def test_a_memory_that_draws_others_together_is_linked_to_each():
    drawn = formed(1, from_memories=("a", "b"))
    (event,) = events(happened(mem.KnowledgeConsolidated(text="k", memories=("a", "b"))))
    links = changes_of(event, Formed((drawn,), "drawn")).links
    assert [(link.from_memory, link.to_memory, link.kind) for link in links] == [
        (drawn.id, "a", "summarises"),
        (drawn.id, "b", "summarises"),
    ]


@pytest.mark.parametrize(
    "event",
    [
        ex.DecisionMade(what="raise it", because_memories=("a", "b")),
        ex.FeedbackGiven(target="a", target_kind="memory", score=1.0, comment="it helped"),
    ],
)
def test_what_a_decision_or_a_comment_rests_on_caused_it(event):
    drawn = formed(1, from_memories=("a", "b"))
    (recorded,) = events(happened(event))
    links = changes_of(recorded, Formed((drawn,), "drawn")).links
    assert [(link.from_memory, link.to_memory, link.kind) for link in links] == [
        ("a", drawn.id, "causes"),
        ("b", drawn.id, "causes"),
    ]


def test_texts_that_look_alike_are_forgotten_together():
    assert text_hash("  my  PIN\n") == text_hash("my PIN")
    assert text_hash("caf\u00e9") == text_hash("cafe\u0301")
    assert text_hash("my PIN") != text_hash("my pin")
