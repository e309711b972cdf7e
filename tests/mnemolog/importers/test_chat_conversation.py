"""Each message becomes its events: what is said, called, answered and judged."""

import json

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    FeedbackGiven,
    MessageExchanged,
    SessionEnded,
    SessionStarted,
    TaskCompleted,
    TaskStarted,
)
from support.chats import MESSAGES, SYSTEM, answer, asks, call, run, says, user
from support.import_log import ImportLog, json_file, lines_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


# What becomes what


def test_a_judged_run_is_told_from_its_start_to_its_judgement(log, tmp_path):
    report = log.take(json_file(tmp_path, [run()]))
    assert report.problems == []
    assert log.types() == [
        "session.started",
        "task.started",
        "message.exchanged",
        "action.started",
        "action.finished",
        "message.exchanged",
        "task.completed",
        "session.ended",
        "feedback.given",
    ]


def test_everything_is_said_once_and_whole(log, tmp_path):
    log.take(json_file(tmp_path, [run()]))
    told = [found.recorded.event for found in log.events()]
    assert told[0].instructions == "As a railway agent, be brief."
    assert told[1].goal == "A window seat to Bergen, please."
    assert (told[2].role, told[2].text) == ("user", "A window seat to Bergen, please.")
    assert (told[3].tool, told[3].arguments, told[3].raw) == ("seats", {"to": "Bergen"}, None)
    assert (told[4].tool, told[4].result, told[4].success) == ("seats", '{"free": ["12A"]}', True)
    assert (told[5].role, told[5].text) == ("assistant", "12A is yours.")
    assert told[6].outcome == "Succeeded (reward 1): A window seat to Bergen, please."
    assert (told[6].success, told[7].success) == (True, True)
    assert (told[8].score, told[8].label, told[8].given_by) == (1.0, "reward 1", "environment")


def test_the_names_are_those_of_the_run(log, tmp_path):
    log.take(json_file(tmp_path, [run()]), project="travel")
    for found in log.events():
        names = found.envelope
        assert (names.agent, names.user, names.project) == ("railway-agent", "kari", "travel")
        assert (names.session, names.task) == ("task-7-trial-1", "7-trial-1")
        assert names.source == "/mnemolog/import/openai-chat"


def test_each_trial_is_a_task_of_its_own_and_without_one_the_task_is_the_sources(log, tmp_path):
    log.take(json_file(tmp_path, [run(), run(trial=2), run(trial=None)]))
    tasks = [started.envelope.task for started in log.of(TaskStarted)]
    assert tasks == ["7-trial-1", "7-trial-2", "7"]


def test_the_agent_and_the_user_can_be_named(log, tmp_path):
    log.take(json_file(tmp_path, [run()]), agent="ops-1", user="ola")
    assert {(found.key, found.envelope.user) for found in log.events()} == {("ops-1", "ola")}


def test_an_agent_that_nobody_names_is_the_assistant(log, tmp_path):
    log.take(json_file(tmp_path, [run(MESSAGES[1:])]))
    assert {found.key for found in log.events()} == {"assistant"}


@pytest.mark.parametrize(("reward", "score"), [(0, -1.0), (0.0, -1.0), (0.25, -0.5), (1, 1.0)])
def test_a_reward_is_a_score_between_worst_and_best(log, tmp_path, reward, score):
    log.take(json_file(tmp_path, [run(reward=reward)]))
    ((feedback,), (completed,)) = (log.of(FeedbackGiven), log.of(TaskCompleted))
    assert feedback.recorded.event.score == score
    assert completed.recorded.event.success is (reward == 1)
    assert completed.recorded.event.outcome.startswith("Succeeded" if reward == 1 else "Failed")


@pytest.mark.parametrize("reward", [-1, 2, "good", [1], 10**400])
def test_a_reward_out_of_its_range_is_named_and_the_run_comes_without_an_end(log, tmp_path, reward):
    report = log.take(json_file(tmp_path, [run(reward=reward)]))
    assert [problem.place for problem in report.problems] == ["item 1"]
    assert "reward" in report.problems[0].reason
    assert len(log.of(MessageExchanged)) == 2
    assert log.of(FeedbackGiven) == log.of(SessionEnded) == []


