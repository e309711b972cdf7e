"""An evaluation's samples become sessions: what models and tools did, and how it was scored."""

import pytest

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
from support.evaluations import (
    answers,
    asks,
    at,
    evaluation,
    event,
    model,
    sample,
    says,
    score,
    span,
    tool,
    user,
)
from support.import_log import ImportLog, json_file

USE = {"model": "small-1", "tokens_in": 12, "tokens_out": 3, "cost_usd": None}


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def only(log: ImportLog, kind) -> list:
    return [found.recorded.event for found in log.of(kind)]


def texts(log: ImportLog) -> list[tuple[str, str]]:
    return [(said.role, said.text) for said in only(log, MessageExchanged)]


def taken(log: ImportLog, tmp_path, *events, **rest) -> None:
    report = log.take(json_file(tmp_path, evaluation(sample(*events, **rest))))
    assert report.problems == []


def test_a_sample_is_a_session_with_a_task_within_the_evaluation(log, tmp_path):
    taken(log, tmp_path, model([user("Which trains leave today?")], says("Two.")), score("C"))
    assert log.types() == [
        *("session.started", "session.started", "task.started"),
        *("message.exchanged", "message.exchanged", "feedback.given"),
        *("task.completed", "session.ended", "observation.recorded", "session.ended"),
    ]
    run, one = log.of(SessionStarted)
    assert (run.envelope.session, one.envelope.session) == ("run-1", "sample-1")
    assert one.envelope.cause == run.envelope.id
    assert run.recorded.event.title == "trains on maker/small"
    assert only(log, TaskStarted)[0].goal == "Which trains leave today?"
    assert {found.key for found in log.events()} == {"trains"}
    assert {found.envelope.task for found in log.events()} == {None, "trains-1"}


def test_a_model_s_call_is_what_it_heard_and_said_with_its_cost(log, tmp_path):
    taken(log, tmp_path, model([user("Go")], says("Gone."), begun=1.5, ended=2.25))
    heard, said = log.of(MessageExchanged)
    assert said.recorded.event.model_use.model_dump() == USE
    assert heard.envelope.occurred_at.isoformat() == "2025-03-01T10:00:01.500000+00:00"
    assert said.envelope.occurred_at.isoformat() == "2025-03-01T10:00:02.250000+00:00"
    assert said.envelope.cause == heard.envelope.id


def test_cached_tokens_and_costs_are_counted(log, tmp_path):
    usage = {"input_tokens": 2, "input_tokens_cache_read": 5, "output_tokens": 1, "total_tokens": 8}
    output = {"model": "m", "choices": [{"message": says("x")}], "usage": usage}
    output["usage"]["total_cost"] = 0.5
    taken(log, tmp_path, model([user("Go")], None, output=output))
    use = only(log, MessageExchanged)[-1].model_use
    assert (use.tokens_in, use.tokens_out, use.cost_usd) == (7, 1, 0.5)


def test_the_history_in_each_input_is_told_once(log, tmp_path):
    first = [user("yes"), says("Really?")]
    taken(
        log,
        tmp_path,
        model(first[:1], first[1]),
        model([*first, user("yes")], says("Really?"), begun=3, ended=4),
        messages=[*first, user("yes"), says("Really?")],
    )
    assert texts(log) == [("user", "yes"), ("assistant", "Really?")] * 2


def test_inputs_that_refer_to_a_pool_are_read(log, tmp_path):
    pool = {"messages": [user("One"), user("never"), user("Two")]}
    made = model([], says("Both."), input_refs=[[0, 1], [2, 3], [7, 9], "x"])
    taken(log, tmp_path, made, events_data=pool)
    assert texts(log) == [("user", "One"), ("user", "Two"), ("assistant", "Both.")]


