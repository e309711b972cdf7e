"""The sample evaluation logs come in whole: counts are worked out from their JSON alone."""

import json
from collections import Counter

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    CheckpointSaved,
    FeedbackGiven,
    MessageExchanged,
    ObservationRecorded,
)
from support.evaluations import archived, written
from support.import_log import ImportLog
from support.sources import ROOT

DATA = ROOT.parent / "shared" / "data" / "inspect"
FILES = sorted(DATA.glob("*.json"))
LOGS = [
    path for path in FILES if b'"samples"' in path.read_bytes() and b'"eval"' in path.read_bytes()
]

pytestmark = pytest.mark.skipif(
    not FILES, reason=f"no log in {DATA}: the samples are not beside this checkout"
)


@pytest.fixture(scope="module", params=LOGS, ids=lambda path: path.name)
def told(request) -> tuple[dict, ImportLog]:
    log = ImportLog()
    report = log.take(request.param)
    assert (report.problems, report.files) == ([], 1)
    return json.loads(request.param.read_bytes()), log


def rows(source: dict) -> list[list[dict]]:
    """Return the events of each sample, wherever its log has them."""
    samples = source["samples"]
    return [s.get("events", s.get("transcript", {}).get("events", [])) for s in samples]


def kinds(source: dict) -> Counter:
    return Counter(event["event"] for row in rows(source) for event in row)


def test_each_message_of_each_sample_is_there_once(told):
    source, log = told
    said = [m for sample in source["samples"] for m in sample["messages"]]
    words = [
        (m["role"], "\n".join(p["text"] for p in m["content"] if "text" in p))
        if isinstance(m["content"], list)
        else (m["role"], m["content"])
        for m in said
        if m["role"] != "tool" and m["content"]
    ]
    events = [found.recorded.event for found in log.of(MessageExchanged)]
    assert [(event.role, event.text) for event in events] == words
    calls = [call for m in said for call in m.get("tool_calls") or []]
    assert [made.recorded.event.tool for made in log.of(ActionStarted)] == [
        call["function"] for call in calls
    ]
    answers = sum(m["role"] == "tool" for m in said)
    assert len(log.of(ActionFinished)) == answers


def test_each_tool_has_its_time_span_and_its_result(told):
    source, log = told
    tools = [event for row in rows(source) for event in row if event["event"] == "tool"]
    started, finished = log.of(ActionStarted), log.of(ActionFinished)
    for event, begun, ended in zip(tools, started, finished if tools else [], strict=True):
        assert ended.recorded.event.result == event["result"]
        assert ended.envelope.cause == begun.envelope.id
        assert abs(ended.recorded.event.duration_ms - event["working_time"] * 1000) < 2


def test_the_tokens_are_those_that_the_log_adds_up(told):
    source, log = told
    uses = [e.recorded.event.model_use for e in log.events() if e.recorded.event.model_use]
    total = source["stats"]["model_usage"].values() if kinds(source)["model"] else []
    assert sum(use.tokens_in for use in uses) == sum(u["input_tokens"] for u in total)
    assert sum(use.tokens_out for use in uses) == sum(u["output_tokens"] for u in total)


def test_the_scores_are_told_once_each_and_by_whom(told):
    source, log = told
    values = {"C": 1.0, "I": -1.0}
    expected = [
        (name, values[score["value"]])
        for sample in source["samples"]
        for name, score in sample.get("scores", {}).items()
    ]
    judged = [found.recorded.event for found in log.of(FeedbackGiven)]
    assert [(made.given_by, made.score) for made in judged] == expected


def test_the_last_states_are_those_with_which_the_samples_ended(told):
    source, log = told
    last: dict[tuple[str, str], dict] = {}
    for found in log.of(CheckpointSaved):
        state = found.recorded.event.checkpoint.task_state.state
        last[found.envelope.session, state.state_schema] = state.values
    states = [value for (_, schema), value in last.items() if schema == "inspect.state"]
    with_changes = [
        sample
        for sample, row in zip(source["samples"], rows(source), strict=True)
        if any(event["event"] == "state" for event in row)
    ]
    assert [state["messages"] for state in states] == [s["messages"] for s in with_changes]
    assert [state["store"] for state in states] == [s["store"] for s in with_changes]
    stores = [value for (_, schema), value in last.items() if schema == "inspect.store"]
    assert stores == [s["store"] for s in with_changes if s["store"]]


def test_checkpoints_form_one_line_in_each_sample(told):
    _, log = told
    before: dict[str, str | None] = {}
    for found in log.of(CheckpointSaved):
        checkpoint = found.recorded.event.checkpoint
        assert checkpoint.parent == before.get(found.envelope.session)
        before[found.envelope.session] = checkpoint.id


def test_sandboxes_are_noted_within_their_tools(told):
    source, log = told
    noted = [e for e in log.of(ObservationRecorded) if "cmd" in e.recorded.event.data]
    assert len(noted) == kinds(source)["sandbox"]
    actions = {found.envelope.id for found in log.of(ActionStarted)}
    assert {found.envelope.cause for found in noted} <= actions


def test_sessions_tasks_and_ends_are_as_many_as_samples(told):
    source, log = told
    count = len(source["samples"])
    types = Counter(log.types())
    assert types["session.started"] == types["session.ended"] == count + 1
    assert types["task.started"] == count
    assert types["task.completed"] == sum(bool(s.get("scores")) for s in source["samples"])


def test_the_same_log_as_an_archive_adds_nothing(told, tmp_path):
    source, log = told
    there = log.size()
    report = log.take(written(tmp_path, archived({"plan": {}, **source})))
    assert (report.problems, report.added, report.already_there) == ([], 0, there)


def test_bare_events_give_their_scores_and_notes():
    # Their models said nothing, so that scores and notes are all that there is to tell.
    bare = [path for path in FILES if path not in LOGS]
    log = ImportLog()
    report = log.take(DATA)
    assert report.problems == []
    lists = [json.loads(path.read_bytes())["events"] for path in bare]
    every = Counter(event["event"] for events in lists for event in events)
    sessions = {e.envelope.session for e in log.events() if e.envelope.session[:7] == "sample-"}
    assert len(sessions) == sum(map(bool, lists))  # an empty list tells nothing
    told = Counter(e.event_type for e in log.events() if e.envelope.session in sessions)
    assert told["feedback.given"] == every["score"]
    assert told["observation.recorded"] == every["info"]


def test_a_second_import_of_the_folder_adds_nothing():
    log = ImportLog()
    first = log.take(DATA)
    report = log.take(DATA)
    assert (report.added, report.already_there) == (0, first.added)
    assert [name.rpartition("/")[2] for name in report.skipped] == ["LICENSE", "empty.json"]
