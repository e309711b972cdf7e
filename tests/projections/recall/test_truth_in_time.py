"""What was replaced or has expired: not in the default answer, but in history and as of then."""

import pytest

from mnemolog.projections.memories.rows import Filter
from mnemolog.projections.recall.standing import Standing
from support.asking import (
    DAY,
    HASHING,
    NOW,
    FixedWeights,
    ask,
    ids,
)
from support.in_memory_reader import embedded, memory_row

OLD = memory_row(
    "the package manager is npm",
    occurred_at=NOW - 30 * DAY,
    superseded=True,
    superseded_by="the package manager is pnpm",
)
NEW = memory_row("the package manager is pnpm", occurred_at=NOW - 10 * DAY)
HISTORY = embedded([OLD, NEW], HASHING)


def test_what_was_replaced_is_not_in_the_default_answer():
    assert ids(ask("which package manager", HISTORY)) == [NEW.id]


def test_asked_for_history_the_replaced_comes_last_and_marked():
    answer = ask("which package manager", HISTORY, where=Filter(current=False))
    assert ids(answer) == [NEW.id, OLD.id]
    assert [memory.is_outdated for memory in answer] == [False, True]
    assert "OUTDATED" in answer.text


@pytest.mark.parametrize(
    ("days", "known"), [(40, []), (20, [OLD.id]), (10, [NEW.id]), (0, [NEW.id])]
)
def test_as_of_answers_with_what_was_true_then(days, known):
    answer = ask("which package manager", HISTORY, as_of=NOW - days * DAY)
    assert ids(answer) == known
    assert all(memory.standing is Standing.CURRENT for memory in answer)


def test_what_has_expired_is_not_in_the_default_answer_and_is_as_of_before():
    ip = memory_row("the server is 10.0.0.1", valid_until=NOW - DAY, occurred_at=NOW - 9 * DAY)
    reader = embedded([ip], HASHING)
    assert ids(ask("which server", reader)) == []
    assert ids(ask("which server", reader, as_of=NOW - 2 * DAY)) == [ip.id]
    assert ids(ask("which server", reader, as_of=NOW - DAY)) == []  # half-open


def test_ages_are_counted_from_the_time_that_is_asked_about():
    row = memory_row("pool", occurred_at=NOW - 30 * DAY)
    reader = embedded([row], HASHING)
    weights = FixedWeights({})
    then = ask("pool", reader, as_of=NOW - 30 * DAY, weights=weights, without=())
    assert then[0].scores["recency"] == 1
    assert weights.asked_at == NOW - 30 * DAY
    assert ask("pool", reader)[0].scores["recency"] < 1e-6