def test_a_thought_is_a_decision(log, tmp_path):
    content = [
        {"type": "reasoning", "reasoning": "Ask.\nIt is open."},
        {"type": "text", "text": "Hm"},
    ]
    taken(log, tmp_path, model([user("Go")], says(content)))
    (decided,) = only(log, DecisionMade)
    assert (decided.what, decided.why) == ("Ask.", "It is open.")
    assert decided.model_use.model_dump() == USE


def test_a_call_that_failed_is_an_observation_with_its_cost(log, tmp_path):
    taken(log, tmp_path, model([user("Go")], None, error="too many requests"))
    seen = only(log, ObservationRecorded)[0]
    assert (seen.text, seen.success, seen.model_use.model_dump()) == (
        *("too many requests", False),
        USE,
    )


# Tools


def test_a_tool_is_an_action_in_its_own_time(log, tmp_path):
    called = says("I look.", asks("look", at="sky"))
    taken(
        log,
        tmp_path,
        model([user("Go")], called),
        tool("look", "blue", arguments={"at": "sky"}, begun=2.5, ended=3.75),
        model([user("Go"), called, answers("blue")], says("Blue."), begun=4, ended=5),
    )
    (started,), (finished,) = log.of(ActionStarted), log.of(ActionFinished)
    assert started.recorded.event.arguments == {"at": "sky"}
    assert started.envelope.cause == log.of(MessageExchanged)[1].envelope.id
    end = finished.recorded.event
    assert (end.tool, end.result, end.success, end.duration_ms) == ("look", "blue", True, 1250)
    assert finished.envelope.cause == started.envelope.id == end.action
    assert texts(log) == [("user", "Go"), ("assistant", "I look."), ("assistant", "Blue.")]


def test_a_tool_s_error_is_told(log, tmp_path):
    taken(log, tmp_path, tool("look", "", error={"type": "timeout", "message": "too slow"}))
    (finished,) = only(log, ActionFinished)
    assert (finished.success, finished.error) == (False, "too slow")


def test_what_happens_within_a_tool_stands_before_its_end(log, tmp_path):
    within = [
        *span("look", "tool", event("info", 2.2, data="halfway")),
        event("info", 4, data="on"),
    ]
    taken(log, tmp_path, tool("look", "blue", begun=2, ended=3), *within)
    assert log.types()[3:7] == [
        *("action.started", "observation.recorded"),
        *("action.finished", "observation.recorded"),
    ]


def test_events_that_older_logs_hold_within_a_tool_are_told(log, tmp_path):
    inner = model([user("Sub?")], says("Yes."), begun=2.2, ended=2.4)
    held = event("subtask", 2.1, name="think", events=[inner])
    taken(log, tmp_path, tool("look", "blue", events=[held]))
    assert texts(log) == [("user", "Sub?"), ("assistant", "Yes.")]


def test_a_call_without_a_record_is_answered_by_the_next_input(log, tmp_path):
    called = says("", asks("look"))
    answer = answers("", error={"type": "permission", "message": "not allowed"})
    taken(
        log,
        tmp_path,
        model([user("Go")], called),
        model([user("Go"), called, answer], says("Well."), begun=3, ended=4),
    )
    (finished,) = only(log, ActionFinished)
    assert (finished.tool, finished.success, finished.error) == ("look", False, "not allowed")


def test_what_a_sandbox_does_for_a_tool_is_noted_and_alone_it_is_an_action(log, tmp_path):
    done = {"action": "exec", "cmd": "ls", "result": 0, "output": "a.txt", "completed": at(2.5)}
    failed = {"action": "exec", "cmd": "rm", "result": 1, "output": "", "completed": at(6)}
    taken(
        log,
        tmp_path,
        tool("bash", "a.txt", begun=2, ended=3),
        span("bash", "tool", event("sandbox", 2.1, **done)),
        event("sandbox", 5, **failed),
    )
    noted = log.of(ObservationRecorded)[0]
    assert (noted.recorded.event.text, noted.recorded.event.data["cmd"]) == ("", "ls")
    assert noted.envelope.cause == log.of(ActionStarted)[0].envelope.id
    assert [made.tool for made in only(log, ActionStarted)] == ["bash", "sandbox exec"]
    last = only(log, ActionFinished)[-1]
    assert (last.success, last.error) == (False, "")


