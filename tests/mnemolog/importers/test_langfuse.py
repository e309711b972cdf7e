"""A trace becomes what was said and done in it, each thing once, with its cause and cost."""

import json

import pytest

from mnemolog.schemas.events.experience import (
    ActionStarted,
    DecisionMade,
    MessageExchanged,
    ObservationRecorded,
    SessionEnded,
    SessionStarted,
)
from support.import_log import ImportLog, json_file
from support.traces import (
    answers,
    asks,
    assistant,
    at,
    generation,
    observation,
    system,
    trace,
    user,
)

USE = {"model": "small-1", "tokens_in": 12, "tokens_out": 3, "cost_usd": 0.25}


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def only(log: ImportLog, model) -> list:
    return [found.recorded.event for found in log.of(model)]


def texts(log: ImportLog) -> list[tuple[str, str]]:
    return [(said.role, said.text) for said in only(log, MessageExchanged)]


def use(event) -> dict | None:
    return event.model_use and event.model_use.model_dump()


# Calls of models


def test_a_generation_is_what_it_heard_and_said_with_its_cost(log, tmp_path):
    made = generation("g1", heard=[system("Be brief."), user("Hi")], said=assistant("Hello"))
    report = log.take(json_file(tmp_path, trace(made)))
    assert report.problems == []
    assert log.types() == ["session.started", *["message.exchanged"] * 3, "session.ended"]
    assert only(log, SessionStarted)[0].title == "clerk"
    assert texts(log) == [("system", "Be brief."), ("user", "Hi"), ("assistant", "Hello")]
    assert [use(said) for said in only(log, MessageExchanged)] == [None, None, USE]


def test_times_are_the_steps_own(log, tmp_path):
    made = generation("g1", heard=[user("Hi")], said=assistant("Hello"), begun=1.5, ended=4.25)
    log.take(json_file(tmp_path, trace(made)))
    told = {found.event_type: found.envelope for found in log.events()}
    heard, said = (found.envelope.occurred_at for found in log.of(MessageExchanged))
    assert (heard.isoformat(), said.isoformat()) == (
        "2025-03-01T10:00:01.500000+00:00",
        "2025-03-01T10:00:04.250000+00:00",
    )
    assert not any(names.assumed_utc for names in told.values())


def test_a_naive_time_is_flagged(log, tmp_path):
    made = generation("g1", heard=[user("Hi")], startTime="2025-03-01T10:00:01")
    log.take(json_file(tmp_path, trace(made)))
    assert log.of(MessageExchanged)[0].envelope.assumed_utc


def test_the_history_in_each_input_is_told_once(log, tmp_path):
    first = [system("Be brief."), user("yes")]
    second = [*first, assistant("Really?"), user("yes")]
    made = [
        generation("g1", heard=first, said=assistant("Really?")),
        generation("g2", heard=second, said=assistant("Really?"), begun=3, ended=4),
    ]
    log.take(json_file(tmp_path, trace(*made)))
    assert texts(log) == [
        ("system", "Be brief."),
        *(("user", "yes"), ("assistant", "Really?")),
        *(("user", "yes"), ("assistant", "Really?")),
    ]
    assert [use(said) for said in only(log, MessageExchanged)] == [None, None, USE, None, USE]


def test_an_input_without_its_history_adds_what_is_new(log, tmp_path):
    made = [
        generation("g1", heard=[user("Go")], said=assistant(None, asks("look"))),
        generation("g2", heard=[answers("blue")], said=assistant("It is blue."), begun=3, ended=4),
    ]
    log.take(json_file(tmp_path, trace(*made)))
    assert log.types()[1:5] == [
        *("message.exchanged", "action.started"),
        *("action.finished", "message.exchanged"),
    ]


def test_a_thought_is_a_decision_and_its_words_are_said_once(log, tmp_path):
    content = [
        {"type": "thinking", "thinking": "Look first.\nIt may rain."},
        {"text": "One moment"},
    ]
    made = generation("g1", heard="Go", said={"role": "assistant", "content": content})
    log.take(json_file(tmp_path, trace(made)))
    decided = only(log, DecisionMade)[0]
    assert (decided.what, decided.why) == ("Look first.", "It may rain.")
    assert use(decided) == USE
    assert texts(log) == [("user", "Go"), ("assistant", "One moment")]


def test_an_answer_to_a_schema_is_what_was_said(log, tmp_path):
    made = generation("g1", heard="A recipe", said={"name": "soup", "steps": ["boil"]})
    log.take(json_file(tmp_path, trace(made)))
    assert json.loads(texts(log)[-1][1]) == {"name": "soup", "steps": ["boil"]}


