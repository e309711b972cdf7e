"""What the program itself writes into a session: compactions, hooks, summaries, unknown lines."""

import json

import pytest

from mnemolog.schemas.events.experience import (
    ActionStarted,
    CheckpointRequested,
    CheckpointSaved,
    FeedbackGiven,
    MessageExchanged,
    SessionEnded,
)
from support.claude_code import answers, calls, line, model, says, user
from support.import_log import ImportLog, lines_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


@pytest.fixture
def take(log, tmp_path):
    def taken(*lines, **how):
        return log.take(lines_file(tmp_path, *lines), format="claude-code", **how)

    return taken


def feedback(log: ImportLog) -> list[tuple[str, float, str, str | None, str]]:
    given = [found.recorded.event for found in log.of(FeedbackGiven)]
    return [(e.target, e.score, e.label, e.comment, e.given_by) for e in given]


# Compactions


COMPACTED = [
    user("u1", "Mend the lift."),
    model("a1", says("It is mended."), parent="u1"),
    line(
        "system",
        "b1",
        logicalParentUuid="a1",
        subtype="compact_boundary",
        content="Conversation compacted",
        compactMetadata={"trigger": "auto", "preTokens": 900},
    ),
    user("u2", "The lift was mended; the door is next.", parent="b1", isCompactSummary=True),
    user("u3", "Go on.", parent="u2"),
]


def test_a_compaction_is_a_checkpoint_that_its_summary_fills(log, take):
    assert take(*COMPACTED).problems == []
    (asked,) = log.of(CheckpointRequested)
    assert asked.recorded.event.reason == "compaction, auto trigger, 900 tokens"
    (saved,) = log.of(CheckpointSaved)
    checkpoint = saved.recorded.event.checkpoint
    assert checkpoint.plan_summary == "The lift was mended; the door is next."
    assert (checkpoint.current_goal, checkpoint.agent) == ("Mend the lift.", "claude-code")
    assert checkpoint.id == saved.envelope.id
    ids = [found.envelope.id for found in log.events()]
    assert [found.envelope.cause for found in log.events()] == [None, *ids[:-1]]


def test_a_compaction_is_no_rewind(log, take):
    take(*COMPACTED, model("a2", says("Gone on."), parent="u3"))
    assert log.of(SessionEnded) == []


# Hooks and persons


def test_a_hook_that_blocks_a_call_is_feedback_on_it(log, take):
    about = {
        "type": "hook_blocking_error",
        "toolUseID": "t1",
        "blockingError": {"blockingError": "No writing there.", "command": "guard"},
    }
    take(model("a1", calls("t1")), line("attachment", "h1", parent="a1", attachment=about))
    action = log.of(ActionStarted)[0].envelope.id
    assert feedback(log) == [(action, -1.0, "hook", "No writing there.", "hook")]


def test_hooks_that_keep_an_agent_from_stopping_are_feedback_on_what_it_said(log, take):
    stop = {"subtype": "stop_hook_summary", "preventedContinuation": True, "stopReason": "Test it."}
    take(
        model("a1", says("Done.")),
        line("system", "h1", parent="a1", **{**stop, "hookErrors": ["exit 2"]}),
        line("system", "h2", parent="h1", subtype="stop_hook_summary", hookErrors=[]),
    )
    spoken = log.of(MessageExchanged)[0].envelope.id
    assert feedback(log) == [(spoken, -1.0, "hook", "exit 2\nTest it.", "hook")]


def test_a_hooks_warning_in_a_line_of_the_old_form_is_feedback(log, take):
    words = "\x1b[1mPostToolUse:Edit\x1b[22m [fmt] failed with status code 1"
    take(
        model("a1", calls("t1")),
        line("system", "h1", parent="a1", content=words, level="warning", toolUseID="t1"),
        line("system", "h2", parent="a1", content="PostToolUse:Edit done", level="info"),
    )
    action = log.of(ActionStarted)[0].envelope.id
    assert feedback(log) == [(action, -1.0, "hook", words, "hook")]
    assert [found.recorded.event.role for found in log.of(MessageExchanged)] == ["system"]


def test_a_call_that_a_person_did_not_allow_is_feedback_of_that_person(log, take):
    no = "The user doesn't want to proceed with this tool use."
    lines = [model("a1", calls("t1")), user("u1", [answers("t1", no, is_error=True)])]
    take(*lines, user="kari")
    action = log.of(ActionStarted)[0].envelope.id
    assert feedback(log) == [(action, -1.0, "rejected", None, "kari")]
    assert log.events()[-1].envelope.cause == action


@pytest.mark.parametrize("about", [None, "x", {}, {"type": "todo_reminder"}, {"type": 3}])
def test_other_attachments_say_nothing(log, take, about):
    take(user("u1", "Hi."), line("attachment", "h1", parent="u1", attachment=about))
    assert log.types() == ["session.started", "message.exchanged"]