# How it ends


def test_bare_messages_are_told_where_there_are_no_events(log, tmp_path):
    messages = [user("Go"), says("I look.", asks("look")), answers("blue"), says("Blue.")]
    usage = {"maker/small": {"input_tokens": 7, "output_tokens": 2}}
    taken(log, tmp_path, messages=messages, model_usage=usage, scores={"match": {"value": "C"}})
    assert texts(log) == [("user", "Go"), ("assistant", "I look."), ("assistant", "Blue.")]
    (finished,) = log.of(ActionFinished)
    assert finished.envelope.cause == log.of(ActionStarted)[0].envelope.id
    spent = [e.recorded.event.model_use for e in log.events() if e.recorded.event.model_use]
    assert [(use.model, use.tokens_in, use.tokens_out) for use in spent] == [("maker/small", 7, 2)]


@pytest.mark.parametrize(
    ("scores", "success"),
    [
        ({"match": {"value": "C"}}, True),
        ({"match": {"value": "I"}}, False),
        ({"match": {"value": "P"}}, False),
        ({"a": {"value": 1}, "b": {"value": 0.25}}, False),
        ({"a": {"value": "C"}, "b": {"value": 7}}, True),
    ],
)
def test_a_task_is_completed_as_its_scores_say(log, tmp_path, scores, success):
    taken(log, tmp_path, scores=scores)
    assert only(log, TaskCompleted)[0].success is success
    assert only(log, SessionEnded)[0].success is success


def test_a_limit_that_was_reached_is_named_with_the_outcome(log, tmp_path):
    limit = {"type": "token", "limit": 9}
    note = event("sample_limit", 7, type="token", message="Token limit exceeded.")
    taken(log, tmp_path, note, scores={"match": {"value": "I"}}, limit=limit)
    assert "stopped at its limit (token)" in only(log, TaskCompleted)[0].outcome
    assert only(log, ObservationRecorded)[0].text == "Token limit exceeded."


def test_an_error_abandons_the_task(log, tmp_path):
    error = {"message": "the yard is shut", "traceback": "..."}
    taken(log, tmp_path, event("error", 6, error=error), error=error)
    assert only(log, TaskAbandoned)[0].outcome == "the yard is shut"
    assert only(log, SessionEnded)[0].success is False


def test_without_scores_nothing_is_said_of_the_task(log, tmp_path):
    taken(log, tmp_path, model([user("Go")], says("Gone.")))
    assert only(log, TaskCompleted) == []
    assert only(log, SessionEnded)[0].success is None


@pytest.mark.parametrize(("status", "success"), [("success", True), ("cancelled", False)])
def test_an_evaluation_ends_with_its_results(log, tmp_path, status, success):
    log.take(json_file(tmp_path, evaluation(status=status)))
    (seen,) = log.of(ObservationRecorded)
    assert seen.recorded.event.text == f"trains: {status}, match accuracy 1"
    assert seen.recorded.event.data["stats"]["started_at"] == at(0)
    assert seen.envelope.occurred_at.isoformat() == at(50).replace(".000", "")
    assert only(log, SessionEnded)[0].success is success


def test_an_evaluation_that_runs_has_no_end(log, tmp_path):
    log.take(json_file(tmp_path, evaluation(status="started")))
    assert log.types() == ["session.started"]


def test_an_evaluation_that_broke_says_why(log, tmp_path):
    log.take(json_file(tmp_path, evaluation(status="error", error={"message": "no room"})))
    (seen,) = only(log, ObservationRecorded)
    assert (seen.text, seen.success) == ("no room", False)
