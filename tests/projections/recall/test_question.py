"""A question is checked whole before anything is read."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from mnemolog.projections.memories.rows import Filter
from mnemolog.projections.recall.question import (
    QUESTION_CHARACTERS_MAX,
    RECALL_HITS_MAX,
    RECALL_SECONDS_MAX,
    RECALL_TOKENS_MAX,
    Question,
    seen_by,
)
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting

NOW = datetime(2030, 1, 2, tzinfo=UTC)


def asked(text="why?", **changes):
    return Question(**{"text": text, "at": NOW, **changes})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hits_max", 0),
        ("hits_max", RECALL_HITS_MAX + 1),
        ("hits_max", True),
        ("hits_max", "10"),
        ("tokens_max", 0),
        ("tokens_max", RECALL_TOKENS_MAX + 1),
        ("tokens_max", 1.5),
        ("timeout_seconds", -0.1),
        ("timeout_seconds", RECALL_SECONDS_MAX + 1),
        ("timeout_seconds", float("nan")),
        ("focus", "everything"),
        ("without", ["telepathy"]),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_its_name(name, value):
    with pytest.raises(InvalidSetting) as refusal:
        asked(**{name: value})
    assert refusal.value.name == name


@pytest.mark.parametrize("text", [None, 7, "x" * (QUESTION_CHARACTERS_MAX + 1)])
def test_a_question_that_is_no_text_or_too_long_is_refused(text):
    with pytest.raises(InvalidSetting, match="question"):
        asked(text)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("importance_min", 1.5),
        ("importance_min", float("nan")),
        ("kinds", "constraint"),
        ("kinds", [""]),
        ("kinds", ["fact"] * 65),
        ("tags", [7]),
    ],
)
def test_a_filter_out_of_bounds_is_refused_by_its_field(name, value):
    with pytest.raises(InvalidSetting) as refusal:
        asked(where=Filter(**{name: value}))
    assert refusal.value.name == name


@pytest.mark.parametrize("agent", ["", "../../tmp/pwn", "a\x00b", "/etc/x"])
def test_a_name_that_no_agent_can_have_is_refused(agent):
    with pytest.raises(InvalidEvent) as refusal:
        asked(where=Filter(agent=agent))
    assert refusal.value.field == "agent"


def test_names_that_look_like_queries_are_names():
    where = asked(where=Filter(agent="x' OR '1'='1", tags=['a"); DROP TABLE m; --'])).where
    assert where.agent == "x' OR '1'='1"


def test_surrogates_and_nuls_of_a_question_become_replacement_characters():
    assert asked("caf\udce9 \x00?").text == "caf� �?"


def test_times_are_utc_from_here_on():
    there = timezone(timedelta(hours=8))
    question = asked(
        at=datetime(2030, 1, 2, 8, tzinfo=there),
        as_of=datetime(2030, 1, 1),  # noqa: DTZ001 - a naive time is read as UTC
        where=Filter(occurred_from=datetime(2029, 1, 1, 8, tzinfo=there)),
    )
    assert question.at == NOW
    assert question.at.utcoffset() == timedelta(0)
    assert question.as_of == datetime(2030, 1, 1, tzinfo=UTC)
    assert question.where.occurred_from == datetime(2029, 1, 1, tzinfo=UTC)


def test_without_as_of_validity_is_judged_at_the_question():
    assert seen_by(asked()) == Filter(valid_at=NOW)


def test_a_validity_that_the_caller_names_stays():
    earlier = NOW - timedelta(days=3)
    assert seen_by(asked(where=Filter(valid_at=earlier))).valid_at == earlier


def test_as_of_lets_in_what_was_replaced_since_and_nothing_that_came_later():
    then = NOW - timedelta(days=3)
    where = seen_by(asked(as_of=then))
    assert not where.current
    assert where.occurred_until is not None
    assert then < where.occurred_until <= then + timedelta(microseconds=1)


def test_as_of_does_not_widen_a_narrower_end():
    earlier = NOW - timedelta(days=9)
    where = Filter(occurred_until=earlier)
    assert seen_by(asked(where=where, as_of=NOW)).occurred_until == earlier