def test_a_prompt_that_waited_is_the_users(log, take):
    about = {"type": "queued_command", "prompt": "And the door?"}
    take(user("u1", "Hi."), line("attachment", "h1", parent="u1", attachment=about))
    assert log.of(MessageExchanged)[-1].recorded.event.text == "And the door?"


# Summaries


def summary(leaf: str) -> dict:
    return {"type": "summary", "summary": "The lift was mended.", "leafUuid": leaf}


def test_a_summary_behind_its_last_line_ends_the_session_with_its_words(log, take):
    lines = [user("u1", "Mend the lift."), model("a1", says("Done."), parent="u1")]
    take(*lines, summary("a1"))
    (ended,) = log.of(SessionEnded)
    assert ended.recorded.event.outcome == "The lift was mended."
    assert ended.envelope.assumed_utc
    take(*lines, summary("a1"), user("u2", "And the door?", parent="a1"))
    assert log.types()[-2:] == ["session.started", "message.exchanged"]


@pytest.mark.parametrize("leaf", ["u1", "elsewhere", None])
def test_a_summary_of_another_branch_or_file_says_nothing(log, take, leaf):
    lines = [user("u1", "Mend the lift."), model("a1", says("Done."), parent="u1")]
    report = take(summary(leaf), *lines, summary(leaf))
    assert (report.problems, log.of(SessionEnded)) == ([], [])
    assert len(log.events()) == 3


# What can't be read


@pytest.mark.bad_input(25)
def test_a_damaged_line_costs_itself(log, take):
    lines = [
        user("u1", "one"),
        user("u2", "two", parent="u1"),
        b'{"type":"user","uuid":"u3","message":{"role":"user","content":"thr',
        user("u4", "four", parent="u3"),
        user("u5", "five", parent="u4"),
    ]
    report = take(*lines)
    (problem,) = report.problems
    assert problem.place == "line 3"
    assert "unterminated string" in problem.reason.lower()
    assert [found.recorded.event.text for found in log.of(MessageExchanged)] == [
        "one",
        "two",
        "four",
        "five",
    ]


@pytest.mark.bad_input(27)
def test_nul_bytes_between_lines_are_named_with_their_offset(log, tmp_path):
    path = lines_file(tmp_path, user("u1", "one"), user("u2", "two", parent="u1"))
    first, second = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"\0" * 512 + second)
    report = log.take(path)
    assert [str(p).removeprefix(f"{path}: ") for p in report.problems] == [
        f"line 2, byte {len(first)}: 512 NUL bytes, passed over"
    ]
    assert len(log.of(MessageExchanged)) == 2


@pytest.mark.parametrize(
    "bad",
    [
        42,
        [1],
        "massive error",
        {"silly": "this"},
        {"type": 3},
        {**user("u9", "x"), "sessionId": "../x"},
        {**user("u9", "x"), "sessionId": 7},
        {**user("u9", "x"), "message": "error"},
        user("u9", None),
        user("u9", 3),
        model("a9", {"type": "tool_use", "id": "t", "input": {}}),
        model("a9", {"type": "text"}),
        user("u9", [7]),
        user("u9", [{"type": "tool_result"}]),
    ],
)
def test_what_is_no_line_is_named_and_passed_over(log, take, bad):
    report = take(user("u1", "one"), json.dumps(bad).encode(), user("u2", "two", parent="u1"))
    assert [problem.place for problem in report.problems] == ["line 2"]
    texts = [found.recorded.event.text for found in log.of(MessageExchanged)]
    assert [text for text in texts if text] == ["one", "two"]


def test_a_line_whose_time_cant_be_read_has_the_time_before_it(log, take):
    bad = {**user("u2", "two", parent="u1"), "timestamp": 1757015076651}
    late = {**user("u3", "three", parent="u2"), "timestamp": "9999-01-01T00:00:00Z"}
    none = {**user("u4", "four", parent="u3"), "timestamp": None}
    report = take(user("u1", "one", second=7), bad, late, none)
    assert [problem.place for problem in report.problems] == ["line 2", "line 3"]
    envelopes = [found.envelope for found in log.of(MessageExchanged)]
    assert len({envelope.occurred_at for envelope in envelopes}) == 1
    assert [envelope.assumed_utc for envelope in envelopes] == [False, True, True, True]


def test_unknown_kinds_are_counted_and_named_once(log, take):
    report = take(
        user("u1", "Hi."),
        line("hologram", "x1", parent="u1"),
        line("hologram", "x2", parent="x1"),
        model("a1", says("Hello."), parent="x2"),
    )
    (problem,) = report.problems
    assert problem.place == "line 2"
    assert problem.reason == "type 'hologram' is not known and passed over; 2 line(s) in all"
    assert log.events()[-1].envelope.cause == log.events()[-2].envelope.id