def test_json_within_json_is_read(log, tmp_path):
    heard = json.dumps(json.dumps([user("Hi")]))
    log.take(json_file(tmp_path, trace(generation("g1", said="Hello", input=heard))))
    assert texts(log) == [("user", "Hi"), ("assistant", "Hello")]


def test_a_call_within_a_call_is_one_and_the_inner_one_tells_its_cost(log, tmp_path):
    outer = generation("outer", heard={"prompt": "Hi"}, said="Hello", begun=1, ended=4)
    cost = {"usageDetails": {"input": 7, "output": 2}, "totalCost": 0.5}
    inner = generation("inner", heard=[user("Hi")], said=assistant("Hello"), parent="outer", **cost)
    log.take(json_file(tmp_path, trace(outer, inner)))
    assert texts(log) == [("user", "Hi"), ("assistant", "Hello")]
    costs = [use(said) for said in only(log, MessageExchanged)]
    assert costs == [None, {"model": "small-1", "tokens_in": 7, "tokens_out": 2, "cost_usd": 0.5}]


def test_an_inner_call_in_bare_text_leaves_the_words_to_the_outer_one(log, tmp_path):
    outer = generation("outer", heard=[user("Hi")], said=assistant(None, asks("look")), ended=4)
    inner = generation("inner", heard="user: Hi", said="None", parent="outer")
    log.take(json_file(tmp_path, trace(outer, inner)))
    assert texts(log) == [("user", "Hi")]
    assert [use(made) for made in only(log, ActionStarted)] == [USE]


def test_a_cost_without_words_is_an_observation_without_text(log, tmp_path):
    log.take(json_file(tmp_path, trace(generation("g1", heard=[user("Hi")]))))
    (seen,) = only(log, ObservationRecorded)
    assert (seen.text, seen.data, use(seen)) == ("", {"step": "g1"}, USE)


def test_a_call_that_failed_is_an_observation(log, tmp_path):
    made = generation("g1", heard=[user("Hi")], level="ERROR", statusMessage="too many requests")
    log.take(json_file(tmp_path, trace(made)))
    (seen,) = only(log, ObservationRecorded)
    assert (seen.text, seen.success, use(seen)) == ("too many requests", False, USE)


def test_an_embedding_tells_its_cost_alone(log, tmp_path):
    made = generation("e1", heard="some text", said=[0.5, 0.25], type="EMBEDDING")
    log.take(json_file(tmp_path, trace(made)))
    assert log.types() == ["session.started", "observation.recorded", "session.ended"]


# What holds the calls


def test_steps_that_hold_others_tell_nothing_of_their_own(log, tmp_path):
    made = [
        observation("route", "SPAN", 1, 2, input='"go"', output='"left"'),
        observation("plan", "AGENT", 1, 9, input=json.dumps([user("Hi")]), output='"Hello"'),
        generation("g1", heard=[user("Hi")], said=assistant("Hello"), parent="plan"),
    ]
    log.take(json_file(tmp_path, trace(*made)))
    assert texts(log) == [("user", "Hi"), ("assistant", "Hello")]


def test_what_only_the_trace_tells_is_told_by_it(log, tmp_path):
    made = trace(generation("g1", heard="Message: Hi"), input='"Hi"', output='"Hello"')
    log.take(json_file(tmp_path, made))
    assert texts(log) == [("user", "Message: Hi"), ("assistant", "Hello")]


def test_an_agent_whose_models_are_elsewhere_speaks_for_them(log, tmp_path):
    made = generation("a1", heard=[user("Hi")], said=assistant("Hello"), type="AGENT")
    log.take(json_file(tmp_path, trace(made)))
    assert [use(said) for said in only(log, MessageExchanged)] == [None, USE]


def test_parents_that_form_a_circle_end_where_they_meet(log, tmp_path):
    made = [
        generation("g1", heard="Hi", said="Hello", parent="g2"),
        generation("g2", heard="And?", said="Well", parent="g1", begun=3, ended=4),
    ]
    report = log.take(json_file(tmp_path, trace(*made)))
    assert (report.problems, len(texts(log))) == ([], 4)


def test_the_trace_ends_when_all_at_its_top_has(log, tmp_path):
    log.take(json_file(tmp_path, trace(generation("g1", heard="Hi", said="Hello"))))
    (ended,) = log.of(SessionEnded)
    assert ended.envelope.occurred_at.isoformat() == at(9).replace(".000Z", "+00:00")
