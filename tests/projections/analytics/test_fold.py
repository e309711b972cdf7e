"""The fold in SQL gives the rows of the plain one, for any history and however it comes."""

import json
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contracts.projection_contract import place_in
from mnemolog.projections.analytics.projection import AnalyticsProjection
from mnemolog.projections.analytics.tables import TABLES, VIEWS
from mnemolog.projections.digests import ContentDigest
from mnemolog.schemas.decoded import Ours
from support import analytics_reference as reference
from support import analytics_views
from support.eventful import eventful_history
from support.histories import appended_again, batches, deliveries, recorded
from support.random_histories import histories

SOME = settings(
    max_examples=12,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes of disk
    suppress_health_check=list(HealthCheck),
)


@contextmanager
def opened():
    with tempfile.TemporaryDirectory() as name:
        projection = AnalyticsProjection.open(place_in(Path(name)))
        try:
            yield projection
        finally:
            projection.close()


def found_in(projection, relation: str) -> list[dict]:
    cursor = projection._connection.cursor()
    cursor.execute("USE live")
    cursor.execute(f"FROM {relation}")
    columns = [(column[0], str(column[1])) for column in cursor.description]
    return [
        {
            name: json.loads(value) if kind == "JSON" and value is not None else value
            for (name, kind), value in zip(columns, row, strict=True)
        }
        for row in cursor.fetchall()
    ]


def counted(rows: list[dict], names: set[str] | None = None) -> Counter[str]:
    """Return *rows* so that they can be compared: true is not 1, 1 is not 1.0 in JSON."""
    kept = [{n: v for n, v in row.items() if names is None or n in names} for row in rows]
    return Counter(json.dumps(row, sort_keys=True, default=str) for row in kept)


def assert_as_expected(projection, records, *, partitions: int = 1) -> None:
    [batch] = batches(records, records_max=len(records), partitions=partitions)
    assert all(isinstance(item, Ours) for item in batch.items)
    expected = reference.tables(batch)
    for table in TABLES:
        assert_same(table, counted(found_in(projection, table)), counted(expected[table]))
    for view, derive in analytics_views.VIEWS.items():
        rows = derive(expected)
        names = set(rows[0]) if rows else set()
        assert_same(view, counted(found_in(projection, view), names), counted(rows))


def assert_same(relation: str, found: Counter[str], expected: Counter[str]) -> None:
    too_many, missing = found - expected, expected - found
    assert (relation, list(too_many), list(missing)) == (relation, [], [])


def test_the_plain_fold_knows_every_table_and_view(tmp_path):
    records = recorded(*eventful_history())
    [batch] = batches(records)
    expected = reference.tables(batch)
    assert {table for table in TABLES if expected[table]} == set(TABLES)
    assert set(analytics_views.VIEWS) == set(VIEWS)


@SOME
@given(history=histories())
def test_a_whole_history_gives_the_rows_of_the_plain_fold(history):
    records = recorded(*history)
    with opened() as projection:
        for batch in batches(records):
            projection.apply(batch)
        assert list(projection.parked()) == []
        assert_as_expected(projection, records)


@SOME
@given(history=histories(), data=st.data())
def test_cuts_repeats_and_interleavings_give_the_rows_of_the_plain_fold(history, data):
    records = recorded(*history, partitions=2)
    with opened() as projection:
        for batch in data.draw(deliveries(records, partitions=2)):
            projection.apply(batch)
        again = appended_again(records, records)[len(records) :]
        for batch in batches(again, records_max=5, partitions=2):
            projection.apply(batch)
        assert_as_expected(projection, records, partitions=2)


@SOME
@given(history=histories(), size=st.integers(1, 9))
def test_two_ways_of_cutting_a_history_give_one_digest(history, size):
    records = recorded(*history)
    digests = set()
    for records_max in (len(records), size):
        with opened() as projection:
            for batch in batches(records, records_max=records_max):
                projection.apply(batch)
            digests.add(ContentDigest.of(projection.content()).hex)
    assert len(digests) == 1


@pytest.mark.parametrize("records_max", [1, 7, 1_000])
def test_the_eventful_history_gives_the_rows_of_the_plain_fold(records_max):
    history = [one for one in eventful_history() if not one.event.event_type.startswith("policy")]
    records = recorded(*history)
    with opened() as projection:
        for batch in batches(records, records_max=records_max):
            projection.apply(batch)
        assert_as_expected(projection, records)
