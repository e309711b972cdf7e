"""A conversation's events have a cause, a time and an identity."""

from datetime import UTC, datetime

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    FeedbackGiven,
    MessageExchanged,
    TaskCompleted,
)
from support.chats import MESSAGES, answer, asks, call, run, says, user
from support.import_log import ImportLog, json_file, lines_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


# Causes


def causes(log: ImportLog) -> list[str | None]:
    """Return for each event the type and number of the event that caused it."""
    events = log.events()
    names = {found.envelope.id: f"{n} {found.event_type}" for n, found in enumerate(events)}
    return [names.get(found.envelope.cause) for found in events]


def test_each_event_is_caused_by_the_one_that_it_answers(log, tmp_path):
    log.take(json_file(tmp_path, [run()]))
    assert causes(log) == [
        None,
        "0 session.started",
        "1 task.started",
        "2 message.exchanged",
        "3 action.started",
        "4 action.finished",
        "5 message.exchanged",
        "6 task.completed",
        "6 task.completed",
    ]
    (feedback,) = log.of(FeedbackGiven)
    assert feedback.recorded.event.target == log.of(TaskCompleted)[0].envelope.id
    assert {found.envelope.correlation for found in log.events()} == {log.events()[0].envelope.id}


def test_a_result_is_linked_with_its_call_in_whatever_order_they_come(log, tmp_path):
    calls = asks(call("a", call_id="x"), call("b", call_id="y"), text="Both.")
    answers = [answer("of b", call_id="y"), answer("of a", call_id="x")]
    log.take(json_file(tmp_path, [user("hi"), calls, *answers, says("done")]))
    assert causes(log) == [
        None,
        "0 session.started",
        "1 message.exchanged",
        "2 message.exchanged",
        "2 message.exchanged",
        "4 action.started",
        "3 action.started",
        "6 action.finished",
    ]
    started = {
        made.recorded.event.tool: made.recorded.event.action for made in log.of(ActionStarted)
    }
    finished = {f.recorded.event.result: f.recorded.event.action for f in log.of(ActionFinished)}
    assert finished == {"of b": started["b"], "of a": started["a"]}


def test_an_id_that_repeats_in_a_run_means_its_newest_call(log, tmp_path):
    twice = [asks(call("a")), answer("first"), asks(call("a")), answer("second")]
    log.take(json_file(tmp_path, twice))
    actions = [made.recorded.event.action for made in log.of(ActionStarted)]
    assert len(set(actions)) == 2
    assert [made.recorded.event.action for made in log.of(ActionFinished)] == actions
    assert {made.envelope.extensions["sourcecall"] for made in log.of(ActionStarted)} == {"c1"}


def test_a_call_that_history_passes_without_a_result_is_orphaned(log, tmp_path):
    log.take(
        json_file(tmp_path, [asks(call("a")), user("forget it"), asks(call("a")), answer("x")])
    )
    passed, answered = (made.recorded.event.action for made in log.of(ActionStarted))
    ends = [made.recorded.event for made in log.of(ActionFinished)]
    assert [(end.action, end.orphaned) for end in ends] == [(passed, True), (answered, False)]


def test_a_call_at_the_very_end_stays_open_and_the_result_that_follows_ends_it(log, tmp_path):
    log.take(json_file(tmp_path, [asks(call("a"))]))
    assert log.of(ActionFinished) == []
    log.take(json_file(tmp_path, [asks(call("a")), answer("x")]))
    assert [made.recorded.event.result for made in log.of(ActionFinished)] == ["x"]


def test_a_result_without_a_call_is_kept_without_a_cause(log, tmp_path):
    report = log.take(json_file(tmp_path, [user("hi"), answer("late", call_id="elsewhere")]))
    (made,) = log.of(ActionFinished)
    assert report.problems == []
    assert (made.recorded.event.result, made.envelope.cause) == ("late", None)


def test_an_old_function_call_is_linked_by_its_name(log, tmp_path):
    old = {"role": "assistant", "content": None, "function_call": {"name": "look", "arguments": ""}}
    log.take(json_file(tmp_path, [old, {"role": "function", "name": "look", "content": "seen"}]))
    ((started,), (finished,)) = (log.of(ActionStarted), log.of(ActionFinished))
    assert finished.envelope.cause == started.envelope.id


# Time


def test_each_message_is_a_second_later_and_flagged_as_assumed(log, tmp_path):
    log.take(json_file(tmp_path, [user("one"), says("two"), user("three")]))
    said = log.of(MessageExchanged)
    assert [found.envelope.occurred_at.second for found in said] == [0, 1, 2]
    assert said[0].envelope.occurred_at == datetime(2024, 1, 1, tzinfo=UTC)
    assert all(found.envelope.assumed_utc for found in said)


def test_a_start_with_a_zone_is_taken_at_its_word(log, tmp_path):
    log.take(json_file(tmp_path, [user("one")]), start="2025-05-12T20:27:38-04:00")
    (said,) = log.of(MessageExchanged)
    assert said.envelope.occurred_at == datetime(2025, 5, 13, 0, 27, 38, tzinfo=UTC)
    assert not said.envelope.assumed_utc


# Identity


def test_the_same_again_adds_nothing_whatever_the_file_is_called(log, tmp_path):
    log.take(json_file(tmp_path, [run(), run(trial=2)], name="a.json"))
    there = log.size()
    report = log.take(json_file(tmp_path, [run(trial=2), run()], name="b.json"))
    assert (report.added, report.already_there, log.size()) == (0, there, there)


def test_a_conversation_that_has_grown_adds_its_tail(log, tmp_path):
    log.take(json_file(tmp_path, MESSAGES[:3]))
    there = log.size()
    report = log.take(json_file(tmp_path, MESSAGES))
    assert (report.added, report.already_there) == (2, there)
    assert [f.envelope.cause for f in log.of(ActionFinished)] == [
        f.envelope.id for f in log.of(ActionStarted)
    ]


def test_conversations_that_part_ways_share_their_start_and_lose_nothing(log, tmp_path):
    here = [user("hi"), says("Yes?"), user("Bergen"), says("ok")]
    there = [user("hi"), says("Yes?"), user("Oslo"), says("ok")]
    log.take(lines_file(tmp_path, {"messages": here}, {"messages": there}))
    texts = [said.recorded.event.text for said in log.of(MessageExchanged)]
    assert texts == ["hi", "Yes?", "Bergen", "ok", "Oslo", "ok"]


def test_two_runs_of_one_task_and_trial_lose_nothing(log, tmp_path):
    other = [*MESSAGES[:2], says("Bergen is full.")]
    log.take(json_file(tmp_path, [run(), run(other, reward=0)]))
    texts = [said.recorded.event.text for said in log.of(MessageExchanged)]
    assert sorted(texts) == sorted(["12A is yours.", "Bergen is full.", MESSAGES[1]["content"]])
    assert len(log.of(FeedbackGiven)) == 2


def test_the_same_words_at_two_places_are_two_events(log, tmp_path):
    log.take(json_file(tmp_path, [user("go on"), says("ok"), user("go on"), says("ok")]))
    assert len(log.of(MessageExchanged)) == 4
