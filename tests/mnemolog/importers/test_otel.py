"""Spans of models, tools and agents, whatever conventions they keep, tell the same story."""

import json

import pytest

from mnemolog.schemas.events.experience import (
    ActionStarted,
    DecisionMade,
    MessageExchanged,
)
from support.import_log import ImportLog, json_file
from support.span_conventions import ARGUMENTS, CONVENTIONS
from support.spans import as_otlp, chat, noted, root, says, span

STORY = [("system", "Be brief."), ("user", "Look up."), ("assistant", "I look.")]
USE = {"model": "small-1", "tokens_in": 12, "tokens_out": 3, "cost_usd": None}
SPENT = {
    "gen_ai.response.model": "small-1",
    "gen_ai.usage.input_tokens": 12,
    "gen_ai.usage.output_tokens": 3,
}


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


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_call_of_a_model_tells_the_same_in_all_conventions(log, tmp_path, name):
    taken(log, tmp_path, span("g1", CONVENTIONS[name]))
    assert texts(log) == STORY
    (started,) = only(log, ActionStarted)
    assert (started.tool, started.arguments) == ("look", {"at": "sky"})
    assert log.of(ActionStarted)[0].envelope.extensions["sourcecall"] == "call-1"
    uses = [said.model_use for said in only(log, MessageExchanged)]
    assert [use and use.model_dump() for use in uses] == [None, None, USE]


def test_messages_that_are_events_of_the_span_are_told(log, tmp_path):
    call = {"id": "call-1", "function": {"name": "look", "arguments": ARGUMENTS}}
    message = json.dumps({"content": "I look.", "tool_calls": [call]})
    events = (
        noted("gen_ai.system.message", content="Be brief."),
        noted("gen_ai.user.message", content="Look up."),
        noted("gen_ai.choice", at=2, message=message, index=0),
    )
    taken(log, tmp_path, span("g1", {"gen_ai.operation.name": "chat", **SPENT}, events=events))
    assert texts(log) == STORY
    assert [made.tool for made in only(log, ActionStarted)] == ["look"]


def test_the_event_of_an_operation_s_details_holds_its_messages(log, tmp_path):
    details = {
        "gen_ai.input.messages": [says("user", "Hi")],
        "gen_ai.output.messages": [says("assistant", "Hello")],
    }
    event = {**noted("gen_ai.client.inference.operation.details"), "attributes": details}
    taken(log, tmp_path, span("g1", {"gen_ai.operation.name": "chat"}, events=(event,)))
    assert texts(log) == [("user", "Hi"), ("assistant", "Hello")]


def test_prompt_and_completion_events_are_read(log, tmp_path):
    events = (
        {**noted("gen_ai.content.prompt"), "attributes": {"gen_ai.prompt": "Hi"}},
        {**noted("gen_ai.content.completion"), "attributes": {"gen_ai.completion": "Hello"}},
    )
    taken(log, tmp_path, span("g1", {"gen_ai.operation.name": "chat"}, events=events))
    assert texts(log) == [("user", "Hi"), ("assistant", "Hello")]


def test_a_thought_is_a_decision(log, tmp_path):
    thought = {"type": "reasoning", "content": "It may rain.\nTake a coat."}
    taken(
        log, tmp_path, span("g1", chat([says("user", "Go")], [says("assistant", thought, "Yes")]))
    )
    (decided,) = only(log, DecisionMade)
    assert (decided.what, decided.why) == ("It may rain.", "Take a coat.")
    assert decided.model_use.model_dump() == USE


def test_other_parts_are_kept_as_references(log, tmp_path):
    image = {"type": "uri", "modality": "image", "uri": "https://e.invalid/k.png"}
    taken(log, tmp_path, span("g1", chat([says("user", "See", image)], [])))
    (said,) = only(log, MessageExchanged)
    assert (said.text, [part.kind for part in said.parts]) == ("See", ["uri"])
    assert said.parts[0].data["modality"] == "image"


def test_costs_are_told_where_a_span_has_them(log, tmp_path):
    taken(log, tmp_path, span("g1", chat("Hi", "Hello", **{"gen_ai.usage.cost": 0.25})))
    assert only(log, MessageExchanged)[-1].model_use.cost_usd == 0.25
