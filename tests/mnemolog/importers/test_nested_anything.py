"""Wherever something else stands in a sound trace, span, log or tree, nothing raises or is lost.

A value somewhere in a sound document is replaced by any other: what was beside it comes in.
"""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import evaluations, search_trees, spans, traces
from support.import_log import ImportLog, json_file, lines_file

ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None), max_size=12)
    | st.sampled_from(["attachment://x", "2025-03-01T10:00:00Z", "[{", "../x", "tool", "{'a': 1}"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "content", "type", "id", "a"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


def langfuse() -> dict:
    return traces.trace(
        traces.generation(
            "g1",
            heard=[traces.system("Be brief."), traces.user("Go")],
            said=traces.assistant("I look.", traces.asks("look", at="sky")),
        ),
        traces.tool("look", {"at": "sky"}, "blue"),
        scores=[traces.score("helpful", 1)],
        session="s-1",
    )


def otel() -> dict:
    heard = [spans.says("user", "Go")]
    made = spans.chat(heard, [spans.says("assistant", "I look.", spans.asks("look"))])
    event = spans.noted("gen_ai.evaluation.result", at=3)
    return spans.as_otlp(spans.span("g1", made, events=(event,)), spans.root())


def inspect() -> dict:
    called = evaluations.says("I look.", evaluations.asks("look"))
    return evaluations.evaluation(
        evaluations.sample(
            evaluations.event("sample_init", state={"messages": [], "store": {}}),
            evaluations.model([evaluations.user("Go")], called),
            evaluations.tool("look", "blue", begun=3, ended=4),
            evaluations.changed("store", ("add", "/a", [1])),
            evaluations.span("match", "scorer", evaluations.score("C")),
            messages=[evaluations.user("Go"), called, evaluations.answers("blue")],
        )
    )


OTHER_NAMES = {"trace-1": "trace-2", "s-1": "s-2", spans.TRACE: "2" * 32, "trains": "ships"}
SOUND = {"langfuse": langfuse, "otel": otel, "inspect": inspect, "toolbench": search_trees.forked}


def places(value: Any, path: tuple = ()) -> list[tuple]:
    """Return the paths to all values within *value*, JSON within texts aside."""
    found = [path]
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, inner in pairs:
            found += places(inner, (*path, key))
    return found


def replaced(value: Any, path: tuple, other: Any) -> Any:
    if not path:
        return other
    at = value
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = other
    return value


@pytest.mark.parametrize("name", SOUND)
@settings(max_examples=150)
@given(data=st.data(), other=ANY, as_text=st.booleans())
def test_anything_anywhere_raises_nothing_and_is_imported_once(
    tmp_path_factory, name, data, other, as_text
):
    sound = json.loads(json.dumps(SOUND[name]()))
    path = data.draw(st.sampled_from(places(sound)))
    odd = replaced(sound, path, json.dumps(other) if as_text else other)
    file = json_file(tmp_path_factory.mktemp("any", numbered=True), odd)
    log = ImportLog()
    first = log.take(file, format=name)
    second = log.take(file, format=name)
    assert len(log.events()) == first.added
    assert (second.added, second.events) == (0, first.events)
    assert second.problems == first.problems


@pytest.mark.parametrize("name", ["langfuse", "otel", "toolbench"])
@settings(max_examples=60)
@given(data=st.data(), other=ANY)
def test_anything_anywhere_costs_no_neighbour(tmp_path_factory, name, data, other):
    sound = json.loads(json.dumps(SOUND[name]()))
    path = data.draw(st.sampled_from(places(sound)))
    text = json.dumps(SOUND[name]())
    for old, new in OTHER_NAMES.items():
        text = text.replace(old, new)
    neighbour = json.loads(text)
    odd = replaced(sound, path, other)
    log = ImportLog()
    folder = tmp_path_factory.mktemp("any", numbered=True)
    alone = ImportLog()
    alone.take(lines_file(folder, neighbour, name="alone.jsonl"), format=name)
    log.take(lines_file(folder, odd, neighbour), format=name)
    ids = {found.envelope.id for found in log.events()}
    assert {found.envelope.id for found in alone.events()} <= ids
