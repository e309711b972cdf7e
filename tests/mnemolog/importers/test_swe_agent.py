"""SWE-agent: thoughts, commands, answers, states and ends of its runs."""

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    CheckpointSaved,
    DecisionMade,
    MessageExchanged,
    ObservationRecorded,
    SessionEnded,
    SessionStarted,
    TaskAbandoned,
    TaskCompleted,
    TaskStarted,
)
from support.import_log import ImportLog, json_file
from support.swe_agent import HISTORY, TASK, step, traj


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def told(log: ImportLog, model) -> list:
    return [found.recorded.event for found in log.of(model)]


# What becomes what


def test_a_run_is_told_from_its_start_to_its_end(log, tmp_path):
    assert log.take(json_file(tmp_path, traj())).problems == []
    assert log.types() == [
        "session.started",
        "task.started",
        "message.exchanged",
        "decision.made",
        "action.started",
        "action.finished",
        "checkpoint.saved",
        "decision.made",
        "action.started",
        "action.finished",
        "checkpoint.saved",
        "action.started",
        "action.finished",
        "checkpoint.saved",
        "task.completed",
        "session.ended",
    ]


def test_everything_is_said_once_and_whole(log, tmp_path):
    log.take(json_file(tmp_path, traj()))
    (started,), (task,), (said,) = (
        told(log, model) for model in (SessionStarted, TaskStarted, MessageExchanged)
    )
    assert (started.instructions, task.goal) == ("You mend code.", "Mend the lift")
    assert (said.role, said.text) == ("user", TASK["content"])
    assert [(made.what, made.why) for made in told(log, DecisionMade)] == [
        ("Look first.", "Then think."),
        ("Open it.", None),
    ]
    assert [(made.tool, made.arguments) for made in told(log, ActionStarted)] == [
        ("ls", {"command": "ls -F\n"}),
        ("open", {"command": "open doors.py"}),
        ("submit", {"command": "submit"}),
    ]
    assert [(made.result, made.duration_ms) for made in told(log, ActionFinished)] == [
        ("doors.py\n", None),
        ("1: shut", None),
        ("\r\ndiff --git a/doors.py\r\n+open", 250),
    ]


def test_no_demonstration_comes_in(log, tmp_path):
    log.take(json_file(tmp_path, traj()))
    assert "DEMONSTRATION" not in "".join(f.recorded.event.model_dump_json() for f in log.events())


def test_each_event_is_caused_by_the_one_that_it_answers(log, tmp_path):
    log.take(json_file(tmp_path, traj()))
    places = {found.envelope.id: number for number, found in enumerate(log.events())}
    causes = [places.get(found.envelope.cause) for found in log.events()]
    assert causes == [None, *range(15)]
    for finished in log.of(ActionFinished):
        assert finished.envelope.cause == finished.recorded.event.action


def test_the_names_are_those_of_the_problem(log, tmp_path):
    log.take(json_file(tmp_path, traj()), user="kari", project="lifts")
    for found in log.events():
        names = found.envelope
        assert (names.agent, names.user, names.project) == ("swe-agent", "kari", "lifts")
        assert names.task == "lift-7"
        assert names.session.startswith("lift-7-")


@pytest.mark.parametrize("replay", [None, "{", "[]", 3, {}, {"problem_statement": "x"}])
def test_without_a_problem_a_run_is_named_after_its_beginning(log, tmp_path, replay):
    assert log.take(json_file(tmp_path, traj(replay_config=replay))).problems == []
    names = log.events()[0].envelope
    assert names.task == names.session
    assert names.session.startswith("swe-agent-")
    assert [task.goal for task in told(log, TaskStarted)] == ["The lift hangs"]


@pytest.mark.parametrize(
    ("action", "tool"),
    [("./rock\n", "./rock"), ("A=1 make", "bash"), ("\n ls", "ls"), ("(cd x; ls)", "bash")],
)
def test_the_tool_is_the_commands_first_word(log, tmp_path, action, tool):
    log.take(json_file(tmp_path, traj([step(action, "x")])))
    assert [made.tool for made in told(log, ActionStarted)] == [tool]


@pytest.mark.parametrize(
    "observation",
    [
        "Error: no such file",
        "\nEXECUTION TIMED OUT",
        "Your proposed edit has introduced new syntax error(s). Please retry.",
        "The command 'make' was cancelled because it took more than 30 seconds.",
    ],
)
def test_a_tool_that_says_that_it_failed_did(log, tmp_path, observation):
    log.take(json_file(tmp_path, traj([step("make", observation)])))
    assert [(e.success, e.error) for e in told(log, ActionFinished)] == [(False, observation)]


def test_an_empty_answer_is_one(log, tmp_path):
    log.take(json_file(tmp_path, traj([step("rm x", "")])))
    assert [(e.success, e.result) for e in told(log, ActionFinished)] == [(True, "")]


def test_a_turn_without_a_command_is_a_thought_and_what_is_shown_an_observation(log, tmp_path):
    odd = step("", "Format error.", thought="I am not sure.")
    log.take(json_file(tmp_path, traj([odd, step("", "", response="Only words.")])))
    assert [made.what for made in told(log, DecisionMade)] == ["I am not sure.", "Only words."]
    assert [e.text for e in told(log, ObservationRecorded)][:1] == ["Format error."]
    assert log.of(ActionStarted) == []


