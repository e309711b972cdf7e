"""A filter of the index lets through what a full scan lets through, whatever the values are."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolog.projections.memories.composing import composed
from mnemolog.projections.memories.contributions import Contribution
from mnemolog.projections.memories.lance_filters import condition, equals, is_one_of
from mnemolog.projections.memories.lance_index import LanceIndex
from mnemolog.projections.memories.lance_reader import ROWS_MAX, LanceMemoryReader
from mnemolog.projections.memories.lance_schema import Served
from mnemolog.projections.memories.rows import Filter
from mnemolog.projections.memories.state import StoredMemory
from support.histories import START
from support.in_memory_reader import passes
from support.memory_generations import formed

NAMES = ["ops-1", "O'Brien", "x' OR '1'='1", 'say "hi"', "北京", "a&b=c", "\\", "%", "--", "tags"]
TAGS = ["urgent", "it's", "a,b", "[x]", "标签", ""]
TICK = timedelta(microseconds=1)
EVERYTHING = Filter(current=False)


def stored(number):
    """Return the *number*-th memory of a set in which each value meets each other somewhere."""
    name = NAMES[number % len(NAMES)]
    begun, ended = START + TICK * (number % 4), START + TICK * (number % 7)
    memory = formed(
        number,
        kind=("episode", "fact", "constraint")[number % 3],
        importance=(number * 137) % 1001,
        tags=tuple(TAGS[i] for i in range(len(TAGS)) if number >> i & 1),
        occurred_at=START + TICK * (number % 5),
        valid_from=None if number % 3 else begun,
        valid_until=None if number % 5 else ended,
        agent=name,
        user=None if number % 2 else name,
        project=NAMES[number % 3],
        session=NAMES[number // 7 % len(NAMES)],
        task=NAMES[-1 - number % 4],
    )
    of = {"target": memory.id, "cause": "c", "key": "k", "offset": 0, "occurred_at": 0}
    said = [Contribution(kind="superseded", **of)] if number % 11 == 0 else []
    said += [Contribution(kind="archived", **of)] if number % 13 == 0 else []
    return StoredMemory(composed(memory, said), "0" * 32, 0, None)


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filters")
    index = LanceIndex.open(folder, dimensions=2)
    index.upsert([Served(stored(number), None) for number in range(240)], sequence=1)
    return LanceMemoryReader(folder, model_id="none", dimensions=2)


@pytest.fixture(scope="module")
def rows(reader):
    found = reader.latest(where=EVERYTHING, rows_max=ROWS_MAX)
    assert len(found) == 240
    return found


names = st.one_of(st.none(), st.sampled_from([*NAMES, "nobody", "\ud800", "\0"]))
moments = st.one_of(st.none(), st.integers(-1, 8).map(lambda count: START + TICK * count))
filters = st.builds(
    Filter,
    agent=names,
    user=names,
    project=names,
    session=names,
    task=names,
    kinds=st.lists(st.sampled_from(["episode", "fact", "x' OR true --"]), max_size=2),
    tags=st.lists(st.sampled_from([*TAGS, "') OR true --"]), max_size=2),
    importance_min=st.one_of(
        st.just(0.0), st.floats(0, 1), st.integers(0, 1000).map(lambda n: n / 1000)
    ),
    occurred_from=moments,
    occurred_until=moments,
    current=st.booleans(),
    valid_at=moments,
)
one_field = st.one_of(
    *(st.builds(Filter, **{name: names}) for name in ("agent", "user", "project", "session")),
    filters,
)


@pytest.mark.bad_input(59)
@settings(max_examples=60)
@given(where=one_field)
def test_a_filter_equals_a_full_scan(reader, rows, where):
    found = {row.id for row in reader.latest(where=where, rows_max=ROWS_MAX)}
    assert found == {row.id for row in rows if passes(row, where)}


def test_no_filter_is_no_restriction(reader):
    assert condition(EVERYTHING) == "true"
    assert len(reader.latest(where=EVERYTHING, rows_max=1_000)) == 240


@pytest.mark.parametrize("share", [0.29, 0.57, 0.001, 0.9999, 1.0, 5.0, float("inf")])
def test_an_importance_is_compared_as_its_share_is_shown(reader, rows, share):
    found = {row.id for row in reader.latest(where=Filter(importance_min=share), rows_max=1_000)}
    assert found == {row.id for row in rows if passes(row, Filter(importance_min=share))}


@pytest.mark.parametrize(
    "far",
    [
        datetime.max.replace(tzinfo=UTC),
        datetime.min.replace(tzinfo=UTC),
        datetime(2199, 12, 31, tzinfo=UTC),
    ],
)
def test_times_far_away_are_compared_too(reader, far):
    wide = Filter(current=False, occurred_from=far)
    narrow = Filter(current=False, occurred_until=far)
    lot = [len(reader.latest(where=where, rows_max=1_000)) for where in (wide, narrow)]
    assert sorted(lot) == [0, 240]


@pytest.mark.bad_input(57)
def test_a_value_is_never_more_than_a_value():
    assert equals("id", "x' OR '1'='1") == "`id` = 'x'' OR ''1''=''1'"
    assert is_one_of("id", ["a", "b'"]) == "`id` IN ('a', 'b''')"
    assert is_one_of("id", []) == "false"
    assert equals("id", "\ud800") == "`id` = NULL"


@pytest.mark.bad_input(57)
def test_a_delete_hits_the_named_ids_only(tmp_path):
    index = LanceIndex.open(tmp_path, dimensions=2)
    named = ["o'brien", "x' OR '1'='1", "plain"]
    kept = [
        Served(StoredMemory(composed(formed(n, id=id_), ()), "0" * 32, 0, None), None)
        for n, id_ in enumerate(named)
    ]
    index.upsert(kept, sequence=1)
    index.delete(["x' OR '1'='1", "nobody"])
    assert set(index.written()) == {"o'brien", "plain"}
