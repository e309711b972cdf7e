"""Real runs of SWE-agent and mini-swe-agent come in whole: counts come from their JSON alone."""

import json
import re
from collections import Counter
from pathlib import Path

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
    TaskCompleted,
)
from support.import_log import ImportLog
from support.sources import ROOT

DATA = ROOT.parent / "shared" / "data"
BLOCK = re.compile(r"```mswea_bash_command\n(.*?)\n```", re.DOTALL)


def loaded(folder: str, pattern: str) -> list:
    paths = sorted((DATA / folder).glob(pattern))
    if not paths:
        pytest.skip(f"no {folder}/{pattern} in {DATA}: the samples are not beside this checkout")
    return [json.loads(Path(path).read_bytes()) for path in paths]


@pytest.fixture(scope="module")
def runs() -> list[dict]:
    return loaded("swe-agent", "*.traj")


@pytest.fixture(scope="module")
def taken(runs) -> ImportLog:
    log = ImportLog()
    report = log.take(DATA / "swe-agent")
    assert (report.problems, report.files) == ([], len(runs))
    return log


def steps_of(run: dict) -> list[tuple[str, str, str]]:
    """Return each turn's thought, command and answer; of messages where there are no steps."""
    if "trajectory" in run:
        return [(s["thought"], s["action"], s["observation"]) for s in run["trajectory"]]
    turns = [message for message in run["history"] if message["role"] in {"assistant", "tool"}]
    return [
        (asked["thought"], asked["action"], shown["content"])
        for asked, shown in zip(turns[::2], turns[1::2], strict=True)
    ]


def states_of(run: dict) -> list[dict]:
    """Return the states of a run that differ from the one before them."""
    states = [s["state"] for s in run.get("trajectory", [])]
    parsed = [json.loads(state) if isinstance(state, str) else state for state in states]
    return [s for n, s in enumerate(parsed) if n == 0 or s != parsed[n - 1]]


def test_every_step_is_told_and_each_run_with_its_end(runs, taken):
    steps = [step for run in runs for step in steps_of(run)]
    ended = sum("exit_status" in run.get("info", {}) for run in runs)
    assert Counter(taken.types()) == {
        "session.started": len(runs),
        "task.started": len(runs),
        "message.exchanged": len(runs),
        "decision.made": sum(bool(thought.strip()) for thought, _, _ in steps),
        "action.started": len(steps),
        "action.finished": len(steps),
        "checkpoint.saved": sum(len(states_of(run)) for run in runs),
        "task.completed": ended,
        "session.ended": ended,
    }
    assert (len(runs), len(steps), ended) == (11, 113, 10)


def test_the_words_commands_and_answers_are_there_in_order_and_linked(runs, taken):
    steps = [step for run in runs for step in steps_of(run)]
    thoughts = ["".join(thought.split()) for thought, _, _ in steps if thought.strip()]
    assert [
        "".join((made.recorded.event.what + (made.recorded.event.why or "")).split())
        for made in taken.of(DecisionMade)
    ] == thoughts
    started = taken.of(ActionStarted)
    commands = {made.envelope.id: made.recorded.event for made in started}
    answers = [(f.envelope.cause, f.recorded.event) for f in taken.of(ActionFinished)]
    assert [event.result or event.error or "" for _, event in answers] == [s[2] for s in steps]
    assert [cause for cause, _ in answers] == list(commands)
    for (_, action, _), event in zip(steps, commands.values(), strict=True):
        # A call of a function has its arguments; any other command stands there as it was.
        assert event.arguments.get("command", action) in (action, action.removeprefix("bash "))
        assert event.tool in (action.split()[0], "bash")


def test_what_failed_are_syntax_errors_and_time_outs(runs, taken):
    # Counted with grep over the observations: seven edits, three commands.
    failed = Counter(
        "timed out" if "TIMED OUT" in event.error else "syntax"
        for found in taken.of(ActionFinished)
        if not (event := found.recorded.event).success
    )
    assert failed == {"syntax": 7, "timed out": 3}


def test_states_are_saved_where_they_changed(runs, taken):
    told: dict[str, list[dict]] = {}
    for found in taken.of(CheckpointSaved):
        state = found.recorded.event.checkpoint.task_state
        told.setdefault(found.envelope.session, []).append(dict(state.variables))
    assert list(told.values()) == [states_of(run) for run in runs if states_of(run)]


def test_what_was_submitted_is_there_once(runs, taken):
    everything = [f.recorded.event.result or "" for f in taken.of(ActionFinished)]
    everything += [f.recorded.event.outcome for f in taken.of(TaskCompleted)]
    assert taken.of(ObservationRecorded) == []
    for run in runs:
        if submission := run.get("info", {}).get("submission"):
            assert any(submission.strip() in text.strip() for text in everything)


def test_the_costs_are_those_of_the_runs(runs, taken):
    costs = sorted(
        stats["instance_cost"]
        for run in runs
        if (stats := run.get("info", {}).get("model_stats", {})).get("tokens_sent")
    )
    uses = [f.recorded.event.model_use for f in taken.of(SessionEnded)]
    assert sorted(use.cost_usd for use in uses if use) == costs == [0.019520000000000006, 1.26719]


def test_what_was_asked_is_there_and_no_demonstration(runs, taken):
    said = {f.recorded.event.text for f in taken.of(MessageExchanged)}
    for run in runs:
        asked = [m for m in run["history"] if m["role"] == "user" and not m.get("is_demo")]
        assert asked[0]["content"] in said
    assert all(f.envelope.assumed_utc for f in taken.of(SessionStarted))


def test_control_characters_and_damaged_characters_are_kept(runs, taken):
    answers = "".join(f.recorded.event.result or "" for f in taken.of(ActionFinished))
    observations = "".join(answer for run in runs for _, _, answer in steps_of(run))
    for character in "\x1b\r\ufffd":
        assert answers.count(character) > 0
        assert answers.count(character) <= observations.count(character)


def test_a_second_import_adds_nothing(taken):
    there = taken.size()
    report = taken.take(DATA / "swe-agent")
    assert (report.added, report.already_there, taken.size()) == (0, there, there)


# mini-swe-agent


def test_a_mini_run_is_told_by_its_messages():
    (messages,) = loaded("mini-swe-agent", "*.traj.json")
    log = ImportLog()
    assert log.take(DATA / "mini-swe-agent").problems == []
    asked = [message["content"] for message in messages if message["role"] == "assistant"]
    commands = [BLOCK.findall(text) for text in asked]
    assert Counter(log.types()) == {
        "session.started": 1,
        "task.started": 1,
        "message.exchanged": 1,
        "decision.made": len(asked),
        "action.started": sum(map(len, commands)),
        "action.finished": len(messages) - 2 - len(asked),
        "task.completed": 1,
        "session.ended": 1,
    }
    assert [[m.recorded.event.arguments["command"]] for m in log.of(ActionStarted)] == commands
    assert [f.recorded.event.result for f in log.of(ActionFinished)] == ["hello world", ""]
    assert {f.envelope.source for f in log.events()} == {"/mnemolog/import/mini-swe-agent"}
    there = log.size()
    assert (log.take(DATA / "mini-swe-agent").added, log.size()) == (0, there)
