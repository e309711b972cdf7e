"""Chat messages become events, in order, each with its id, its cause and its names."""

import json
from datetime import UTC, datetime

import pytest

from mnemolog.importers.base import Options
from mnemolog.importers.openai_chat import OpenAIChat
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
from support.import_log import ImportLog, json_file, lines_file


def call(name: str, arguments="{}", *, call_id: str = "c1") -> dict:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: dict, text: str | None = None) -> dict:
    return {"role": "assistant", "content": text, "tool_calls": list(calls)}


def answer(text: str, *, call_id: str = "c1") -> dict:
    return {"role": "tool", "tool_call_id": call_id, "name": "seats", "content": text}


def user(text) -> dict:
    return {"role": "user", "content": text}


def says(text) -> dict:
    return {"role": "assistant", "content": text}


SYSTEM = {"role": "system", "content": "As a railway agent, be brief."}
MESSAGES = [
    SYSTEM,
    user("A window seat to Bergen, please."),
    asks(call("seats", '{"to": "Bergen"}')),
    answer('{"free": ["12A"]}'),
    says("12A is yours."),
]


def run(messages=MESSAGES, **fields) -> dict:
    known = {"task_id": 7, "trial": 1, "reward": 1.0, "info": {"task": {"user_id": "kari"}}}
    return {**known, **fields, "traj": messages}


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
        assert (names.session, names.task) == ("task-7-trial-1", "7")
        assert names.source == "/mnemolog/import/openai-chat"


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


def test_a_call_without_a_result_stays_without_an_end(log, tmp_path):
    log.take(
        json_file(tmp_path, [asks(call("a")), user("forget it"), asks(call("a")), answer("x")])
    )
    orphan, answered = (made.recorded.event.action for made in log.of(ActionStarted))
    assert [made.recorded.event.action for made in log.of(ActionFinished)] == [answered]
    assert orphan != answered


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


# Shapes


@pytest.mark.parametrize(
    "written",
    [
        [MESSAGES],
        {"messages": MESSAGES},
        [{"messages": MESSAGES}],
        MESSAGES,
    ],
)
def test_every_shape_of_one_conversation_gives_the_same_events(log, tmp_path, written):
    log.take(json_file(tmp_path, MESSAGES))
    report = log.take(json_file(tmp_path, written), format="openai-chat")
    assert (report.added, report.already_there) == (0, 5)


def test_lines_of_messages_and_lines_of_conversations_give_the_same_events(log, tmp_path):
    log.take(lines_file(tmp_path, *MESSAGES))
    report = log.take(lines_file(tmp_path, {"messages": MESSAGES}))
    assert (report.added, report.already_there) == (0, 5)


def test_a_broken_line_of_a_conversation_is_named_and_the_rest_comes(log, tmp_path):
    lines = [json.dumps(message).encode() for message in MESSAGES]
    lines[2] = lines[2][:-20]
    report = log.take(lines_file(tmp_path, *lines))
    assert [problem.place for problem in report.problems] == ["line 3"]
    assert [said.recorded.event.text for said in log.of(MessageExchanged)] == [
        "A window seat to Bergen, please.",
        "12A is yours.",
    ]


def test_a_message_that_can_not_be_read_is_named_and_its_neighbours_come(log, tmp_path):
    messages = [user("one"), {"role": "robot", "content": "?"}, 7, says("two")]
    report = log.take(json_file(tmp_path, [run(messages)]))
    assert [p.place for p in report.problems] == ["item 1, message 2", "item 1, message 3"]
    assert [said.recorded.event.text for said in log.of(MessageExchanged)] == ["one", "two"]


@pytest.mark.parametrize(
    "bad",
    [
        run(task_id={"odd": 1}),
        run(task_id="../../etc"),
        run(trial="\x00"),
        run(task_id="x" * 300),
        run(info={"task": {"user_id": ["x"]}}),
        {"messages": "none"},
        {"traj": None},
        [],
        3,
        None,
    ],
)
def test_a_run_that_can_not_be_told_is_named_and_its_neighbours_come(log, tmp_path, bad):
    report = log.take(json_file(tmp_path, [run(), bad, run(trial=2)]), format="openai-chat")
    assert {problem.place for problem in report.problems} == {"item 2"}
    assert len(log.of(FeedbackGiven)) == 2


@pytest.mark.parametrize("info", [None, [], "x", {"task": None}, {"task": []}, {"task": {}}])
def test_a_run_without_its_info_has_no_user(log, tmp_path, info):
    assert log.take(json_file(tmp_path, [run(info=info)])).problems == []
    assert {found.envelope.user for found in log.events()} == {None}


# Recognition


@pytest.mark.parametrize(
    "written",
    [[run()], run(), MESSAGES, [MESSAGES], {"messages": MESSAGES}, [{"messages": MESSAGES}]],
)
def test_chat_is_recognised(written):
    assert OpenAIChat().recognises("x", json.dumps(written).encode())


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"Apache License",
        b'{"type": "user", "message": {"role": "user", "content": "hi"}}',
        b'{"qa": [], "conversation": {}}',
        b'{"role": "button"}',
    ],
)
def test_other_files_are_not_taken_for_chat(head):
    assert not OpenAIChat().recognises("x", head)


def test_options_are_checked_before_anything_is_read():
    from mnemolog.schemas.errors import InvalidSetting  # noqa: PLC0415

    for wrong in ({"agent": "../x"}, {"user": ""}, {"start": "soon"}, {"start": "1600-01-01"}):
        with pytest.raises(InvalidSetting):
            Options(**wrong)
