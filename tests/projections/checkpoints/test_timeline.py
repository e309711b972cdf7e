"""Timelines of agents, tasks, sessions and projects, and what follows an event."""

from datetime import timedelta

import pytest

from mnemolog.schemas.errors import NotFound
from mnemolog.schemas.events.experience import (
    ObservationRecorded,
    TaskStarted,
)
from mnemolog.schemas.positions import Position
from support.checkpoints import reader, saved
from support.histories import START, happened


def ids(found):
    return [one.id for one in found]


def test_the_timeline_has_everybodys_events_and_its_filters(tmp_path):
    events = (
        happened(TaskStarted(goal="go"), task="t1", project="p", user="u", session="s1"),
        happened(ObservationRecorded(text="seen"), task="t1", session="s2", cause="e0"),
        happened(ObservationRecorded(text="elsewhere"), agent="b", project="p"),
    )
    with reader(tmp_path, *events) as asked:
        assert [one.event_id for one in asked.timeline()] == ["e0", "e1", "e2"]
        assert [one.event_id for one in asked.timeline(task="t1")] == ["e0", "e1"]
        assert [one.event_id for one in asked.timeline(project="p")] == ["e0", "e2"]
        assert [one.event_id for one in asked.timeline(session="s2")] == ["e1"]
        assert [one.event_id for one in asked.timeline(agent="b")] == ["e2"]
        assert [one.event_id for one in asked.timeline(types=["task.started"])] == ["e0"]
        assert [one.event_id for one in asked.timeline(rows_max=2)] == ["e1", "e2"]
        assert [one.event_id for one in asked.timeline(before=START)] == []
        second = asked.timeline(session="s2")[0]
    assert (second.text, second.cause, second.position) == ("seen", "e0", (0, 1))
    assert second.occurred_at == START + timedelta(minutes=1)
    assert second.recorded_at == START + timedelta(minutes=1, seconds=1)


def test_a_long_timeline_is_read_in_pages_and_stays_in_order(tmp_path):
    events = [
        happened(ObservationRecorded(text=str(n)), agent="ab"[n % 2], event_id=f"{n:03}")
        for n in range(300)
    ]
    with reader(tmp_path, *events) as asked:
        assert [int(one.text) for one in asked.timeline(rows_max=290)] == list(range(10, 300))


def test_names_with_quotes_are_values_and_never_sql(tmp_path):
    evil = "x' OR '1'='1"
    with reader(tmp_path, saved("c1"), saved("o'brien", task=evil)) as asked:
        assert ids(asked.list(task=evil)) == ["o'brien"]
        assert asked.get("o'brien").saved.task == evil
        assert len(asked.timeline(task=evil, types=[evil, "checkpoint.saved"])) == 1


def test_an_event_is_found_at_its_places(tmp_path):
    events = (
        happened(ObservationRecorded(text="a"), event_id="same"),
        happened(ObservationRecorded(text="b"), event_id="same", agent="b"),
    )
    with reader(tmp_path, *events) as asked:
        assert sorted(asked.places("same")) == [(0, 0), (0, 1)]
        assert asked.places("other") == []


def test_what_follows_is_later_by_position_within_the_key_and_by_time_elsewhere(tmp_path):
    def noted(text, agent, minutes, task="t1"):
        return happened(
            ObservationRecorded(text=text),
            agent=agent,
            at=START + timedelta(minutes=minutes),
            task=task,
            event_id=text,
        )

    events = (
        noted("other-later", "b", 20),
        noted("own-before", "a", 90),
        happened(
            saved("c1", agent="a").event, agent="a", at=START + timedelta(minutes=10), task="t1"
        ),
        noted("own-after-though-earlier", "a", 5),
        noted("other-earlier", "b", 9),
        noted("other-task", "a", 30, task="t2"),
    )
    for partitions in (1, 2):
        with reader(tmp_path / str(partitions), *events, partitions=partitions) as asked:
            position = asked.list()[0].event.position
            after = asked.events_after(position, task="t1")
            assert {one.event_id for one in after.events} == {
                "other-later",
                "own-after-though-earlier",
            }
            assert after.left_out == 0
            shorter = asked.events_after(position, task="t1", rows_max=1)
            assert (len(shorter.events), shorter.left_out) == (1, 1)
            own = asked.events_after(position)
            assert [one.event_id for one in own.events] == [
                "own-after-though-earlier",
                "other-task",
            ]


def test_what_follows_nothing_is_not_found(tmp_path):
    with reader(tmp_path, saved("c1")) as asked, pytest.raises(NotFound, match="0@7"):
        asked.events_after(Position(0, 7), task="t1")
