"""Real OpenHands runs and streams come in whole: counts are worked out from their JSON alone."""

import json
from collections import Counter

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    DecisionMade,
    MessageExchanged,
    ObservationRecorded,
    SessionStarted,
    TaskCompleted,
)
from support.import_log import ImportLog
from support.sources import ROOT

FOLDER = ROOT.parent / "shared" / "data" / "openhands"
# Actions that are told as something else than a call.
NO_CALLS = {"system", "message", "think", "finish"}


@pytest.fixture(scope="module")
def runs() -> list[dict]:
    paths = sorted(FOLDER.glob("*.jsonl"))
    if not paths:
        pytest.skip(f"no runs in {FOLDER}: the samples are not beside this checkout")
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def streams() -> list[list[dict]]:
    return [json.loads(path.read_bytes()) for path in sorted(FOLDER.glob("*.json"))]


@pytest.fixture(scope="module")
def histories(runs, streams) -> list[list[dict]]:
    """Return all histories in the order in which the folder's files come."""
    return [*streams, *(run["history"] for run in runs)]


@pytest.fixture(scope="module")
def taken(runs) -> ImportLog:
    log = ImportLog()
    report = log.take(FOLDER)
    assert (report.problems, report.files) == ([], 3)
    return log


def thoughts_of(history: list[dict]) -> list[str]:
    """Return what the agent thought: not where it is the last word, which is the outcome."""
    return [
        event["args"]["thought"]
        for event in history
        if event.get("args", {}).get("thought")
        and (event["action"] != "finish" or event["args"].get("final_thought"))
    ]


def test_every_event_is_told_and_each_run_with_its_end(runs, histories, taken):
    events = [event for history in histories for event in history]
    actions = Counter(event["action"] for event in events if "action" in event)
    shown = Counter(event["observation"] for event in events if "observation" in event)
    calls = actions.total() - sum(actions[name] for name in NO_CALLS)
    patches = sum(bool(run["test_result"]["git_patch"].strip()) for run in runs)
    broken_off = sum(run["error"] is not None for run in runs)
    assert Counter(taken.types()) == {
        "session.started": len(histories),
        "task.started": len(histories),
        "message.exchanged": actions["message"],
        "decision.made": sum(len(thoughts_of(history)) for history in histories),
        "action.started": calls,
        "action.finished": shown.total() - shown["think"] - shown["error"],
        "observation.recorded": shown["error"] + patches,
        "task.completed": actions["finish"],
        "task.abandoned": broken_off,
        "session.ended": len(runs),
    }
    # As seen with grep: 105 calls with as many answers, two errors without a cause, three runs.
    assert (len(runs), calls, shown["error"], broken_off) == (3, 105, 2, 1)


def test_every_answer_is_linked_with_its_action(histories, taken):
    expected = []
    for history in histories:
        tools = {event["id"]: event["action"] for event in history if "action" in event}
        expected += [
            (tools[event["cause"]], event["content"])
            for event in history
            if "cause" in event and event["observation"] != "think"
        ]
    tools = {made.envelope.id: made.recorded.event.tool for made in taken.of(ActionStarted)}
    answers = [(made.envelope.cause, made.recorded.event) for made in taken.of(ActionFinished)]
    assert all(cause == event.action and not event.orphaned for cause, event in answers)
    assert [
        (tools[cause], event.result if event.success else event.error) for cause, event in answers
    ] == expected


def test_what_failed_is_what_the_source_says_failed(histories, taken):
    failed = [
        event["content"]
        for history in histories
        for event in history
        if event.get("cause")
        and (event.get("success") is False or "ERROR:" in event["content"][:6])
    ]
    errors = [e.error for f in taken.of(ActionFinished) if not (e := f.recorded.event).success]
    assert errors == failed
    assert len(failed) == 19 + 24  # commands that failed, and edits and reads


def test_the_words_of_each_thought_are_there_once(histories, taken):
    expected = ["".join(t.split()) for history in histories for t in thoughts_of(history)]
    told = [
        "".join((made.recorded.event.what + (made.recorded.event.why or "")).split())
        for made in taken.of(DecisionMade)
    ]
    assert told == expected


def test_the_tokens_of_all_events_are_those_of_the_run(runs, taken):
    spent: Counter[str] = Counter()
    for found in taken.events():
        if use := found.recorded.event.model_use:
            spent[found.envelope.task] += use.tokens_in
    for run in runs:
        usage = run["metrics"]["accumulated_token_usage"]
        assert spent[run["instance_id"]] == usage["prompt_tokens"]


def test_what_the_user_said_and_the_patches_are_there(runs, streams, taken):
    said = [found.recorded.event.text for found in taken.of(MessageExchanged)]
    assert all(run["instruction"] in said for run in runs)
    assert streams[1][0]["args"]["content"] in said
    seen = {found.recorded.event.text for found in taken.of(ObservationRecorded)}
    assert {run["test_result"]["git_patch"] for run in runs} <= seen


def test_whether_the_agent_succeeded_is_what_it_said(runs, taken):
    told = {f.envelope.task: f.recorded.event for f in taken.of(TaskCompleted)}
    for run in runs:
        last = run["history"][-1]
        if last.get("action") == "finish":
            completed = told[run["instance_id"]]
            assert completed.outcome == last["args"]["final_thought"]
            assert completed.success is (last["args"]["task_completed"] == "true")


def test_times_are_the_sources_and_flagged(histories, taken):
    first = {history[0]["timestamp"] for history in histories}
    began = {
        found.envelope.occurred_at.replace(tzinfo=None).isoformat()
        for found in taken.of(SessionStarted)
    }
    assert began == first
    assert all(found.envelope.assumed_utc for found in taken.events())


def test_a_second_import_adds_nothing(taken):
    there = taken.size()
    report = taken.take(FOLDER)
    assert (report.added, report.already_there, taken.size()) == (0, there, there)
