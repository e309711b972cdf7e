"""mini-swe-agent: what becomes of its messages, in its three shapes, and what is wrong in them."""

import json

import pytest

from mnemolog.importers.mini_swe_agent import MiniSWEAgent
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    DecisionMade,
    MessageExchanged,
    ObservationRecorded,
    SessionEnded,
    SessionStarted,
    TaskAbandoned,
    TaskCompleted,
    TaskStarted,
)
from support.chats import answer, asks, call, says, user
from support.import_log import ImportLog, json_file, lines_file

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff"
SYSTEM = {"role": "system", "content": f"Give ONE command. To finish: {SUBMIT}"}
TASK = user("Please solve this: the lift hangs.\n\nYou can run commands.")


def runs(command: str, thought: str = "", *, fence: str = "mswea_bash_command") -> dict:
    return says(f"{thought}\n\n```{fence}\n{command}\n```")


def shown(output: str, code: int = 0) -> dict:
    return user(f"<returncode>{code}</returncode>\n<output>\n{output}\n</output>")


MESSAGES = [
    SYSTEM,
    TASK,
    runs("ls", "THOUGHT: Look first.\nThen think."),
    shown("doors.py"),
    runs("cat nodoor.py"),
    shown("no such file", 1),
    runs(SUBMIT, "Done."),
    user("diff --git a/doors.py\n+open\n"),
]


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def told(log: ImportLog, model) -> list:
    return [found.recorded.event for found in log.of(model)]


# What becomes what


def test_a_run_is_told_from_its_start_to_its_end(log, tmp_path):
    assert log.take(json_file(tmp_path, MESSAGES)).problems == []
    assert log.types() == [
        "session.started",
        "task.started",
        "message.exchanged",
        "decision.made",
        "action.started",
        "action.finished",
        "action.started",
        "action.finished",
        "decision.made",
        "action.started",
        "action.finished",
        "task.completed",
        "session.ended",
    ]
    places = {found.envelope.id: number for number, found in enumerate(log.events())}
    causes = [places.get(found.envelope.cause) for found in log.events()]
    assert causes == [None, *range(12)]


def test_everything_is_said_once_and_whole(log, tmp_path):
    log.take(json_file(tmp_path, MESSAGES))
    (started,), (task,), (said,) = (
        told(log, model) for model in (SessionStarted, TaskStarted, MessageExchanged)
    )
    assert started.instructions == SYSTEM["content"]
    assert task.goal == "Please solve this: the lift hangs."
    assert (said.role, said.text) == ("user", TASK["content"])
    assert [(made.what, made.why) for made in told(log, DecisionMade)] == [
        ("Look first.", "Then think."),
        ("Done.", None),
    ]
    assert [(made.tool, made.arguments) for made in told(log, ActionStarted)] == [
        ("bash", {"command": "ls"}),
        ("bash", {"command": "cat nodoor.py"}),
        ("bash", {"command": SUBMIT}),
    ]
    assert [(e.success, e.result or e.error, e.data) for e in told(log, ActionFinished)] == [
        (True, "doors.py", {"returncode": 0}),
        (False, "no such file", {"returncode": 1}),
        (True, "diff --git a/doors.py\n+open\n", {}),
    ]
    assert [e.outcome for e in told(log, TaskCompleted)] == [
        "Submitted: Please solve this: the lift hangs."
    ]


def test_an_answer_that_is_no_plain_output_is_kept_whole(log, tmp_path):
    cut = "<returncode>0</returncode>\n<warning>\ntoo long\n</warning>\n<output_head>\na"
    killed = "The last command <command>x</command> timed out and has been killed."
    log.take(json_file(tmp_path, [SYSTEM, TASK, runs("a"), user(cut), runs("b"), user(killed)]))
    assert [(e.success, e.result or e.error) for e in told(log, ActionFinished)] == [
        (True, cut),
        (False, killed),
    ]


