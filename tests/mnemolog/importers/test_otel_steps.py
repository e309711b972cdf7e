"""Spans of tools, of what holds calls, of failures and evaluations."""

import json

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    FeedbackGiven,
    MessageExchanged,
    ObservationRecorded,
)
from support.import_log import ImportLog, json_file
from support.span_conventions import ARGUMENTS, CONVENTIONS, VERCEL
from support.spans import answers, as_otlp, asks, chat, noted, root, says, span

STORY = [("system", "Be brief."), ("user", "Look up."), ("assistant", "I look.")]
USE = {"model": "small-1", "tokens_in": 12, "tokens_out": 3, "cost_usd": None}


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def only(log: ImportLog, model) -> list:
    return [found.recorded.event for found in log.of(model)]


def texts(log: ImportLog) -> list[tuple[str, str]]:
    return [(said.role, said.text) for said in only(log, MessageExchanged)]


def taken(log: ImportLog, tmp_path, *spans: dict) -> None:
    report = log.take(json_file(tmp_path, as_otlp(root(), *spans)))
    assert report.problems == []


# Tools


TOOLS = {
    "present": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "call-1",
        "gen_ai.tool.call.arguments": ARGUMENTS,
        "gen_ai.tool.call.result": "blue",
    },
    "Vercel AI SDK": {
        "ai.operationId": "ai.toolCall",
        "ai.toolCall.name": "look",
        "ai.toolCall.id": "call-1",
        "ai.toolCall.args": ARGUMENTS,
        "ai.toolCall.result": json.dumps("blue"),
    },
    "OpenInference": {
        "openinference.span.kind": "TOOL",
        "tool.name": "look",
        "tool.parameters": ARGUMENTS,
        "output.value": "blue",
    },
}


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_s_span_is_the_action_that_a_model_called(log, tmp_path, name):
    made = chat([says("user", "Look up.")], [says("assistant", "I look.", asks("look", at="sky"))])
    taken(log, tmp_path, span("g1", made), span("t1", TOOLS[name], begun=2.5, ended=3.5))
    (started,), (finished,) = log.of(ActionStarted), log.of(ActionFinished)
    assert started.recorded.event.arguments == {"at": "sky"}
    assert started.envelope.extensions["sourceitem"] == "t1"
    assert started.envelope.cause == log.of(MessageExchanged)[-1].envelope.id
    end = finished.recorded.event
    assert (end.result, end.success, end.duration_ms) == ("blue", True, 1000)


def test_a_tool_that_failed_tells_its_error(log, tmp_path):
    taken(log, tmp_path, span("t1", TOOLS["present"], error="no window"))
    (finished,) = only(log, ActionFinished)
    assert (finished.success, finished.error) == (False, "no window")


def test_retrievals_and_what_is_done_with_a_memory_are_actions(log, tmp_path):
    retrieval = {
        "openinference.span.kind": "RETRIEVER",
        "input.value": "trains",
        "retrieval.documents.1.document.content": "Two trains.",
    }
    search = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.query.text": "keys"}
    taken(log, tmp_path, span("find", retrieval), span("search", search, begun=3, ended=4))
    first, second = only(log, ActionStarted)
    assert (first.tool, first.raw, second.tool, second.raw) == (
        *("find", "trains"),
        *("search_memory", "keys"),
    )
    assert "Two trains." in only(log, ActionFinished)[0].result


def test_an_answer_in_the_next_input_ends_a_call_without_a_span(log, tmp_path):
    asked = [says("user", "Go"), says("assistant", asks("look")), says("tool", answers("blue"))]
    first = span("g1", chat(asked[:1], asked[1:2]))
    second = span("g2", chat(asked, [says("assistant", "Blue.")]), begun=3, ended=4)
    taken(log, tmp_path, first, second)
    (finished,) = only(log, ActionFinished)
    assert (finished.tool, finished.result) == ("look", "blue")
    assert texts(log) == [("user", "Go"), ("assistant", "Blue.")]


# What holds calls, costs alone, failures, evaluations


def test_what_holds_a_call_repeats_it_and_tells_nothing(log, tmp_path):
    outer = {"ai.operationId": "ai.generateText", "ai.prompt": json.dumps({"prompt": "Look up."})}
    outer |= {"ai.response.text": "I look.", **VERCEL}
    inner = CONVENTIONS["Vercel AI SDK"]
    taken(log, tmp_path, span("w", outer, ended=3), span("g1", inner, parent="w"))
    assert texts(log) == STORY
    uses = [e.recorded.event.model_use for e in log.events() if e.recorded.event.model_use]
    assert [use.model_dump() for use in uses] == [USE]


def test_a_holder_whose_trace_was_lost_is_known_by_the_answer_s_id(log, tmp_path):
    metadata = json.dumps({"provider": {"responseId": "resp-1"}})
    outer = {"ai.operationId": "ai.generateText", "ai.prompt": json.dumps({"prompt": "Look up."})}
    outer |= {"ai.response.text": "I look.", "ai.response.providerMetadata": metadata}
    inner = {**CONVENTIONS["Vercel AI SDK"], "ai.response.id": "resp-1"}
    first = span("w", outer, trace="f" * 32, parent=None)
    taken(log, tmp_path, first, span("g1", inner))
    assert texts(log) == STORY


def test_an_embedding_tells_its_cost_alone(log, tmp_path):
    made = {"ai.operationId": "ai.embed.doEmbed", "ai.model.id": "e-1", "ai.usage.tokens": 10}
    taken(log, tmp_path, span("e1", made))
    (seen,) = only(log, ObservationRecorded)
    assert (seen.text, seen.model_use.tokens_in) == ("", 10)


def test_a_call_that_failed_is_an_observation(log, tmp_path):
    taken(log, tmp_path, span("g1", chat([says("user", "Hi")], []), error="too many requests"))
    (seen,) = only(log, ObservationRecorded)
    assert (seen.text, seen.success) == ("too many requests", False)


def test_an_evaluation_is_feedback_on_what_its_span_told(log, tmp_path):
    event = noted("gen_ai.evaluation.result", at=5)
    event["attributes"] = {
        "gen_ai.evaluation.name": "relevance",
        "gen_ai.evaluation.score.value": 0.75,
        "gen_ai.evaluation.score.label": "relevant",
        "gen_ai.evaluation.explanation": "To the point.",
    }
    taken(log, tmp_path, span("g1", chat("Hi", "Hello"), events=(event,)))
    (judged,) = only(log, FeedbackGiven)
    assert judged.target == log.of(MessageExchanged)[-1].envelope.id
    assert (judged.score, judged.label) == (0.5, "relevance: relevant")
    assert judged.comment == "To the point."


def test_spans_of_anything_else_tell_nothing(log, tmp_path):
    taken(log, tmp_path, span("GET /", {"http.request.method": "GET"}, parent=None))
    assert log.events() == []
