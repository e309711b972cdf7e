"""Lines of Codex rollouts become events: who said what, what was called, and what came of it."""

from datetime import UTC, datetime

import pytest

from mnemolog.importers.codex import Codex
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    CheckpointRequested,
    CheckpointSaved,
    DecisionMade,
    MessageExchanged,
    SessionStarted,
)
from support.codex import call, event, item, line, meta, output, said, shown, thought, turn
from support.import_log import ImportLog, lines_file

TURN = [
    meta(instructions="Be brief."),
    turn(),
    shown("user", "Is the lift free?"),
    said("user", "Is the lift free?"),
    thought("**Ask the lift**\n\nIt knows best."),
    call("c1", cmd="lift --ask"),
    output("c1", "free"),
    shown("assistant", "It is free."),
    said("assistant", "It is free."),
]


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


@pytest.fixture
def take(log, tmp_path):
    def taken(*lines, **how):
        report = log.take(lines_file(tmp_path, *lines), format="codex", **how)
        return report, log

    return taken


def told(log: ImportLog, model: type) -> list:
    return [found.recorded.event for found in log.of(model)]


def words(log: ImportLog) -> list[tuple[str, str]]:
    return [(event_.role, event_.text) for event_ in told(log, MessageExchanged)]


def test_a_turn_is_words_a_thought_a_call_and_its_answer(take):
    report, log = take(*TURN)
    assert report.problems == []
    assert log.types() == [
        "session.started",
        "message.exchanged",
        "decision.made",
        "action.started",
        "action.finished",
        "message.exchanged",
    ]
    assert words(log) == [("user", "Is the lift free?"), ("assistant", "It is free.")]
    assert told(log, SessionStarted)[0].instructions == "Be brief."
    (decision,) = told(log, DecisionMade)
    assert (decision.what, decision.why) == ("**Ask the lift**", "It knows best.")
    (started,) = told(log, ActionStarted)
    assert (started.tool, started.arguments) == ("shell", {"cmd": "lift --ask"})
    (finished,) = told(log, ActionFinished)
    assert (finished.action, finished.success, finished.result) == (started.action, True, "free")


def test_each_event_is_caused_by_what_it_answers(take):
    _, log = take(*TURN)
    ids = [found.envelope.id for found in log.events()]
    assert [found.envelope.cause for found in log.events()] == [None, *ids[:-1]]
    assert {found.envelope.correlation for found in log.events()} == {ids[0]}


def test_calls_beside_one_another_are_caused_by_the_words_before_them(take):
    _, log = take(meta(), said("user", "Both."), call("c1"), call("c2"), output("c2"), output("c1"))
    spoken = log.of(MessageExchanged)[0].envelope.id
    calls = {found.envelope.extensions["sourcecall"]: found for found in log.of(ActionStarted)}
    assert {found.envelope.cause for found in calls.values()} == {spoken}
    causes = [found.envelope.cause for found in log.of(ActionFinished)]
    assert causes == [calls["c2"].envelope.id, calls["c1"].envelope.id]


def test_names_and_times(take):
    _, log = take(*TURN[:-1], {**TURN[-2], "timestamp": "2026-01-02T04:00:00+01:00"})
    envelopes = [found.envelope for found in log.events()]
    assert {(e.agent, e.session, e.project, e.user) for e in envelopes} == {
        ("codex", "r-1", "ferry", None)
    }
    assert envelopes[0].occurred_at == datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
    assert not any(envelope.assumed_utc for envelope in envelopes)


def test_the_names_that_are_asked_for_come_first(take):
    _, log = take(*TURN, agent="ops-1", user="kari", project="lift")
    envelopes = [found.envelope for found in log.events()]
    assert {(e.agent, e.user, e.project) for e in envelopes} == {("ops-1", "kari", "lift")}


@pytest.mark.parametrize("source", [{"subagent": {"other": "counter"}}, {"subagent": "review"}])
def test_a_sub_agents_session_is_the_sub_agents(take, source):
    _, log = take(meta(source=source))
    assert log.events()[0].envelope.agent == "codex/sub-agent"


@pytest.mark.parametrize(
    ("role", "text", "expected"),
    [
        ("user", "<environment_context>cwd</environment_context>", "system"),
        ("user", "# AGENTS.md instructions for /home", "system"),
        ("developer", "Be brief.", "system"),
        ("user", "好的，继续。", "user"),
    ],
)
def test_what_the_program_says_in_the_users_place_is_the_programs(take, role, text, expected):
    _, log = take(meta(), said(role, text))
    assert words(log) == [(expected, text)]


def test_images_are_references(take):
    picture = {"type": "input_image", "image_url": "data:image/png;base64,aGk="}
    content = [{"type": "input_text", "text": "Look"}, picture]
    _, log = take(
        meta(),
        item("message", role="user", content=content),
        shown("user", "And here", images=["https://e.invalid/k.png"]),
    )
    parts = [(part.kind, part.reference) for m in told(log, MessageExchanged) for part in m.parts]
    assert parts == [
        ("image", "data:image/png;base64,aGk="),
        ("image", "https://e.invalid/k.png"),
    ]


# Calls and answers


def test_custom_tools_and_shells_are_calls(take):
    action = {"type": "exec", "command": ["ls"]}
    _, log = take(
        meta(),
        item("custom_tool_call", call_id="c1", name="apply_patch", input="*** Begin"),
        item("custom_tool_call_output", call_id="c1", output=[{"type": "text", "text": "Done!"}]),
        item("local_shell_call", call_id="c2", status="completed", action=action),
        output("c2", "a\nb"),
        item("web_search_call", status="completed", action={"type": "search", "query": "lifts"}),
    )
    calls = [(e.tool, e.arguments, e.raw) for e in told(log, ActionStarted)]
    assert calls == [
        ("apply_patch", {}, "*** Begin"),
        ("local_shell", action, None),
        ("web_search", {"type": "search", "query": "lifts"}, None),
    ]
    results = [(e.success, e.result) for e in told(log, ActionFinished)]
    assert results == [(True, "Done!"), (True, "a\nb"), (True, None)]