@pytest.mark.parametrize("words", ["I can't.", "```bash\na\n```\n```bash\nb\n```"])
def test_words_without_one_command_are_a_thought_and_what_follows_a_message(log, tmp_path, words):
    odd = [SYSTEM, TASK, says(words), user("Give one command."), runs("ls"), shown("x")]
    log.take(json_file(tmp_path, odd))
    assert "".join((e.what + (e.why or "")) for e in told(log, DecisionMade)) == "".join(
        words.split("\n", 1)
    )
    assert [said.text for said in told(log, MessageExchanged)][1:] == ["Give one command."]
    assert len(log.of(ActionStarted)) == 1


def test_a_final_command_that_was_run_like_any_other_ends_nothing(log, tmp_path):
    log.take(json_file(tmp_path, [SYSTEM, TASK, runs(SUBMIT), shown("not accepted", 1)]))
    assert log.types()[-1] == "action.finished"


def test_a_command_at_the_end_stays_open_until_its_answer_comes(log, tmp_path):
    log.take(json_file(tmp_path, MESSAGES[:3]))
    assert log.of(ActionFinished) == []
    report = log.take(json_file(tmp_path, MESSAGES))
    assert report.already_there == 5
    assert len(log.of(ActionFinished)) == 3


def test_a_command_that_the_agent_passed_is_orphaned(log, tmp_path):
    log.take(json_file(tmp_path, [SYSTEM, TASK, runs("a"), runs("b"), shown("of b")]))
    assert [(e.orphaned, e.result) for e in told(log, ActionFinished)] == [
        (True, None),
        (False, "of b"),
    ]


# Whole runs, as newer versions write them


def billed(message: dict, *, at: float = 1_706_000_000.5, cost: float = 0.25) -> dict:
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    response = {"model": "small-1", "usage": usage}
    return {**message, "extra": {"timestamp": at, "cost": cost, "response": response}}


def whole(messages: list = MESSAGES, **info) -> dict:
    known = {
        "model_stats": {"instance_cost": 0.75, "api_calls": 3},
        "config": {"model": {"model_name": "lab/small-1"}},
        "mini_version": "2.0.0",
        "exit_status": "Submitted",
        "submission": "diff --git a/doors.py\n+open\n",
    }
    run = {"info": {**known, **info}, "messages": messages, "instance_id": "lift-7"}
    return {**run, "trajectory_format": "mini-swe-agent-1.1"}


def test_a_whole_run_has_its_names_and_costs(log, tmp_path):
    assert log.take(json_file(tmp_path, whole()), user="kari").problems == []
    names = log.events()[0].envelope
    assert (names.agent, names.user, names.task) == ("mini-swe-agent", "kari", "lift-7")
    assert names.session.startswith("lift-7-")
    (ended,) = told(log, SessionEnded)
    assert (ended.model_use.model, ended.model_use.cost_usd) == ("lab/small-1", 0.75)
    assert log.of(ObservationRecorded) == []  # the last answer showed it


def test_what_each_answer_took_stands_on_its_first_event_and_times_are_its_own(log, tmp_path):
    thinks = billed(runs("ls", "Look."), cost=0.5)
    acts = billed(runs("ls"), at=1_706_000_002)
    log.take(json_file(tmp_path, whole([SYSTEM, TASK, thinks, shown("x"), acts])))
    used = [f for f in log.events() if f.recorded.event.model_use]
    assert [(f.event_type, f.recorded.event.model_use.cost_usd) for f in used] == [
        ("decision.made", 0.5),
        ("action.started", 0.25),
    ]
    assert [f.envelope.occurred_at.timestamp() for f in used] == [1_706_000_000.5, 1_706_000_002]
    assert not used[0].envelope.assumed_utc


