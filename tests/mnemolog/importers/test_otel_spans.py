"""Spans in all their shapes, traces scattered over a file, sessions, and what is bad."""

import json
import random

import pytest

from mnemolog.importers import otel
from mnemolog.importers.base import Unreadable
from mnemolog.importers.otel import OpenTelemetry
from mnemolog.importers.otel_attributes import unflattened
from mnemolog.importers.otel_spans import moment_of, moment_of_nanoseconds
from mnemolog.schemas.events.experience import MessageExchanged, SessionEnded, SessionStarted
from support.import_log import ImportLog, json_file, lines_file
from support.spans import (
    answers,
    as_javascript,
    as_otlp,
    as_python,
    asks,
    chat,
    root,
    says,
    span,
)


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def texts(log: ImportLog) -> list[str]:
    return [found.recorded.event.text for found in log.of(MessageExchanged)]


def ids(log: ImportLog) -> list[str]:
    return [found.envelope.id for found in log.events()]


def story() -> list[dict]:
    """Return a trace: a question, a call of a tool, an answer; children before their parents."""
    heard = [says("user", "Go"), says("assistant", asks("look", at="sky"))]
    look = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    look |= {"gen_ai.tool.call.id": "call-1", "gen_ai.tool.call.result": "blue"}
    return [
        span("a1", chat(heard[:1], heard[1:])),
        span("b2", look, begun=2.5, ended=3),
        span(
            "c3",
            chat([*heard, says("tool", answers("blue"))], [says("assistant", "Blue.")]),
            begun=4,
            ended=5,
        ),
        root(),
    ]


SHAPES = {
    "OTLP": lambda spans: [as_otlp(*spans)],
    "a batch a line": lambda spans: [as_otlp(one) for one in spans],
    "a span of OTLP a line": lambda spans: [
        one for made in spans for one in as_otlp(made)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    ],
    "Python's": lambda spans: [as_python(one) for one in spans],
    "JavaScript's": lambda spans: [as_javascript(one) for one in spans],
    "a list of spans": lambda spans: [{"spans": [as_javascript(one) for one in spans]}],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("as_lines", [True, False])
def test_a_trace_is_the_same_in_all_shapes(log, tmp_path, shape, as_lines):
    other = ImportLog()
    other.take(json_file(tmp_path, as_otlp(*story()), name="other.json"))
    values = SHAPES[shape](story())
    write = lines_file if as_lines else json_file
    path = write(tmp_path, *values) if as_lines else json_file(tmp_path, values)
    assert log.take(path, format="otel").problems == []
    assert ids(log) == ids(other)
    times = [found.envelope.occurred_at for found in log.events()]
    assert times == [found.envelope.occurred_at for found in other.events()]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_is_recognised(shape):
    for value in SHAPES[shape](story()):
        if "spans" not in value:
            assert OpenTelemetry().recognises("x", json.dumps(value).encode())
    assert not OpenTelemetry().recognises("x", b'{"traceId": "1", "type": "SPAN"}')


def test_a_trace_is_told_in_order_wherever_its_spans_stand(log, tmp_path):
    log.take(lines_file(tmp_path, *[as_otlp(one) for one in story()]))
    shuffled = story() * 2  # exporters that try again send a span twice
    random.Random(7).shuffle(shuffled)
    other = ImportLog()
    other.take(lines_file(tmp_path, *[as_otlp(one) for one in shuffled], name="b.jsonl"))
    assert ids(log) == ids(other)
    assert log.types() == [
        *("session.started", "message.exchanged", "action.started", "action.finished"),
        *("message.exchanged", "session.ended"),
    ]


def test_no_more_spans_than_the_bound_are_held(log, tmp_path, monkeypatch):
    monkeypatch.setattr(otel, "SPANS_HELD_MAX", 3)
    traces = [f"{number:032x}" for number in range(1, 6)]
    spans = [
        made | {"trace": trace, "id": f"{made['id']}-{trace}"}
        for made in story()
        for trace in traces
    ]
    report = log.take(lines_file(tmp_path, *[as_otlp(one) for one in spans]))
    assert report.problems == []
    assert {found.envelope.session for found in log.events()} == set(traces)
    assert texts(log).count("Blue.") == len(traces)


def test_texts_count_against_a_bound_of_their_own(log, tmp_path, monkeypatch):
    monkeypatch.setattr(otel, "CHARACTERS_HELD_MAX", 10)
    log.take(lines_file(tmp_path, *[as_otlp(one) for one in story()]))
    assert sorted(texts(log)) == ["Blue.", "Go"]


# Names


def test_a_conversation_is_the_session_of_its_traces(log, tmp_path):
    first = chat([says("user", "Hi")], [says("assistant", "Hello")])
    before = [says("user", "Hi"), says("assistant", "Hello"), says("user", "Bye")]
    second = chat(before, [says("assistant", "See you")])
    named = {"gen_ai.conversation.id": "c-1", "user.id": "ann", "gen_ai.agent.name": "clerk"}
    log.take(
        lines_file(
            tmp_path,
            as_otlp(span("g1", first | named, parent=None)),
            as_otlp(span("g2", second | named, parent=None, trace="2" * 32, begun=5, ended=6)),
        )
    )
    assert texts(log) == ["Hi", "Hello", "Bye", "See you"]
    (scope,) = {(e.key, e.envelope.session, e.envelope.user) for e in log.events()}
    assert scope == ("clerk", "c-1", "ann")
    assert (len(log.of(SessionStarted)), log.of(SessionEnded)) == (1, [])


@pytest.mark.parametrize(
    ("service", "given", "agent"),
    [
        ("desk", {}, "desk"),
        ("unknown_service:python", {}, "agent"),
        (None, {}, "agent"),
        ("desk", {"agent.name": "clerk"}, "clerk"),
        ("../desk", {}, "agent"),
    ],
)
def test_the_agent_is_called_as_it_calls_itself_or_as_its_service(
    log, tmp_path, service, given, agent
):
    made = span("g1", chat("Hi", "Hello") | given, parent=None)
    log.take(json_file(tmp_path, as_otlp(made, service=service)))
    assert {found.key for found in log.events()} == {agent}


def test_a_trace_without_its_root_has_no_known_end(log, tmp_path):
    log.take(json_file(tmp_path, as_otlp(*story()[:-1])))
    assert log.of(SessionEnded) == []
    report = log.take(json_file(tmp_path, as_otlp(*story()), name="whole.json"))
    assert report.added == 1


def test_importing_twice_adds_nothing(log, tmp_path):
    first = log.take(json_file(tmp_path, as_otlp(*story()), name="a.json"))
    again = log.take(lines_file(tmp_path, *map(as_python, story()), name="b.jsonl"))
    assert (again.added, again.already_there) == (0, first.added)


# Times


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ([1_740_823_200, 123_456_789], "2025-03-01T10:00:00.123456+00:00"),
        ("2025-03-01T10:00:00.5Z", "2025-03-01T10:00:00.500000+00:00"),
        ("2025-03-01T10:00:00", "2025-03-01T10:00:00"),
    ],
)
def test_a_time_states_its_unit(written, moment):
    assert moment_of(written).isoformat() == moment


