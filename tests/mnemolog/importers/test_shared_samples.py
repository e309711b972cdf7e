"""The sample histories come in whole: counts are worked out from their JSON alone."""

import json
from collections import Counter
from itertools import pairwise

import pytest

from mnemolog.importers.locomo import turn_id
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    FeedbackGiven,
    MessageExchanged,
    SessionStarted,
    TaskCompleted,
)
from support.import_log import ImportLog
from support.sources import ROOT

DATA = ROOT.parent / "shared" / "data"


def loaded(folder: str, pattern: str) -> list:
    """Return the items of all files of *folder* that match, or skip where they are absent."""
    paths = sorted((DATA / folder).glob(pattern))
    if not paths:
        pytest.skip(f"no {folder}/{pattern} in {DATA}: the samples are not beside this checkout")
    return [item for path in paths for item in json.loads(path.read_bytes())]


@pytest.fixture(scope="module")
def airline() -> tuple[list, ImportLog]:
    runs = loaded("tau-bench", "*.json")
    log = ImportLog()
    assert log.take(DATA / "tau-bench").problems == []
    return runs, log


@pytest.fixture(scope="module")
def dialogues() -> tuple[list, ImportLog]:
    samples = loaded("locomo", "locomo*.json")
    log = ImportLog()
    assert log.take(DATA / "locomo").problems == []
    return samples, log


# Runs of an agent


def test_every_message_call_answer_and_reward_of_the_runs_is_there(airline):
    runs, log = airline
    messages = [message for run in runs for message in run["traj"]]
    roles = Counter(message["role"] for message in messages)
    calls = sum(len(message.get("tool_calls") or []) for message in messages)
    silent = sum(bool(m.get("tool_calls")) and not m["content"] for m in messages)
    assert Counter(log.types()) == {
        "session.started": len(runs),
        "task.started": len(runs),
        "message.exchanged": roles["user"] + roles["assistant"] - silent,
        "action.started": calls,
        "action.finished": roles["tool"],
        "task.completed": len(runs),
        "session.ended": len(runs),
        "feedback.given": len(runs),
    }


def test_the_words_of_each_run_are_there_in_order(airline):
    runs, log = airline
    told: dict[str, list[str]] = {}
    for said in log.of(MessageExchanged):
        told.setdefault(said.envelope.session, []).append(said.recorded.event.text)
    assert len(told) == len(runs)
    for run in runs:
        words = [m["content"] for m in run["traj"] if m["role"] in {"user", "assistant"}]
        session = f"task-{run['task_id']}-trial-{run['trial']}"
        assert told[session] == [text for text in words if text]


def test_the_rewards_are_the_runs(airline):
    runs, log = airline
    scores = Counter(f.recorded.event.score for f in log.of(FeedbackGiven))
    assert scores == Counter(1.0 if run["reward"] == 1 else -1.0 for run in runs)


def test_each_trial_of_a_task_is_a_task_with_an_end_of_its_own(airline):
    runs, log = airline
    ends: dict[str, list[bool]] = {}
    for ended in log.of(TaskCompleted):
        ends.setdefault(ended.envelope.task, []).append(ended.recorded.event.success)
    assert ends == {f"{r['task_id']}-trial-{r['trial']}": [r["reward"] == 1] for r in runs}
    # By hand: 50 tasks in two trials each; what failed once may succeed the second time.
    assert len(ends) == len(runs) > len({run["task_id"] for run in runs})


def test_every_answer_is_linked_with_the_call_before_it(airline):
    runs, log = airline
    expected = [
        (asked["tool_calls"][0]["function"]["name"], answered["content"])
        for run in runs
        for asked, answered in pairwise(run["traj"])
        if answered["role"] == "tool"
    ]
    tools = {made.envelope.id: made.recorded.event.tool for made in log.of(ActionStarted)}
    finished = [(made.envelope.cause, made.recorded.event) for made in log.of(ActionFinished)]
    assert all(cause == event.action for cause, event in finished)
    assert [
        (tools[cause], event.result or event.error or "") for cause, event in finished
    ] == expected


def test_the_users_are_the_tasks(airline):
    runs, log = airline
    users = Counter(started.envelope.user for started in log.of(SessionStarted))
    assert users == Counter(run["info"]["task"]["user_id"] for run in runs)
    assert {found.key for found in log.events()} == {"airline-agent"}


# Dialogues


def test_every_session_and_turn_of_the_dialogues_is_there(dialogues):
    samples, log = dialogues
    sessions = [s for c in samples for s in c["conversation"].values() if isinstance(s, list)]
    assert Counter(log.types()) == {
        "session.started": len(sessions),
        "message.exchanged": sum(map(len, sessions)),
    }


def test_the_words_of_each_dialogue_are_there_by_their_ids(dialogues):
    samples, log = dialogues
    told = {said.envelope.id: said.recorded.event.text for said in log.of(MessageExchanged)}
    for sample in samples:
        for session in sample["conversation"].values():
            for turn in session if isinstance(session, list) else []:
                text = told[turn_id(sample["sample_id"], turn["dia_id"])]
                assert turn["text"] in text
                assert turn.get("blip_caption", "") in text


def test_the_evidence_of_the_questions_can_be_found(dialogues):
    samples, log = dialogues
    told = {said.envelope.id for said in log.of(MessageExchanged)}
    evidence = {
        (sample["sample_id"], dia_id)
        for sample in samples
        for question in sample["qa"]
        for dia_id in question["evidence"]
    }
    found = [pair for pair in evidence if turn_id(*pair) in told]
    # A few evidence ids of the source are mistyped ("D8:6; D9:17", "D"): they name no turn.
    assert len(found) / len(evidence) > 0.98


def test_no_question_or_summary_came_in(dialogues):
    samples, log = dialogues
    summaries = {text for sample in samples for text in sample["session_summary"].values()}
    told = {said.recorded.event.text for said in log.of(MessageExchanged)}
    assert not told & summaries
    assert not told & {question["question"] for sample in samples for question in sample["qa"]}


# Both


@pytest.mark.parametrize("folder", ["tau-bench", "locomo"])
def test_a_second_import_adds_nothing(request, folder):
    _, log = request.getfixturevalue({"tau-bench": "airline", "locomo": "dialogues"}[folder])
    there = log.size()
    report = log.take(DATA / folder)
    assert (report.added, report.already_there, log.size()) == (0, there, there)
