"""Conversations are found in every shape of file, and what is none is named."""

import json

import pytest

from mnemolog.importers.base import Options
from mnemolog.importers.openai_chat import OpenAIChat
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.schemas.events.experience import (
    FeedbackGiven,
    MessageExchanged,
)
from support.chats import MESSAGES, run, says, user
from support.import_log import ImportLog, json_file, lines_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


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
        run(task_id="x" * 1_025),
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
    for wrong in ({"agent": "../x"}, {"user": ""}, {"start": "soon"}, {"start": "1600-01-01"}):
        with pytest.raises(InvalidSetting):
            Options(**wrong)
