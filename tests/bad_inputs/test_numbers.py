"""Numbers that JSON lacks, that no column holds, and those whose type changes on the way."""

import io
import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from mnemolog.ledgers import foreign_in
from mnemolog.projections.kinds import CHECKPOINTS
from mnemolog.schemas.codec import build
from mnemolog.schemas.decoded import Unusable
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting
from mnemolog.schemas.events import ALL_EVENTS
from mnemolog.schemas.events.experience import ActionFinished
from mnemolog.schemas.values import parse_json
from support.events import ALL_FILLED, codec, published
from support.raw_records import put, put_changed
from support.remembering import opened, texts, the_event

LARGE = (2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**30, -(10**400))
NOT_FINITE = (math.nan, math.inf, -math.inf)
CHANGED = (3, True, 1.5, "3", 3.0, None, [3], {"n": 3}, 2**64, "true", False, 0, -0.0)


@pytest.fixture(scope="module")
def mem():
    with opened(agent="ops-1") as memory:
        yield memory


GIVING = {
    "score": lambda m, n: m.feedback("e-1", n, comment="grader divided by zero"),
    "confidence": lambda m, n: m.decide("roll back", confidence=n),
    "importance": lambda m, n: m.remember("the pool has 50", importance=n),
    "data": lambda m, n: m.observe("seen", data={"deep": [{"n": n}]}),
    "intermediate_results": lambda m, n: m.checkpoint(
        "go", plan_summary="on", intermediate_results={"n": n}
    ),
    "cost_usd": lambda m, n: m.observe("seen", model_use={"model": "m", "cost_usd": n}),
    "working_memory": lambda m, n: m.checkpoint(
        "go", plan_summary="on", task_state={"task_id": "t", "working_memory": {"n": n}}
    ),
    "policy": lambda m, n: m.append(
        "policy.changed", {"revision": 1, "policy": {"decay": {"weight_min": n}}}
    ),
}


@pytest.mark.bad_input(9)
@pytest.mark.parametrize("number", NOT_FINITE)
@pytest.mark.parametrize("field", GIVING)
def test_what_is_not_finite_is_refused_by_its_field_and_nothing_is_appended(mem, field, number):
    before = mem.end()
    with pytest.raises(InvalidEvent, match=f"{field}.*finite"):
        GIVING[field](mem, number)
    assert mem.end() == before


@pytest.mark.bad_input(9)
@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity", "1e400", "-1e999"])
def test_such_a_token_on_the_log_is_listed_and_costs_nothing_beside_it(mem, token):
    said = mem.observe("x", data={"n": "here"})
    put(mem, mem.engine.log.at(said.position).value.replace(b'"here"', token.encode()))
    mem.wait_for(mem.observe(f"a neighbour of {token}").token)
    listed = foreign_in(mem.engine, CHECKPOINTS, records_max=100)
    assert token.strip("-") in listed[-1].reason
    assert f"a neighbour of {token}" in texts(mem.recall(f"a neighbour of {token}"))


@pytest.mark.bad_input(9)
@pytest.mark.parametrize("number", NOT_FINITE)
def test_a_question_with_what_is_no_number_is_refused_by_its_field(mem, number):
    for name in ("importance_min", "hits_max", "tokens_max", "timeout_seconds"):
        with pytest.raises(InvalidSetting, match=name):
            mem.recall("x", **{name: number})
    with pytest.raises(InvalidSetting, match="timeout_seconds"):
        mem.wait_for(mem.end(), timeout_seconds=math.nan)


