"""The decay formula: its values, its bounds, and that no number makes it raise."""

import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.weights.decay import (
    Standing,
    age_days,
    clamped,
    ranking_term,
    retention,
    time_constant_days,
    weight_of,
)
from mnemolog.schemas.policy import BUILT_IN, DecayPolicy
from support.histories import START

DECAY = BUILT_IN.decay
AMOUNTS = st.floats(0, 1e300, allow_nan=False, allow_infinity=False)
POLICIES = st.builds(
    DecayPolicy,
    time_constant_days=st.dictionaries(st.sampled_from(["fact", "episode"]), AMOUNTS),
    time_constant_days_other=AMOUNTS,
    importance_stretch=AMOUNTS,
    weight_min=AMOUNTS,
    weight_max=AMOUNTS,
)
MOMENTS = st.datetimes(timezones=st.just(START.tzinfo))
STANDINGS = st.builds(
    Standing,
    kind=st.sampled_from(["fact", "episode", "preference", "unheard-of"]),
    importance=st.integers(0, 1_000),
    initial=st.integers(0, 10_000),
    occurred_at=MOMENTS,
    uses=st.integers(0, 10**6),
    last_used_at=st.none() | MOMENTS,
    feedback=st.integers(-(10**9), 10**9),
    relevance_gain=st.integers(-(10**15), 10**15),
    utility_gain=st.integers(-(10**15), 10**15),
    pinned=st.booleans(),
)


def episode(**changes) -> Standing:
    given = {"kind": "episode", "importance": 500, "initial": 1_000, "occurred_at": START}
    return Standing(**{**given, **changes})


def after(days: float, standing: Standing, decay: DecayPolicy = DECAY):
    return weight_of(standing, at=START + timedelta(days=days), decay=decay)


def test_a_fresh_memory_has_its_initial_weight():
    weight = after(0, episode())
    assert (weight.age_days, weight.retention, weight.weight) == (0, 1, 1)
    assert weight.ranking_term == pytest.approx(1 / 1.5)


def test_the_time_constant_grows_with_importance_and_use():
    assert time_constant_days("episode", importance=0, uses=0, decay=DECAY) == 30
    assert time_constant_days("episode", importance=0.5, uses=0, decay=DECAY) == 90
    used = time_constant_days("episode", importance=0.5, uses=3, decay=DECAY)
    assert used == pytest.approx(90 * (1 + math.log(4)))


def test_the_half_life_is_the_time_constant_times_ln_2():
    weight = after(90 * math.log(2), episode())
    assert weight.weight == pytest.approx(0.5)
    assert weight.ranking_term == pytest.approx(math.sqrt(0.5) / 1.5)


def test_a_use_begins_the_age_anew():
    used = episode(uses=1, last_used_at=START + timedelta(days=60))
    weight = after(61, used)
    assert weight.age_days == 1
    assert weight.weight > after(61, episode()).weight
    assert weight.last_reinforcement == START + timedelta(days=60)


def test_after_242_days_a_memory_still_counts_in_ranking():
    assert after(242, episode(importance=0)).ranking_term == pytest.approx(0.2)


def test_a_pinned_memory_does_not_decay():
    assert after(10_000, episode(pinned=True)).weight == 1


def test_gains_add_to_what_is_left():
    judged = episode(feedback=500, relevance_gain=100, utility_gain=-300)
    weight = after(0, judged)
    assert weight.weight == pytest.approx(0.8)
    assert (weight.feedback, weight.relevance_gain, weight.utility_gain) == (0.5, 0.1, -0.3)


def test_an_unheard_of_kind_has_the_time_constant_of_others():
    assert time_constant_days("odd", importance=0, uses=0, decay=DECAY) == (
        DECAY.time_constant_days_other
    )


@pytest.mark.bad_input(41)
@pytest.mark.parametrize("days", [10, 30, 36_500])
def test_a_stamp_from_the_future_has_the_age_0(days):
    weight = weight_of(episode(), at=START - timedelta(days=days), decay=DECAY)
    assert (weight.age_days, weight.weight) == (0, 1)


def test_no_time_to_last_means_gone_after_the_moment():
    gone = DecayPolicy(time_constant_days={}, time_constant_days_other=0.0)
    assert after(0, episode(), gone).retention == 1
    assert after(1, episode(), gone).weight == gone.weight_min


@given(standing=STANDINGS, at=MOMENTS, decay=POLICIES)
def test_no_numbers_make_it_raise_and_all_bounds_hold(standing, at, decay):
    weight = weight_of(standing, at=at, decay=decay)
    assert weight.age_days >= 0
    assert 0 <= weight.retention <= 1
    assert weight.weight <= decay.weight_max
    assert weight.weight >= min(decay.weight_min, decay.weight_max)
    assert 0.2 - 1e-9 <= weight.ranking_term <= 1


@pytest.mark.bad_input(41)
@given(standing=STANDINGS, at=MOMENTS)
def test_without_feedback_no_weight_exceeds_the_initial_one(standing, at):
    plain = Standing(
        kind=standing.kind,
        importance=standing.importance,
        initial=standing.initial,
        occurred_at=standing.occurred_at,
        uses=standing.uses,
        last_used_at=standing.last_used_at,
    )
    weight = weight_of(plain, at=at, decay=DECAY)
    assert weight.weight <= max(plain.initial / 1_000, DECAY.weight_min)


@given(standing=STANDINGS, days=st.tuples(st.floats(0, 50_000), st.floats(0, 50_000)))
def test_an_older_memory_weighs_no_more(standing, days):
    sooner, later = sorted(days)
    given = Standing(kind=standing.kind, importance=standing.importance, initial=standing.initial,
                     occurred_at=START, uses=standing.uses)  # fmt: skip
    assert after(later, given).weight <= after(sooner, given).weight


@given(importances=st.tuples(st.integers(0, 1_000), st.integers(0, 1_000)), uses=st.integers(0, 99))
def test_importance_and_use_never_make_a_memory_fade_sooner(importances, uses):
    low, high = sorted(importances)
    constant = time_constant_days("fact", importance=low / 1_000, uses=uses, decay=DECAY)
    assert constant <= time_constant_days("fact", importance=high / 1_000, uses=uses, decay=DECAY)
    assert constant <= time_constant_days(
        "fact", importance=low / 1_000, uses=uses + 1, decay=DECAY
    )


@given(age=st.floats(0, 1e12), constant=st.floats(0, 1e12))
def test_retention_is_a_share(age, constant):
    assert 0 <= retention(age, time_constant_days=constant) <= 1


def test_a_ranking_term_lies_between_a_fifth_and_one_whatever_the_weight():
    assert ranking_term(-5) == ranking_term(0) == pytest.approx(0.2)
    assert ranking_term(2.25) == ranking_term(1e9) == 1
    assert clamped(5, at_least=3, at_most=1) == 1
    assert age_days(START, since=START + timedelta(days=1)) == 0
