"""JSON that nests too deep, and keys that differ by next to nothing."""

import io
import json

import pytest

from mnemolog.ledgers import foreign_in
from mnemolog.projections.kinds import CHECKPOINTS
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.limits import DEPTH_MAX
from mnemolog.schemas.values import parse_json
from support.import_log import ImportLog, lines_file
from support.raw_records import put
from support.remembering import opened, texts

DEEP = (DEPTH_MAX + 1, 1_500, 20_000)


def in_dicts(depth):
    value = "end"
    for _ in range(depth):
        value = {"in": value}
    return value


def in_lists(depth):
    value = "end"
    for _ in range(depth):
        value = [value]
    return value


def in_tuples_of_dicts(depth):
    value = "end"
    for level in range(depth):
        value = ({"in": value},) if level % 2 else {"in": value}
    return value


HOLDING = {
    "data": lambda m, v: m.observe("seen", data={"v": v}),
    "arguments": lambda m, v: m.append(
        "action.started", {"action": "a", "tool": "t", "arguments": {"v": v}}
    ),
    "intermediate results": lambda m, v: m.checkpoint(
        "go", plan_summary="on", intermediate_results={"v": v}
    ),
    "a task's variables": lambda m, v: m.checkpoint(
        "go", plan_summary="on", task_state={"task_id": "t", "variables": {"v": v}}
    ),
    "a working memory": lambda m, v: m.checkpoint(
        "go", plan_summary="on", task_state={"task_id": "t", "working_memory": {"v": v}}
    ),
    "where a text belongs": lambda m, v: m.observe(v),
    "a keyword": lambda m, v: m.observe("seen", model_use=v),
}


@pytest.fixture(scope="module")
def mem():
    with opened(agent="ops-1") as memory:
        yield memory


@pytest.mark.bad_input(15)
@pytest.mark.parametrize("make", [in_dicts, in_lists, in_tuples_of_dicts])
@pytest.mark.parametrize("depth", DEEP)
@pytest.mark.parametrize("how", HOLDING)
def test_what_nests_too_deep_is_refused_by_an_ordinary_error_and_all_goes_on(mem, how, depth, make):
    before = mem.end()
    with pytest.raises(InvalidEvent) as refused:
        HOLDING[how](mem, make(depth))
    if make is in_dicts and how == "data":
        told = min(depth, 100 * DEPTH_MAX)  # nobody counts for ever
        assert f"> limit {DEPTH_MAX}" in str(refused.value)
        assert int(str(refused.value).split("nesting depth ")[1].split()[0]) >= told
    assert mem.end() == before
    said = mem.observe("the service keeps running")
    assert mem.get(said, after=said.token).event.text == "the service keeps running"


@pytest.mark.bad_input(15)
@pytest.mark.parametrize("depth", DEEP)
def test_a_record_that_nests_too_deep_is_passed_and_its_neighbours_are_applied(depth):
    with opened(agent="ops-1") as mem:
        said = mem.observe("x", data={"n": "here"})
        value = mem.engine.log.at(said.position).value
        for deep in (b'{"in":' * depth + b"1" + b"}" * depth, b"[" * depth + b"]" * depth):
            put(mem, value.replace(b'"here"', deep))
            put(mem, deep)
            put(mem, deep[:depth])  # and one that never ends
        last = mem.observe("a neighbour")
        assert "a neighbour" in texts(mem.recall("neighbour", after=last.token))


@pytest.mark.bad_input(15)
@pytest.mark.parametrize("depth", DEEP)
def test_a_line_that_nests_too_deep_is_named_and_its_neighbours_come(tmp_path, depth):
    said = {"role": "user", "content": "a neighbour"}
    deep = b'{"role":"user","content":' + b"[" * depth + b"]" * depth + b"}"
    log = ImportLog()
    report = log.take(lines_file(tmp_path, said, deep, {**said, "content": "another"}))
    assert [problem.place for problem in report.problems] == ["line 2"]
    assert "depth" in report.problems[0].reason
    assert log.types().count("message.exchanged") == 2


