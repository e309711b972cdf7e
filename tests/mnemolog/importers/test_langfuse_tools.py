"""A call of a tool is one action, whoever tells of it: the model, the tool, the next input."""

import json

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    MessageExchanged,
    SessionEnded,
)
from support.import_log import ImportLog, json_file
from support.traces import (
    answers,
    asks,
    assistant,
    generation,
    observation,
    root,
    tool,
    trace,
    user,
)


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def only(log: ImportLog, model) -> list:
    return [found.recorded.event for found in log.of(model)]


def test_a_tool_is_told_by_its_own_record_and_its_call_by_the_model(log, tmp_path):
    made = [
        generation("g1", heard=[user("Go")], said=assistant("I look.", asks("look", at="sky"))),
        tool("look", {"at": "sky"}, "blue", begun=2.5, ended=3.75),
        generation(
            "g2",
            heard=[user("Go"), assistant("I look.", asks("look", at="sky")), answers("'blue'")],
            said=assistant("Blue."),
            begun=4,
            ended=5,
        ),
    ]
    log.take(json_file(tmp_path, trace(*made)))
    ((started, finished),) = zip(log.of(ActionStarted), log.of(ActionFinished), strict=True)
    event = started.recorded.event
    assert (event.tool, event.arguments) == ("look", {"at": "sky"})
    assert started.envelope.cause == log.of(MessageExchanged)[1].envelope.id
    assert started.envelope.extensions["sourcecall"] == "call-1"
    assert started.envelope.extensions["sourceitem"] == "look"
    assert started.envelope.occurred_at.isoformat() == "2025-03-01T10:00:02.500000+00:00"
    end = finished.recorded.event
    assert (end.action, end.result, end.success) == (event.action, "blue", True)
    assert (end.duration_ms, finished.envelope.cause) == (1250, started.envelope.id)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        (asks("look", None, at="sky"), {"call_id": None}),
        (asks("look", "call-9", at="sky"), {"call_id": None}),
        (asks("look", None, at="sky"), {"call_id": "call-9"}),
        (asks("look", None, at="sky"), {"call_id": None, "input": None}),
    ],
)
def test_a_record_without_an_id_is_that_of_the_call_with_its_arguments(log, tmp_path, asked, named):
    made = [
        generation("g1", heard=[user("Go")], said=assistant(None, asked)),
        tool("look", {"at": "sky"}, "blue", **named),
    ]
    log.take(json_file(tmp_path, trace(*made)))
    assert len(only(log, ActionStarted)) == 1
    assert only(log, ActionStarted)[0].arguments == {"at": "sky"}
    assert len(only(log, ActionFinished)) == 1


def test_a_tool_within_its_model_s_span_comes_after_what_the_model_said(log, tmp_path):
    made = [
        generation("g1", heard=[user("Go")], said=assistant("Wait.", asks("look")), ended=6),
        tool("look", {}, "blue", parent="g1"),
    ]
    log.take(json_file(tmp_path, trace(*made)))
    assert log.types()[1:5] == [
        *("message.exchanged", "message.exchanged", "action.started", "action.finished")
    ]


def test_a_tool_that_no_model_called_is_caused_by_what_holds_it(log, tmp_path):
    made = [
        generation("g1", heard=[user("Go")], said=assistant("Wait."), ended=6),
        observation("within", "SPAN", 1, 9, parent="g1"),
        tool("look", {}, "blue", parent="within", begun=7, ended=8),
    ]
    log.take(json_file(tmp_path, trace(*made)))
    said = log.of(MessageExchanged)[-1].envelope.id
    assert log.of(ActionStarted)[0].envelope.cause == said


def test_an_answer_that_stands_only_in_the_next_input_ends_its_call(log, tmp_path):
    history = [user("Go"), assistant(None, asks("look")), answers("blue")]
    made = [
        generation("g1", heard=history[:1], said=history[1]),
        generation("g2", heard=history, said=assistant("Blue."), begun=3, ended=4),
    ]
    log.take(json_file(tmp_path, trace(*made)))
    (started,), (finished,) = log.of(ActionStarted), log.of(ActionFinished)
    assert finished.envelope.cause == started.envelope.id
    assert (finished.recorded.event.result, finished.recorded.event.tool) == ("blue", "look")


def test_a_failed_tool_tells_its_error(log, tmp_path):
    made = tool("look", {}, None, level="ERROR", statusMessage="no window")
    log.take(json_file(tmp_path, trace(made)))
    (finished,) = only(log, ActionFinished)
    assert (finished.success, finished.error) == (False, "no window")


def test_a_call_that_the_conversation_went_past_is_orphaned(log, tmp_path):
    history = [user("Go"), assistant(None, asks("look")), user("Never mind")]
    made = [
        generation("g1", heard=history[:1], said=history[1]),
        generation("g2", heard=history, said=assistant("All right."), begun=3, ended=4),
    ]
    log.take(json_file(tmp_path, trace(*made)))
    (finished,) = only(log, ActionFinished)
    assert (finished.success, finished.orphaned) == (False, True)


def test_a_call_at_the_end_of_what_is_told_stays_open(log, tmp_path):
    running = root(endTime=None)
    made = generation("g1", heard=[user("Go")], said=assistant(None, asks("look")))
    log.take(json_file(tmp_path, trace(running, made)))
    assert only(log, ActionFinished) == []
    assert only(log, SessionEnded) == []


def test_an_untyped_step_is_a_tool_if_its_span_says_so(log, tmp_path):
    metadata = json.dumps({"attributes": {"openinference.span.kind": "TOOL", "tool.name": "look"}})
    shared = {"metadata": metadata, "input": '{"at": "sky"}'}
    made = [
        observation("begin", "SPAN", 1, 2, **shared),
        observation("end", "SPAN", 2, 3, **shared, output='"blue"'),
    ]
    log.take(json_file(tmp_path, trace(*made)))
    assert [made.tool for made in only(log, ActionStarted)] == ["look"]
    assert [made.result for made in only(log, ActionFinished)] == ["blue"]


def test_a_tool_that_ended_before_it_began_is_told_with_its_own_times(log, tmp_path):
    log.take(json_file(tmp_path, trace(tool("look", {}, "blue", begun=3, ended=2))))
    (started,), (finished,) = log.of(ActionStarted), log.of(ActionFinished)
    assert started.envelope.occurred_at > finished.envelope.occurred_at
    assert started.record.position < finished.record.position
    assert finished.recorded.event.duration_ms == 0