def test_control_characters_and_line_ends_are_kept(log, tmp_path):
    text = "\x1b[31mred\x1b[0m\r\n\x07\ufffd 旗"
    log.take(json_file(tmp_path, traj([step("ls", text)])))
    assert [e.result for e in told(log, ActionFinished)] == [text]


# Where the run stands


def test_a_state_is_saved_when_it_changes_with_the_one_before_it(log, tmp_path):
    states = [{"d": "/a"}, '{"d": "/a"}\n', {"d": "/b"}, None, "", {"d": "/a"}]
    steps = [step("cd", f"{n}", state=state) for n, state in enumerate(states)]
    assert log.take(json_file(tmp_path, traj(steps))).problems == []
    saved = [event.checkpoint for event in told(log, CheckpointSaved)]
    assert [c.plan_summary for c in saved] == ["d: /a", "d: /b", "d: /a"]
    assert [c.task_state.variables for c in saved] == [{"d": "/a"}, {"d": "/b"}, {"d": "/a"}]
    assert [c.parent for c in saved] == [None, saved[0].id, saved[1].id]
    assert [c.task_state.iterations for c in saved] == [1, 3, 6]
    assert {c.current_goal for c in saved} == {"Mend the lift"}


@pytest.mark.parametrize("state", ["{not json", "[1]", 7, [], True])
def test_a_state_that_can_not_be_read_is_named_and_its_step_comes(log, tmp_path, state):
    report = log.take(json_file(tmp_path, traj([step("ls", "x", state=state)])))
    assert [problem.place for problem in report.problems] == ["line 1, step 1"]
    assert (len(log.of(ActionFinished)), log.of(CheckpointSaved)) == (1, [])


# The end


def test_the_end_says_how_it_was_left_and_what_it_took(log, tmp_path):
    log.take(json_file(tmp_path, traj()))
    ((completed,), (ended,)) = (told(log, TaskCompleted), told(log, SessionEnded))
    assert (completed.outcome, completed.success) == ("submitted: Mend the lift", True)
    use = ended.model_use
    assert (use.model, use.tokens_in, use.tokens_out, use.cost_usd) == ("small-1", 70, 7, 0.5)


def test_a_submission_that_no_answer_showed_is_told_by_itself_or_with_the_outcome(log, tmp_path):
    info = {"exit_status": "submitted", "submission": "diff --git a/other\n+x"}
    log.take(json_file(tmp_path, traj(info=info)))
    assert [e.text for e in told(log, ObservationRecorded)] == ["diff --git a/other\n+x"]
    log.take(json_file(tmp_path, traj(info={**info, "submission": "flag{7}"})))
    assert [e.outcome for e in told(log, TaskCompleted)] == [
        "submitted: Mend the lift",
        "submitted flag{7}: Mend the lift",
    ]


def test_a_run_that_had_to_submit_did_not_succeed_and_another_is_abandoned(log, tmp_path):
    log.take(json_file(tmp_path, traj(info={"exit_status": "submitted (exit_cost)"})))
    assert [e.success for e in told(log, TaskCompleted)] == [False]
    log.take(json_file(tmp_path, traj(info={"exit_status": "exit_context"})))
    assert [e.outcome for e in told(log, TaskAbandoned)] == ["exit_context: Mend the lift"]
    assert [e.success for e in told(log, SessionEnded)] == [None, False]


@pytest.mark.parametrize("info", [None, {}, {"exit_status": None}, {"exit_status": ""}, 3])
def test_a_run_without_an_exit_status_may_go_on(log, tmp_path, info):
    log.take(json_file(tmp_path, traj(info=info)))
    assert log.types()[-1] == "checkpoint.saved"


def test_an_exit_status_of_another_kind_is_named(log, tmp_path):
    report = log.take(json_file(tmp_path, traj(info={"exit_status": ["?"]})))
    assert [problem.place for problem in report.problems] == ["line 1, info"]


# Messages alone


def test_a_run_without_steps_is_told_from_its_messages(log, tmp_path):
    assert log.take(json_file(tmp_path, {"history": HISTORY})).problems == []
    assert [(m.tool, m.arguments) for m in told(log, ActionStarted)] == [
        ("find_file", {"file": "doors.py"}),
        ("ls", {"command": "ls"}),
        ("submit", {}),
    ]
    answers = log.of(ActionFinished)
    assert [f.recorded.event.result for f in answers] == [
        "find_file done",
        "doors.py",
        "submit done",
    ]
    assert [f.envelope.cause for f in answers] == [m.envelope.id for m in log.of(ActionStarted)]
    assert [f.envelope.extensions.get("sourcecall") for f in answers] == ["call_1", None, "call_2"]
    assert [made.what for made in told(log, DecisionMade)] == ["Find it.", "Look.", "Done."]


def test_what_is_said_to_an_agent_that_waits_for_nothing_is_a_message(log, tmp_path):
    log.take(json_file(tmp_path, {"history": [*HISTORY, {**TASK, "content": "Well?"}]}))
    assert [said.text for said in told(log, MessageExchanged)] == [TASK["content"], "Well?"]