@pytest.mark.bad_input(15)
def test_what_is_just_deep_enough_is_kept_everywhere(mem):
    value = in_dicts(DEPTH_MAX - 3)  # the document, its data and the field around it
    said = mem.observe("as deep as it may be", data={"v": value})
    mem.wait_for(said.token)
    assert mem.get(said).event.data == {"v": value}
    asked = "SELECT data FROM observations WHERE text = 'as deep as it may be'"
    ((kept,),) = mem.sql(asked).rows
    assert json.loads(kept) == {"v": value}
    with pytest.raises(InvalidEvent, match=f"nesting depth {DEPTH_MAX + 1}"):
        mem.observe("one more", data={"v": {"in": value}})


ALIKE = {
    "case": {"name": "a", "Name": "b", "NAME": "c"},
    "normal form": {"é": 1, "e\u0301": 2},
    "white space": {"a": 1, "a ": 2, " a": 3, "": 4, " ": 5},
    "width": {"a": 1, "ａ": 2},
    "dots": {"a": {"b": 1}, "a.b": 2, "$.a.b": 3},
    "quotes": {'"': 1, "'": 2, "`": 3, "\\": 4, "\\\\": 5},
    "types": {"1": 1, "1.0": 2, "true": 3, "null": 4},
    "paths": {"/": 1, "~1": 2, "~": 3, "a/b": 4, "*": 5, "[0]": 6, "#": 7},
}


@pytest.mark.bad_input(17)
@pytest.mark.parametrize("kind", ALIKE)
def test_keys_that_are_alike_are_all_kept_by_every_store(mem, kind):
    keys = ALIKE[kind]
    said = mem.observe(f"keys: {kind}", data={"agent": keys})
    saved = mem.checkpoint("go", plan_summary="on", intermediate_results=keys)
    with mem.act("look", arguments=keys, session=f"keys: {kind}") as action:
        action.data = keys
    mem.wait_for(action.finished.token)
    assert mem.get(said).event.data == {"agent": keys}
    assert mem.saved(saved).checkpoint.intermediate_results == keys
    rows = mem.sql(
        "SELECT data->'agent' FROM observations WHERE event_id = $event UNION ALL"
        " SELECT data->'data'->'agent' FROM events WHERE event_id = $event UNION ALL"
        " SELECT arguments FROM actions WHERE session = $session UNION ALL"
        " SELECT data FROM actions WHERE session = $session",
        parameters={"event": said.id, "session": f"keys: {kind}"},
    ).rows
    assert [json.loads(text) for (text,) in rows] == [keys] * 4
    mem.export(out := io.BytesIO())
    told = [parse_json(line) for line in out.getvalue().splitlines()]
    assert {"agent": keys} in [one["data"].get("data") for one in told if one["id"] == said.id]


@pytest.mark.bad_input(17)
def test_keys_that_differ_in_case_are_asked_for_by_their_own_case(mem):
    said = mem.observe("case", data={"agent": {"name": "a", "Name": "b"}})
    asked = (
        "SELECT data->'agent'->>'name', data->'agent'->>'Name', data->>'$.agent.name',"
        " data->>'$.agent.Name', data->>'$.agent.NAME' FROM observations WHERE event_id = ?"
    )
    assert mem.sql(asked, parameters=[said.id]).rows == [("a", "b", "a", "b", None)]


@pytest.mark.bad_input(17)
def test_a_key_that_stands_twice_is_refused_and_not_merged():
    with opened(agent="ops-1") as mem:
        said = mem.observe("x", data={"n": "here"})
        value = mem.engine.log.at(said.position).value
        put(mem, value.replace(b'"here"', b'{"a":1,"a":2}').replace(b'"x"', b'"twice"'))
        mem.wait_for(mem.observe("a neighbour").token)
        rows = mem.sql("SELECT text FROM observations ORDER BY log_offset").rows
        assert rows == [("x",), ("a neighbour",)]
        assert "stands twice" in foreign_in(mem.engine, CHECKPOINTS, records_max=1)[0].reason
