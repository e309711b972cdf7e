"""Traces of one session, whose names and identities they share; again, grown, and bad ones."""

import json

import pytest

from mnemolog.importers.langfuse import Langfuse
from mnemolog.schemas.events.experience import (
    ActionStarted,
    MessageExchanged,
    SessionEnded,
    SessionStarted,
)
from support.import_log import ImportLog, json_file, lines_file
from support.traces import (
    answers,
    asks,
    assistant,
    generation,
    observation,
    root,
    system,
    tool,
    trace,
    user,
)


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def texts(log: ImportLog) -> list[str]:
    return [found.recorded.event.text for found in log.of(MessageExchanged)]


def turns() -> list[dict]:
    """Return two turns of one session; the input of the second one holds the first."""
    rules, asked = system("Be brief."), user("Look up.")
    called = assistant(None, asks("look"))
    before = [rules, asked, called, answers("blue"), assistant("It is blue.")]
    first = [
        generation("g1", heard=before[:2], said=called),
        generation("g2", heard=before[:4], said=before[4], begun=3, ended=4),
    ]
    second = generation("g3", heard=[*before, user("Thanks.")], said=assistant("Welcome."))
    one = trace(*first, session="s-1", userId="ann")
    other = trace(second, session="s-1", userId="ann", id="trace-2", timestamp="2025-03-02T08:00Z")
    return [one, other]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_the_turns_of_a_session_repeat_is_told_once(log, tmp_path, order):
    for number in order:
        report = log.take(json_file(tmp_path, turns()[number], name=f"{number}.json"))
        assert report.problems == []
    assert sorted(texts(log)) == sorted(
        ["Be brief.", "Look up.", "It is blue.", "Thanks.", "Welcome."]
    )
    assert len(log.of(ActionStarted)) == 1
    assert {found.envelope.session for found in log.events()} == {"s-1"}
    assert {found.envelope.user for found in log.events()} == {"ann"}


def test_a_session_of_turns_has_one_start_and_no_known_end(log, tmp_path):
    log.take(lines_file(tmp_path, *turns()))
    assert len(log.of(SessionStarted)) == 1
    assert log.of(SessionEnded) == []
    assert log.of(SessionStarted)[0].recorded.event.title is None


def test_a_trace_without_a_session_is_one_by_itself(log, tmp_path):
    one, other = (json.loads(json.dumps(made)) for made in turns())
    for made in (one, other):
        made["trace"]["sessionId"] = None
    log.take(lines_file(tmp_path, one, other))
    assert {found.envelope.session for found in log.events()} == {"trace-1", "trace-2"}
    assert texts(log).count("It is blue.") == 2


@pytest.mark.parametrize(
    ("named", "agent"),
    [
        ("clerk", "clerk"),
        ("/api/chat", "api/chat"),
        ("../up", "agent"),
        ("", "agent"),
        (None, "agent"),
        ("北京", "北京"),
    ],
)
def test_the_agent_is_called_as_the_trace_is(log, tmp_path, named, agent):
    log.take(json_file(tmp_path, trace(generation("g1", heard="Hi"), name=named)))
    assert {found.key for found in log.events()} == {agent}


def test_an_agent_that_names_itself_is_called_so(log, tmp_path):
    metadata = json.dumps({"attributes": {"gen_ai.agent.name": "porter"}})
    made = trace(root(metadata=metadata), generation("g1", heard="Hi"))
    log.take(json_file(tmp_path, made))
    assert {found.key for found in log.events()} == {"porter"}
    again = ImportLog()
    again.take(json_file(tmp_path, made), agent="me", user="bo", project="p1")
    (scope,) = {(e.envelope.agent, e.envelope.user, e.envelope.project) for e in again.events()}
    assert scope == ("me", "bo", "p1")


# Again and grown


def whole() -> dict:
    return trace(
        generation("g1", heard=[user("Go")], said=assistant("I look.", asks("look"))),
        tool("look", {}, "blue"),
        generation("g2", heard=[user("Go")], said=assistant("Blue."), begun=4, ended=5),
    )


