"""Filters whose names, operators or values are more than they should be."""

import pytest

from mnemolog.schemas.errors import InvalidEvent, InvalidSetting, MnemologError
from support.remembering import opened, texts

KEYS = (
    "x') OR 1=1 --",
    "agent; DROP TABLE events",
    "agent = agent OR agent",
    "agent__in",
    "agent.name",
    "$where",
    "`agent`",
    '"agent"',
    "AGENT",
    "agent ",
    "",
    "__class__",
    "id",
    "text",
    "metadata",
)
TEXT = "the lamp of room 3 is on"


@pytest.fixture(scope="module")
def mem():
    with opened(agent="ops-1") as memory:
        memory.wait_for(memory.remember(TEXT, tags=["lamp"], session="s").token)
        yield memory


@pytest.mark.bad_input(61)
@pytest.mark.parametrize("key", KEYS)
def test_a_key_that_is_no_filter_is_refused_by_name_and_returns_nothing(mem, key):
    for ask in (mem.recall, mem.timeline, mem.checkpoints):
        question = ["lamp"] if ask == mem.recall else []
        with pytest.raises(TypeError) as refused:
            ask(*question, **{key: "ops-1"})
        assert key in str(refused.value)
    assert texts(mem.recall("lamp")) == [TEXT]


OPERATORS = (
    {"$ne": None},
    {"$gt": ""},
    {"$in": ["ops-1"]},
    {"operator": "!=", "value": "x"},
    ["ops-1"],
    ("ops-1", "ops-2"),
    {"ops-1"},
    True,
    0,
    b"ops-1",
    object(),
)


@pytest.mark.bad_input(61)
@pytest.mark.parametrize("value", OPERATORS, ids=lambda value: repr(value)[:20])
@pytest.mark.parametrize("word", ["agent", "user", "project", "session", "task"])
def test_a_value_that_is_no_name_is_refused_by_the_filters_name(mem, word, value):
    with pytest.raises((InvalidEvent, InvalidSetting), match=word):
        mem.recall("lamp", **{word: value})
    if word in {"agent", "project", "session", "task"}:
        with pytest.raises(InvalidSetting, match=word):
            mem.timeline(**{word: value})


@pytest.mark.bad_input(61)
@pytest.mark.parametrize("value", ["lamp", {"$ne": 1}, [5], [None], [b"x"], [{"a": 1}], 7, [["x"]]])
@pytest.mark.parametrize("word", ["kinds", "tags"])
def test_a_list_that_is_none_or_holds_no_names_is_refused(mem, word, value):
    with pytest.raises(InvalidSetting, match=word):
        mem.recall("lamp", **{word: value})


@pytest.mark.bad_input(61)
@pytest.mark.parametrize(
    "name", ["1", "a b", "x') OR 1=1 --", "", "$1", "event_id; DROP TABLE events"]
)
def test_a_parameter_of_sql_is_bound_or_refused_and_never_pasted(mem, name):
    before = mem.sql("SELECT count(*) FROM events").rows
    with pytest.raises(MnemologError):
        mem.sql("SELECT * FROM events WHERE agent = $agent", parameters={name: "ops-1"})
    found = mem.sql("SELECT count(*) FROM events WHERE agent = ?", parameters=[f"{name}' OR 1=1"])
    assert found.rows == [(0,)]
    assert mem.sql("SELECT count(*) FROM events").rows == before


@pytest.mark.bad_input(61)
@pytest.mark.parametrize("value", [object(), b"\xff", {"a": {1}}, "\ud800", 10**400, [[object()]]])
def test_a_parameter_that_is_no_value_is_refused(mem, value):
    with pytest.raises(MnemologError):
        mem.sql("SELECT count(*) FROM events WHERE agent = ?", parameters=[value, value])
    for parameters in (5, "ops-1", [value]):
        try:
            found = mem.sql("SELECT count(*) FROM events WHERE agent = ?", parameters=parameters)
        except MnemologError:
            continue
        assert found.rows == [(0,)]