@pytest.mark.bad_input(11)
def test_integers_of_any_size_keep_their_digits_everywhere(mem):
    data = {f"n{index}": number for index, number in enumerate(LARGE)}
    said = mem.observe("tweet", data={"deep": [data]})
    saved = mem.checkpoint(
        "go",
        plan_summary="on",
        intermediate_results=data,
        task_state={"task_id": "t-large", "variables": data, "working_memory": {"m": [data]}},
    )
    with mem.act("fetch", arguments=data) as action:
        action.data = data
    mem.wait_for(action.finished.token)
    assert mem.get(said).event.data == {"deep": [data]}
    kept = mem.saved(saved).checkpoint
    assert kept.intermediate_results == kept.task_state.variables == data
    assert kept.task_state.working_memory == {"m": [data]}
    for column in ("data->'deep'->0 FROM observations WHERE text = 'tweet'", "data FROM actions"):
        ((text,),) = mem.sql(f"SELECT {column}").rows
        assert json.loads(text) == data
    ((text,),) = mem.sql("SELECT data->>'$.deep[0].n3' FROM observations WHERE text='tweet'").rows
    assert text == "18446744073709551616"
    mem.export(out := io.BytesIO())
    told = [parse_json(line).get("data") for line in out.getvalue().splitlines()]
    assert {"text": "tweet", "data": {"deep": [data]}} in told


@pytest.mark.bad_input(11)
def test_more_digits_than_anybody_writes_are_refused_by_the_field(mem):
    for field in ("data", "intermediate_results", "working_memory"):
        with pytest.raises(InvalidEvent, match=f"{field}.*bits"):
            GIVING[field](mem, 10**5_000)
    for field in ("score", "confidence", "importance", "cost_usd"):
        with pytest.raises(InvalidEvent, match=field):
            GIVING[field](mem, 10**400)


@pytest.mark.bad_input(13)
def test_a_type_that_changes_in_the_data_is_kept_in_every_column_of_json(mem):
    for value in CHANGED:
        said = mem.observe("seen", data={"retries": value}, session="drift")
        kept = the_event(mem, said).event.data["retries"]
        assert (type(kept), kept) == (type(value), value)
        with mem.act("bash", arguments={"retries": value}, session="drift") as action:
            action.data = {"retries": value}
    for column in (
        "data->'data'->'retries' FROM events WHERE type = 'observation.recorded'",
        "data->'retries' FROM observations WHERE true",
        "arguments->'retries' FROM action_events WHERE change = 'action.started'",
        "data->'retries' FROM action_events WHERE change = 'action.finished'",
    ):
        found = mem.sql(f"SELECT {column} AND session = 'drift' ORDER BY log_offset").rows
        assert [json.dumps(json.loads(text)) for (text,) in found] == [*map(json.dumps, CHANGED)]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield each value in *value* that holds no other, with its path."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for name, item in items:
            yield from leaves(item, (*path, name))
    else:
        yield path, value


def put_at(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = put_at(value[path[0]], path[1:], new)
    return copy


def at(value: Any, path: tuple[Any, ...]) -> Any:
    return at(value[path[0]], path[1:]) if path else value


@pytest.mark.bad_input(13)
@pytest.mark.parametrize("event", ALL_FILLED, ids=lambda event: event.event_type)
def test_a_field_of_another_type_is_refused_or_kept_and_never_altered(event):
    whole = json.loads(event.model_dump_json())
    for path, value in leaves(whole):
        for other in CHANGED:
            if type(other) is type(value):
                continue
            spoilt = put_at(whole, path, other)
            try:
                built, _ = build(type(event), spoilt)
            except InvalidEvent:
                found = codec().decode(published(event, data=spoilt))
                assert isinstance(found, Unusable), path
                continue
            kept = at(json.loads(built.model_dump_json()), path)
            # A whole number where a share or an amount stands is that number.
            assert kept == other, path
            assert isinstance(kept, bool) == isinstance(other, bool), path


def test_every_type_is_looked_at():
    assert {type(event) for event in ALL_FILLED} == set(ALL_EVENTS)


@pytest.mark.bad_input(13)
def test_a_late_change_of_a_typed_column_waits_by_itself_and_alters_no_row():
    with opened(agent="ops-1") as mem:
        for duration in (3, True, 1.5):
            put_changed(
                mem,
                {"action": "a", "success": True, "tool": "bash", "duration_ms": 3},
                lambda told, value=duration: told["data"].update(duration_ms=value),
                model=ActionFinished,
                agent=f"agent-{duration}",
            )
        mem.observe("a neighbour")
        rows = mem.sql("SELECT duration_ms FROM action_events").rows
        assert rows == [(3,)]
        assert mem.sql("SELECT text FROM observations").rows == [("a neighbour",)]
