"""Fusion keeps to [0, 1], rises with each signal, and believes words only as far as they go."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.memories.reading import Hit
from mnemolog.projections.recall.fusion import (
    IDENTIFIER,
    WORDS,
    Evidence,
    beside,
    dense_evidence,
    fused,
    lexical_evidence,
    with_neighbours,
)
from mnemolog.schemas.positions import Position
from support.in_memory_reader import memory_row

IDS = st.sampled_from("abcdefgh")
SHARES = st.floats(0, 1)
EVIDENCE = st.builds(Evidence, st.dictionaries(IDS, SHARES), SHARES)
SIGNALS = st.fixed_dictionaries({"dense": EVIDENCE, "lexical": EVIDENCE, "identifiers": EVIDENCE})
WEIGHINGS = st.sampled_from([WORDS, IDENTIFIER])
COSINES = st.dictionaries(IDS, st.floats(-1, 1), min_size=1)
BM25 = st.dictionaries(IDS, st.floats(0, 1e300), min_size=1)


def hits(scores):
    return [Hit(id_, score) for id_, score in scores.items()]


@given(SIGNALS, WEIGHINGS)
def test_a_relevance_lies_between_zero_and_one(evidence, weighing):
    relevance = fused(evidence, weighing=weighing)
    assert relevance.keys() == {id_ for one in evidence.values() for id_ in one.shares}
    assert all(0 <= value <= 1 for value in relevance.values())


@given(SIGNALS, WEIGHINGS, st.sampled_from(["dense", "lexical", "identifiers"]), IDS, SHARES)
def test_a_relevance_rises_with_every_share(evidence, weighing, name, id_, more):
    one = evidence[name]
    raised = {**one.shares, id_: max(more, one.shares.get(id_, 0.0))}
    after = fused({**evidence, name: Evidence(raised, one.confidence)}, weighing=weighing)
    before = fused(evidence, weighing=weighing)
    assert after[id_] >= before.get(id_, 0.0)


@given(SIGNALS)
def test_the_order_of_candidates_does_not_matter(evidence):
    turned = {
        n: Evidence(dict(reversed(e.shares.items())), e.confidence) for n, e in evidence.items()
    }
    assert fused(turned) == fused(evidence)


@given(COSINES)
def test_cosines_become_shares_that_keep_their_order(scores):
    shares = dense_evidence(hits(scores)).shares
    assert all(0 <= share <= 1 for share in shares.values())
    assert max(shares.values()) == 1
    assert sorted(scores, key=lambda i: (scores[i], i)) == sorted(
        shares, key=lambda i: (shares[i], scores[i], i)
    )


@given(COSINES, st.data())
def test_a_memory_that_comes_nearer_loses_nothing(scores, data):
    id_ = data.draw(st.sampled_from(sorted(scores)))
    nearer = {**scores, id_: data.draw(st.floats(scores[id_], 1))}
    before, after = (dense_evidence(hits(one)).shares[id_] for one in (scores, nearer))
    assert after >= before or math.isclose(after, before)


@given(BM25, st.data(), st.integers(0, 50), WEIGHINGS)
def test_a_memory_with_more_of_the_words_loses_nothing(scores, data, tokens, weighing):
    id_ = data.draw(st.sampled_from(sorted(scores)))
    more = {**scores, id_: data.draw(st.floats(scores[id_], 1e300))}
    before, after = (
        lexical_evidence(hits(one), tokens=tokens, weighing=weighing) for one in (scores, more)
    )
    assert after.shares.get(id_, 0.0) >= before.shares.get(id_, 0.0)
    assert 0 <= before.confidence <= after.confidence <= 1


def test_cosines_that_hardly_differ_tell_little_apart():
    shares = dense_evidence([Hit("a", 0.800), Hit("b", 0.799)]).shares
    assert shares["a"] - shares["b"] == pytest.approx(0.05)


def test_a_single_memory_is_the_nearest_one():
    assert dense_evidence([Hit("a", 0.1)]).shares == {"a": 1.0}


def test_a_signal_that_finds_nothing_has_no_say():
    nothing = {"dense": dense_evidence([]), "lexical": lexical_evidence([], tokens=3)}
    assert fused(nothing) == {}
    alone = {"dense": dense_evidence([Hit("a", 0.8)]), "lexical": lexical_evidence([], tokens=3)}
    assert fused(alone) == {"a": 1.0}


def test_a_single_common_word_does_not_outweigh_the_meaning():
    dense = dense_evidence([Hit("meant", 0.88), Hit("other", 0.80)])
    words = lexical_evidence([Hit("other", 2.0)], tokens=6)
    relevance = fused({"dense": dense, "lexical": words})
    assert relevance["meant"] > relevance["other"]


def test_most_of_the_words_outweigh_a_small_margin_of_meaning():
    dense = dense_evidence([Hit("near", 0.88), Hit("said", 0.86), Hit("far", 0.78)])
    words = lexical_evidence([Hit("said", 12.0)], tokens=4)
    relevance = fused({"dense": dense, "lexical": words})
    assert relevance["said"] > relevance["near"]


def test_with_an_identifier_what_holds_it_comes_before_what_is_nearest():
    evidence = {
        "dense": Evidence({"twin": 1.0, "right": 0.2}),
        "lexical": Evidence({"twin": 1.0, "right": 0.6}),
        "identifiers": Evidence({"right": 1.0}),
    }
    relevance = fused(evidence, weighing=IDENTIFIER)
    assert relevance["right"] > relevance["twin"]


# Neighbours


def turn(id_, *, session="s", offset=0, partition=0):
    return memory_row(id_, session=session, position=Position(partition, offset))


def rows(*turns):
    return {row.id: row for row in turns}


def test_an_answer_gains_from_the_question_beside_it():
    near = beside(
        {"q": 1.0, "a": 0.0, "far": 0.0},
        rows(turn("q", offset=4), turn("a", offset=5), turn("far", offset=9)),
    )
    assert near == {"q": 0.0, "a": 1.0, "far": 0.0}


def test_two_apart_counts_half():
    near = beside({"q": 0.8, "a": 0.0}, rows(turn("q", offset=4), turn("a", offset=2)))
    assert near["a"] == pytest.approx(0.4)


@pytest.mark.parametrize(
    "other",
    [
        turn("a", offset=5, session="another"),
        turn("a", offset=5, session=None),
        turn("a", offset=5, partition=1),
        turn("a", offset=4),  # another memory of the same event
    ],
)
def test_only_another_event_of_the_same_session_stands_beside(other):
    assert beside({"q": 1.0, "a": 0.0}, rows(turn("q", offset=4), other))["a"] == 0.0


def test_memories_without_a_session_have_no_neighbours():
    alone = rows(turn("q", session=None, offset=4), turn("a", session=None, offset=5))
    assert beside({"q": 1.0, "a": 0.0}, alone) == {"q": 0.0, "a": 0.0}


@given(st.dictionaries(IDS, SHARES), st.dictionaries(IDS, SHARES), WEIGHINGS)
def test_with_neighbours_a_relevance_stays_between_zero_and_one(own, near, weighing):
    relevance = with_neighbours(own, near, weighing=weighing)
    assert all(0 <= value <= 1 for value in relevance.values())
