"""A priority lies in [0, 1] and rises with each of its terms, under every focus."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.recall.focus import FOCUSES
from mnemolog.projections.recall.priority import Terms, importance_term, recency

NOW = datetime(2030, 1, 2, tzinfo=UTC)
SHARES = st.floats(0, 1)
TERMS = st.builds(Terms, relevance=SHARES, recency=SHARES, importance=SHARES, weight=SHARES)
FOCI = st.sampled_from(sorted(FOCUSES)).map(FOCUSES.__getitem__)
NAMES = st.sampled_from(["relevance", "recency", "importance", "weight"])


@pytest.mark.parametrize("name", FOCUSES)
def test_the_shares_of_a_focus_sum_to_one(name):
    focus = FOCUSES[name]
    shares = (focus.relevance, focus.recency, focus.importance, focus.weight)
    assert sum(shares) == pytest.approx(1)
    assert min(shares) >= 0


@given(TERMS, FOCI)
def test_a_priority_lies_between_zero_and_one(terms, focus):
    assert 0 <= terms.priority(focus) <= 1


@given(TERMS, FOCI, NAMES, SHARES)
def test_a_priority_rises_with_every_term(terms, focus, name, more):
    raised = replace(terms, **{name: max(more, getattr(terms, name))})
    assert raised.priority(focus) >= terms.priority(focus)


@given(st.timedeltas(timedelta(0), timedelta(days=90_000)), st.floats(1, 1e4))
def test_recency_is_a_share_that_falls_with_age(age, hours):
    now, then = (recency(NOW - a, at=NOW, hours=hours) for a in (timedelta(0), age))
    assert now == 1
    assert 0 <= then <= 1


def test_recency_is_1_over_e_after_its_hours():
    assert recency(NOW - timedelta(hours=48), at=NOW, hours=48) == pytest.approx(0.367879, abs=1e-6)


@pytest.mark.parametrize("days", [10, 30])
def test_what_is_stamped_in_the_future_is_no_more_recent_than_now(days):
    assert recency(NOW + timedelta(days=days), at=NOW, hours=48) == 1


@given(SHARES, FOCI)
def test_a_favoured_memory_counts_as_more_important_within_bounds(importance, focus):
    plain = importance_term(importance, kind="none of them", tags=(), focus=focus)
    assert plain == importance
    for kind in focus.kinds:
        assert importance <= importance_term(importance, kind=kind, tags=(), focus=focus) <= 1


def test_a_tag_favours_as_a_kind_does():
    focus = FOCUSES["errors"]
    assert importance_term(0.5, kind="episode", tags=["error"], focus=focus) == 0.75
