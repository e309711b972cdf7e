"""Whether a memory holds, now and then. Intervals are half-open."""

from datetime import UTC, datetime, timedelta

import pytest

from mnemolog.projections.recall.standing import Standing, standing_now, standing_then
from support.in_memory_reader import memory_row

THEN = datetime(2030, 1, 2, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.mark.parametrize(
    ("changes", "standing"),
    [
        ({}, Standing.CURRENT),
        ({"superseded": True}, Standing.SUPERSEDED),
        ({"archived": True}, Standing.ARCHIVED),
        ({"valid_until": THEN}, Standing.EXPIRED),
        ({"valid_until": THEN + DAY}, Standing.CURRENT),
        ({"valid_from": THEN}, Standing.CURRENT),
        ({"valid_from": THEN + DAY}, Standing.NOT_YET_VALID),
        ({"valid_until": THEN, "archived": True}, Standing.EXPIRED),
    ],
)
def test_a_memory_stands_as_its_marks_and_validity_say(changes, standing):
    assert standing_now(memory_row("m", **changes), THEN) is standing


@pytest.mark.parametrize(
    ("began", "standing"),
    [
        ({"occurred_at": THEN + DAY}, Standing.CURRENT),
        ({"occurred_at": THEN}, Standing.SUPERSEDED),
        ({"occurred_at": THEN - DAY, "valid_from": THEN + DAY}, Standing.CURRENT),
    ],
)
def test_a_replaced_memory_held_until_its_successor_began(began, standing):
    old = memory_row("old", superseded=True, superseded_by="new")
    successors = {"new": memory_row("new", **began)}
    assert standing_then(old, THEN, successors=successors) is standing


def test_a_replaced_memory_held_until_its_validity_ended():
    old = memory_row("old", superseded=True, valid_until=THEN + DAY)
    assert standing_then(old, THEN, successors={}) is Standing.CURRENT
    assert standing_then(old, THEN + DAY, successors={}) is Standing.SUPERSEDED


def test_a_replaced_memory_of_which_no_end_is_known_counts_as_replaced():
    old = memory_row("old", superseded=True, superseded_by="gone")
    assert standing_then(old, THEN, successors={}) is Standing.SUPERSEDED


def test_archiving_does_not_reach_back():
    assert standing_then(memory_row("m", archived=True), THEN, successors={}) is Standing.CURRENT


def test_only_what_no_longer_or_not_yet_holds_is_outdated():
    assert [s for s in Standing if not s.is_outdated] == [Standing.CURRENT, Standing.ARCHIVED]