@pytest.mark.parametrize(
    ("given", "success", "text", "took"),
    [
        ("fine", True, "fine", None),
        ("", True, "", None),
        (None, True, "", None),
        ("Exit code: 0\nOutput:\nfine", True, "Exit code: 0\nOutput:\nfine", None),
        ("Exit code: 2\nOutput:\nbad", False, "Exit code: 2\nOutput:\nbad", None),
        ("Process exited with code 1\nbad", False, "Process exited with code 1\nbad", None),
        (
            '{"output":"bad","metadata":{"exit_code":1,"duration_seconds":0.5}}',
            *(False, "bad", 500),
        ),
        ('{"output":"fine","metadata":{"exit_code":0}}', True, "fine", None),
        ('{"status":"ok"}', True, '{"status":"ok"}', None),
        ({"content": "bad", "success": False}, False, "bad", None),
        ([{"type": "input_text", "text": "seen"}], True, "seen", None),
        (7, True, "7", None),
    ],
)
def test_an_answer_failed_by_its_flag_or_its_exit_code(take, given, success, text, took):
    _, log = take(meta(), call("c1"), output("c1", given))
    (finished,) = told(log, ActionFinished)
    said_ = finished.result if success else finished.error
    assert (finished.success, said_, finished.duration_ms) == (success, text, took)


def test_an_answer_to_no_known_call_has_no_cause(take):
    _, log = take(meta(), output("c9"))
    (found,) = log.of(ActionFinished)
    assert found.envelope.cause is None


# Compactions


def test_a_compaction_with_a_summary_is_a_checkpoint(take):
    _, log = take(
        meta(),
        said("user", "Mend the lift."),
        line("compacted", {"message": "The lift was mended."}),
        line("compacted", {"message": "", "replacement_history": []}),
    )
    (saved,) = log.of(CheckpointSaved)
    checkpoint = saved.recorded.event.checkpoint
    assert (checkpoint.current_goal, checkpoint.plan_summary) == (
        "Mend the lift.",
        "The lift was mended.",
    )
    assert [e.reason for e in told(log, CheckpointRequested)] == ["compaction"]


# Where it is known, and where not


@pytest.mark.parametrize(
    "head",
    [
        b'{"timestamp":"2026-01-02T03:04:05Z","type":"session_meta","payload":{"id":"x"}}\n',
        b'broken\n{"payload":{"role":"user"},"timestamp":"t","type":"response_item"}\n',
        b'{"id":"x","timestamp":"t","instructions":null}\n{"type":"message","role":"user"}\n',
    ],
)
def test_a_rollout_is_recognised(head):
    assert Codex().recognises("x.jsonl", head)


@pytest.mark.parametrize(
    "head",
    [
        b'{"type":"order","payload":{"id":"x"}}\n',
        b'{"role":"user","content":"hi"}\n',
        b'{"type":"user","uuid":"u1","sessionId":"s","message":{}}\n',
    ],
)
def test_other_formats_are_left_alone(head):
    assert not Codex().recognises("x.jsonl", head)


def test_a_file_of_the_first_releases_has_no_payloads(take):
    lines = [
        {"id": "r-0", "timestamp": "2025-05-01T00:00:00Z", "instructions": "Be brief."},
        {"record_type": "state"},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]},
        {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
    ]
    report, log = take(*lines)
    assert report.problems == []
    assert log.types()[1:] == ["message.exchanged", "action.started", "action.finished"]
    assert [found.envelope.assumed_utc for found in log.events()] == [False, True, True, True]
    assert log.events()[0].envelope.session == "r-0"


def test_a_session_without_a_start_is_called_after_its_first_line(take):
    _, log = take(said("user", "Hi."))
    assert log.events()[0].envelope.session.startswith("session-")
    assert words(log) == [("user", "Hi.")]


# What can't be read


@pytest.mark.parametrize(
    "bad",
    [
        b"[1]",
        b'"x"',
        b'{"type":"respon',
        {"type": "response_item", "payload": 3},
        {"type": 3, "payload": {}},
        {"type": "session_meta", "payload": {"id": "../x"}},
        {"type": "response_item", "payload": {"type": 3}},
        item("message", role="user", content=3),
        item("message", role="clown", content="x"),
        event("user_message", message=3),
    ],
)
def test_what_is_no_line_is_named_and_passed_over(take, bad):
    report, log = take(meta(), said("user", "one"), bad, said("user", "two"))
    assert [problem.place for problem in report.problems] == ["line 3"]
    assert words(log) == [("user", "one"), ("user", "two")]


def test_unknown_types_are_counted_and_named_once(take):
    unknown = [line("hologram", {}), item("hologram"), event("hologram"), line("hologram", {})]
    known = [event("exec_command_begin"), event("task_started"), item("ghost_snapshot")]
    report, log = take(line("hologram", {}), meta(), *unknown, *known, said("user", "Hi."))
    assert [(p.place, p.reason.split(" is ")[0]) for p in report.problems] == [
        ("line 1", "type 'hologram'"),
        ("line 4", "type 'response_item hologram'"),
        ("line 5", "type 'event_msg hologram'"),
    ]
    assert "3 line(s)" in report.problems[0].reason
    assert log.types() == ["session.started", "message.exchanged"]