def test_a_conversation_that_nobody_judged_has_no_end(log, tmp_path):
    log.take(json_file(tmp_path, [run(reward=None)]))
    assert log.types()[-1] == "message.exchanged"


def test_a_judged_conversation_without_a_task_is_judged_by_its_end(log, tmp_path):
    log.take(json_file(tmp_path, {"id": "talk-1", "messages": MESSAGES, "reward": 1}))
    ((ended,), (feedback,)) = (log.of(SessionEnded), log.of(FeedbackGiven))
    assert feedback.recorded.event.target == ended.envelope.id
    assert log.of(TaskStarted) == []
    assert ended.envelope.session == "talk-1"


def test_later_system_messages_are_said_and_not_instructions(log, tmp_path):
    second = {"role": "developer", "content": "Speak Norwegian."}
    log.take(json_file(tmp_path, [SYSTEM, second, user("hi"), {**SYSTEM, "content": "Stop."}]))
    ((started,), said) = (log.of(SessionStarted), log.of(MessageExchanged))
    expected = "As a railway agent, be brief.\n\nSpeak Norwegian."
    assert started.recorded.event.instructions == expected
    assert [(s.recorded.event.role, s.recorded.event.text) for s in said] == [
        ("user", "hi"),
        ("system", "Stop."),
    ]


@pytest.mark.parametrize("content", ["", None, "\u3000\u200b\n"])
def test_an_empty_message_stands_on_the_log(log, tmp_path, content):
    report = log.take(json_file(tmp_path, [user("hi"), says(content), user("hello?")]))
    assert report.problems == []
    texts = [said.recorded.event.text for said in log.of(MessageExchanged)]
    assert texts == ["hi", content or "", "hello?"]


def test_an_assistant_that_only_calls_says_nothing(log, tmp_path):
    log.take(json_file(tmp_path, [user("hi"), asks(call("a")), asks(call("b"), text="Now b.")]))
    assert [said.recorded.event.text for said in log.of(MessageExchanged)] == ["hi", "Now b."]
    assert [made.recorded.event.tool for made in log.of(ActionStarted)] == ["a", "b"]


def test_parts_that_are_no_text_are_kept_as_references(log, tmp_path):
    picture = {"type": "image_url", "image_url": {"url": "https://example.invalid/a.png"}}
    log.take(json_file(tmp_path, [user([{"type": "text", "text": "I love hiking"}, picture])]))
    (said,) = log.of(MessageExchanged)
    assert said.recorded.event.text == "I love hiking"
    assert said.recorded.event.parts[0].reference == "https://example.invalid/a.png"


@pytest.mark.parametrize("arguments", ["", "{cut", "[1]"])
def test_arguments_that_are_no_object_are_kept_raw(log, tmp_path, arguments):
    log.take(json_file(tmp_path, [asks(call("look", arguments))]))
    (made,) = log.of(ActionStarted)
    assert (made.recorded.event.arguments, made.recorded.event.raw) == ({}, arguments)


def test_an_error_is_no_result(log, tmp_path):
    log.take(json_file(tmp_path, [asks(call("book")), answer("Error: no such seat")]))
    (made,) = log.of(ActionFinished)
    event = made.recorded.event
    assert (event.success, event.error, event.result) == (False, "Error: no such seat", None)


def test_a_lone_surrogate_is_replaced_and_can_be_recovered(log, tmp_path):
    log.take(lines_file(tmp_path, b'{"role": "user", "content": "ls: caf\\udce9.txt"}'))
    (said,) = log.of(MessageExchanged)
    assert said.recorded.event.text == "ls: caf\ufffd.txt"
    assert json.loads(said.envelope.repaired) == {"/text": {"7": "dce9"}}