@pytest.mark.parametrize("count", [1_740_823_200_123_456_789, "1740823200123456789"])
def test_nanoseconds_are_cut_to_microseconds(count):
    assert moment_of_nanoseconds(count).isoformat() == "2025-03-01T10:00:00.123456+00:00"


@pytest.mark.parametrize("bad", [1_740_823_200, 1.5, None, True, [1], [1, 2, 3], [1.5, 2], "soon"])
def test_a_time_without_a_unit_is_refused(bad):
    with pytest.raises(Unreadable):
        moment_of(bad)


@pytest.mark.parametrize("bad", [10**30, -(10**30), "9" * 5000, "x", 1.5, None, True])
def test_an_absurd_count_is_refused(bad):
    with pytest.raises(Unreadable):
        moment_of_nanoseconds(bad)


# Attributes


@pytest.mark.parametrize(
    ("attributes", "value"),
    [
        ({"a.10.b": 2, "a.9.b": 1}, [{"b": 1}, {"b": 2}]),
        ({"a.0": "x", "a.2": "z"}, ["x", "z"]),
        ({"a": 7, "a.b": 1}, {"b": 1}),
        ({"a.b": 1, "a.b.c": 2, "a.d": 3}, {"b": {"c": 2}, "d": 3}),
        ({"a.0.b": 1, "a.name": 2}, {"0": {"b": 1}, "name": 2}),
        ({"a": {"b": [1]}}, {"b": [1]}),
        ({"ab.c": 1}, None),
    ],
)
def test_what_was_flattened_is_put_together_with_holes(attributes, value):
    assert unflattened(attributes, "a") == value
    assert unflattened(dict(reversed(attributes.items())), "a") == value


def test_a_name_of_endless_parts_is_no_trouble():
    assert unflattened({"a." + "b." * 100_000: 1}, "a") is not None


# What is bad


@pytest.mark.parametrize(
    "bad",
    [
        7,
        {"traceId": "1"},
        {"traceId": "1", "spanId": "2", "startTimeUnixNano": "soon", "attributes": []},
        {"traceId": "1", "spanId": "2", "startTime": 1_757_015_076_651, "attributes": []},
        {"traceId": "1", "spanId": "2", "startTimeUnixNano": "1", "endTimeUnixNano": "x"},
        {"spanContext": [], "attributes": {}},
    ],
)
def test_a_bad_span_is_named_and_its_neighbours_come(log, tmp_path, bad):
    batch = as_otlp(*story())
    batch["resourceSpans"][0]["scopeSpans"][0]["spans"].insert(1, bad)
    report = log.take(json_file(tmp_path, batch))
    assert [problem.place for problem in report.problems] == ["line 1, span 2"]
    assert texts(log) == ["Go", "Blue."]


@pytest.mark.parametrize("odd", [[1, 2], {"a": 1}, "text", 7, True, [[[]]], {"role": 3}, "[{"])
def test_attributes_of_any_shape_harm_nothing(log, tmp_path, odd):
    names = [*otel._AGENTS, *otel._SESSIONS, "gen_ai.input.messages", "gen_ai.usage.input_tokens"]
    made = span("g1", dict.fromkeys(names, odd) | {"gen_ai.operation.name": "chat"})
    good = span("g2", chat("Hi", "Hello"), trace="2" * 32)
    report = log.take(lines_file(tmp_path, as_javascript(made), as_javascript(good)))
    assert report.problems == []
    assert "Hello" in texts(log)


@pytest.mark.parametrize(
    "odd", [{"resourceSpans": [7]}, {"resourceSpans": [{"scopeSpans": [7, {"spans": 7}]}]}, {}]
)
def test_batches_of_any_shape_harm_nothing(log, tmp_path, odd):
    log.take(lines_file(tmp_path, odd, as_otlp(*story())), format="otel")
    assert texts(log) == ["Go", "Blue."]
