"""`columns` tells what every column means; no name needs quotes; every .sql has its function."""

import ast
import re
from pathlib import Path

import pytest

import mnemolog.projections.analytics as package
from contracts.projection_contract import place_in
from mnemolog.projections.analytics.projection import AnalyticsProjection
from mnemolog.projections.analytics.tables import RELATIONS, TABLES, VIEWS
from support.eventful import eventful_history
from support.histories import batches, recorded

FOLDER = Path(package.__file__).parent


@pytest.fixture(scope="module")
def connection(tmp_path_factory):
    projection = AnalyticsProjection.open(place_in(tmp_path_factory.mktemp("columns")))
    for batch in batches(recorded(*eventful_history())):
        projection.apply(batch)
    yield projection._connection
    projection.close()


def actual(connection) -> set[tuple[str, str, str]]:
    return {
        (relation, row[0], row[1])
        for relation in RELATIONS
        for row in connection.execute(f"DESCRIBE {relation}").fetchall()
    }


def test_every_relation_is_known(connection):
    shown = {
        name
        for (name,) in connection.execute(
            "SELECT table_name FROM information_schema.tables"
            " WHERE table_catalog = 'live' AND table_schema = 'main'"
        ).fetchall()
    }
    assert shown == set(RELATIONS)
    assert set(RELATIONS) == {*TABLES, *VIEWS, "published", "columns"}


def test_every_column_is_described_once_with_its_type_and_no_other_is(connection):
    rows = connection.execute("SELECT table_name, column_name, column_type FROM columns").fetchall()
    assert len(rows) == len(set(rows))
    assert set(rows) == actual(connection)


def test_every_meaning_is_a_sentence_and_every_number_and_time_has_its_unit(connection):
    rows = connection.execute("SELECT * FROM columns").fetchall()
    for table, column, kind, meaning, unit, _ in rows:
        assert re.fullmatch(r"[A-Z0-9a-z].*\.(?:\.\.)?", meaning), (table, column)
        assert kind != "TIMESTAMP" or unit == "UTC", (table, column)
        assert unit is None or unit.strip(), (table, column)


def test_every_join_that_is_named_runs(connection):
    types = {(table, column): kind for table, column, kind in actual(connection)}
    joins = connection.execute(
        "SELECT table_name, column_name, joins_with FROM columns WHERE joins_with IS NOT NULL"
    ).fetchall()
    assert len(joins) > 50
    for table, column, other in joins:
        other_table, other_column = other.split(".")
        mine, theirs = types[table, column], types[other_table, other_column]
        assert mine.removesuffix("[]") == theirs, (table, column)
        value = f"unnest(a.{column})" if mine.endswith("[]") else f"a.{column}"
        connection.execute(
            f"SELECT count(*) FROM (SELECT {value} AS v FROM {table} a) a"
            f" JOIN {other_table} b ON a.v = b.{other_column}"
        ).fetchall()


@pytest.mark.bad_input(59)
def test_no_name_needs_quotes(connection):
    for table, column, _ in actual(connection):
        connection.execute(
            f"SELECT {column}, {table}.{column} FROM {table} ORDER BY {column} LIMIT 1"
        )


def test_every_sql_file_is_loaded_by_exactly_one_function_of_its_name():
    loaded = []
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                loaded += [(node.name, name) for name in _loaded_by(node)]
    files = sorted(path.stem for path in (FOLDER / "sql").glob("*.sql"))
    assert sorted(loaded) == [(name, name) for name in files]


def _loaded_by(function: ast.FunctionDef) -> list[str]:
    calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    named = [c for c in calls if isinstance(c.func, ast.Name) and c.func.id == "sql"]
    return [c.args[0].value for c in named if isinstance(c.args[0], ast.Constant)]