def test_calls_of_tools_are_actions_and_the_exit_shows_what_was_submitted(log, tmp_path):
    messages = [
        SYSTEM,
        TASK,
        asks(call("bash", '{"command": "ls"}', call_id="c1"), text="Look."),
        {**answer("ignored", call_id="c1"), "extra": {"returncode": 2}},
        asks(call("bash", json.dumps({"command": SUBMIT}), call_id="c2")),
        {
            "role": "exit",
            "content": "diff --git",
            "extra": {"exit_status": "Submitted", "submission": "diff --git"},
        },
    ]
    log.take(json_file(tmp_path, whole(messages, submission="diff --git")))
    assert [(e.success, e.result or e.error) for e in told(log, ActionFinished)] == [
        (False, "ignored"),
        (True, "diff --git"),
    ]
    assert [e.outcome for e in told(log, TaskCompleted)] == [
        "Submitted: Please solve this: the lift hangs."
    ]


def test_a_run_that_was_stopped_is_abandoned(log, tmp_path):
    exits = {"role": "exit", "content": "LimitsExceeded"}
    stopped = {**exits, "extra": {"exit_status": "LimitsExceeded", "submission": ""}}
    log.take(json_file(tmp_path, whole([*MESSAGES[:4], stopped], exit_status="LimitsExceeded")))
    assert [e.outcome for e in told(log, TaskAbandoned)] == [
        "LimitsExceeded: Please solve this: the lift hangs."
    ]
    assert len(log.of(MessageExchanged)) == 1


@pytest.mark.parametrize("written", [1_706_000_000_500, "soon", [], True])
def test_a_time_that_can_not_be_read_is_named_and_its_message_comes(log, tmp_path, written):
    odd = billed(runs("ls", "Look."), at=written)
    report = log.take(json_file(tmp_path, whole([SYSTEM, TASK, odd])))
    assert [problem.place for problem in report.problems] == ["line 1, message 3"]
    assert len(log.of(ActionStarted)) == 1


# Shapes and identity


def test_every_shape_of_one_run_gives_the_same_events(log, tmp_path):
    first = log.take(json_file(tmp_path, MESSAGES))
    for written in ([MESSAGES], {"messages": MESSAGES}):
        assert log.take(json_file(tmp_path, written), format="mini-swe-agent").added == 0
    assert log.take(lines_file(tmp_path, *MESSAGES)).already_there == first.added


def test_runs_that_part_ways_share_their_start_and_lose_nothing(log, tmp_path):
    other = [*MESSAGES[:4], runs("rm doors.py", "Away.")]
    log.take(json_file(tmp_path, MESSAGES))
    log.take(json_file(tmp_path, other))
    assert [e.what for e in told(log, DecisionMade)] == ["Look first.", "Done.", "Away."]


# What is wrong


def test_a_message_that_can_not_be_read_is_named_and_its_neighbours_come(log, tmp_path):
    report = log.take(json_file(tmp_path, [SYSTEM, TASK, {"role": "robot"}, 7, runs("ls")]))
    assert [problem.place for problem in report.problems] == ["item 3", "item 4"]
    assert len(log.of(ActionStarted)) == 1


@pytest.mark.parametrize(
    "odd", [{"messages": []}, {"messages": 3}, {"info": {}}, 7, {**whole(), "instance_id": "../x"}]
)
def test_a_run_that_can_not_be_told_is_named_and_its_neighbours_come(log, tmp_path, odd):
    report = log.take(lines_file(tmp_path, whole(), odd, whole()), format="mini-swe-agent")
    assert [problem.place for problem in report.problems] == ["line 2"]
    assert len(log.of(SessionStarted)) == 1


def test_instructions_alone_are_named(log, tmp_path):
    report = log.take(json_file(tmp_path, [SYSTEM]))
    assert [problem.place for problem in report.problems] == ["end"]


# Recognition


@pytest.mark.parametrize("written", [MESSAGES, [MESSAGES], whole(), [whole()]])
def test_runs_are_recognised_before_they_are_taken_for_a_chat(log, tmp_path, written):
    log.take(json_file(tmp_path, written))
    assert {f.envelope.source for f in log.events()} == {"/mnemolog/import/mini-swe-agent"}


def test_other_chats_are_left_to_others():
    chats = ([user("hi"), says("```bash\nls\n```")], {"messages": [user("hi")], "info": {}})
    assert not any(MiniSWEAgent().recognises("x", json.dumps(chat).encode()) for chat in chats)