def test_importing_twice_adds_nothing_whatever_shape_the_file_has(log, tmp_path):
    first = log.take(json_file(tmp_path, whole(), name="a.json"))
    beside = whole()
    within = {**beside["trace"], "observations": beside["observations"]}
    for path in (
        json_file(tmp_path, [whole()], name="b.json"),
        lines_file(tmp_path, whole(), name="c.jsonl"),
        json_file(tmp_path, within, name="d.json"),
    ):
        again = log.take(path)
        assert (again.added, again.already_there, again.problems) == (0, first.added, [])


@pytest.mark.parametrize("missing", [0, 1, 2, 3])
def test_a_trace_that_was_exported_too_early_is_completed(tmp_path, missing):
    early = whole()
    early["observations"] = [o for n, o in enumerate(early["observations"]) if n != missing]
    log, at_once = ImportLog(), ImportLog()
    first = log.take(json_file(tmp_path, early, name="early.json"))
    second = log.take(json_file(tmp_path, whole(), name="late.json"))
    at_once.take(json_file(tmp_path, whole(), name="late.json"))
    assert {e.envelope.id for e in log.events()} == {e.envelope.id for e in at_once.events()}
    assert second.already_there == first.added  # and nothing says now what it did not say before


def test_events_come_in_the_order_of_their_times_whatever_the_file_s(log, tmp_path):
    mixed = whole()
    mixed["observations"].reverse()
    other = ImportLog()
    log.take(json_file(tmp_path, whole()))
    other.take(json_file(tmp_path, mixed, name="mixed.json"))
    ids = [found.envelope.id for found in log.events()]
    assert ids == [found.envelope.id for found in other.events()]


# What is bad


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "text",
        {},
        observation("", "SPAN", 1, 2),
        generation("g9", startTime=None),
        generation("g9", startTime=1_757_015_076_651),
        generation("g9", startTime="yesterday"),
        generation("g9", endTime=3),
    ],
)
def test_a_bad_observation_is_named_and_its_neighbours_come(log, tmp_path, bad):
    made = whole()
    made["observations"].insert(2, bad)
    report = log.take(json_file(tmp_path, made))
    assert [problem.place for problem in report.problems] == ["line 1, observation 3"]
    assert texts(log) == ["Go", "I look.", "Blue."]


@pytest.mark.parametrize(
    "bad",
    [
        7,
        [],
        {"trace": whole()["trace"]},
        {"observations": []},
        {"trace": {}, "observations": []},
        {"trace": {"id": "x"}, "observations": []},
        {"trace": {"id": "x", "timestamp": "soon"}, "observations": []},
    ],
)
def test_a_bad_trace_is_named_and_its_neighbours_come(log, tmp_path, bad):
    other = trace(generation("g1", heard="Hi"), id="trace-2")
    report = log.take(json_file(tmp_path, [whole(), bad, other]), format="langfuse")
    assert [problem.place for problem in report.problems] == ["item 2"]
    assert {found.envelope.session for found in log.events()} == {"trace-1", "trace-2"}


@pytest.mark.parametrize(
    "odd", [[1, 2], {"a": 1}, "text", 7, True, [[[]]], {"role": 3}, [{"role": "x", "content": {}}]]
)
def test_inputs_of_any_shape_harm_nothing(log, tmp_path, odd):
    made = [
        generation("g1", heard=odd, said=odd, metadata=json.dumps(odd), usageDetails=odd),
        tool("look", odd, odd, metadata=json.dumps(odd), begun=3, ended=4),
        generation("g2", heard="Hi", said="Hello", begun=5, ended=6),
    ]
    report = log.take(json_file(tmp_path, trace(*made, input=odd, output=odd)))
    assert report.problems == []
    assert "Hello" in texts(log)


def test_a_trace_is_recognised_by_its_keys():
    assert Langfuse().recognises("x", json.dumps(whole()).encode())
    assert Langfuse().recognises("x", json.dumps(whole()).encode()[:300])
    within = {**whole()["trace"], "observations": []}
    assert Langfuse().recognises("x", json.dumps(within).encode())
    assert not Langfuse().recognises("x", b'{"trace": [], "cost": 3}')
