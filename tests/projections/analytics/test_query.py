"""One read-only question; whatever else is asked for is refused in words."""

import pytest

from contracts.projection_contract import place_in
from mnemolog.projections.analytics.projection import AnalyticsProjection
from mnemolog.projections.analytics.publishing import published_file
from mnemolog.projections.analytics.query import query
from mnemolog.schemas.errors import Damaged, InvalidSetting, NotFound, TimedOut
from support.eventful import eventful_history
from support.histories import batches, recorded


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tenant's folder")  # the quote has to be written twice
    projection = AnalyticsProjection.open(place_in(folder))
    for batch in batches(recorded(*eventful_history())):
        projection.apply(batch)
    projection.publish(published_file(folder).parent)
    projection.close()
    return published_file(folder)


def test_an_answer_has_names_types_and_rows(published):
    table = query(published, "SELECT role, count(*) AS n FROM messages GROUP BY role")
    assert table.columns == ("role", "n")
    assert table.types == ("VARCHAR", "BIGINT")
    assert table.rows == [("user", 2)]
    assert not table.truncated


def test_an_answer_without_rows_still_has_its_columns(published):
    table = query(published, "SELECT what FROM decisions WHERE false")
    assert (table.columns, table.rows, table.truncated) == (("what",), [], False)


def test_parameters_are_values_and_never_sql(published):
    hostile = "x' OR '1'='1"
    assert query(published, "SELECT ?", parameters=[hostile]).rows == [(hostile,)]
    assert query(published, "SELECT $a + 1", parameters={"a": 2}).rows == [(3,)]


def test_rows_beyond_the_bound_are_cut_and_told(published):
    table = query(published, "SELECT event_id FROM events", rows_max=3)
    assert (len(table.rows), table.truncated) == (3, True)
    table = query(published, "FROM range(3)", rows_max=3)
    assert (len(table.rows), table.truncated) == (3, False)
    with pytest.raises(InvalidSetting):
        query(published, "SELECT 1", rows_max=0)


@pytest.mark.parametrize(
    "asking",
    [
        "DESCRIBE events",
        "SHOW TABLES",
        "SUMMARIZE messages",
        "EXPLAIN SELECT 1",
        "VALUES (1)",
        "WITH x AS (SELECT 1) FROM x",
        "SELECT 1;",
        "-- why\nSELECT 1",
    ],
)
def test_whatever_asks_is_answered(published, asking):
    assert query(published, asking).rows


@pytest.mark.parametrize(
    "statement",
    [
        "COPY events TO '{folder}/stolen.csv'",
        "COPY (SELECT 1) TO '{folder}/stolen.parquet'",
        "EXPORT DATABASE '{folder}/stolen'",
        "ATTACH '{folder}/other.db' AS other",
        "ATTACH ':memory:' AS other",
        "DETACH published",
        "FROM read_csv('{folder}/secret.csv')",
        "FROM '{folder}/secret.csv'",
        "FROM read_text('{folder}/secret.csv')",
        "FROM read_blob('/etc/hostname')",
        "FROM read_json('{folder}/secret.csv')",
        "FROM parquet_scan('{folder}/*')",
        "FROM glob('{folder}/*')",
        "INSTALL httpfs",
        "LOAD httpfs",
        "LOAD '{folder}/x.duckdb_extension'",
        "SET enable_external_access = true",
        "SET memory_limit = '100GB'",
        "RESET lock_configuration",
        "PRAGMA enable_profiling",
        "CREATE SECRET s (TYPE s3)",
        "CREATE TABLE mine (i INTEGER)",
        "CREATE TEMP TABLE mine (i INTEGER)",
        "INSERT INTO events SELECT * FROM events",
        "WITH x AS (SELECT 1) INSERT INTO published FROM x",
        "UPDATE events SET type = 'x'",
        "DELETE FROM events",
        "DROP VIEW memories",
        "EXPLAIN ANALYZE DELETE FROM events",
        "PREPARE p AS SELECT 1",
        "CHECKPOINT",
        "SELECT 1; SELECT 2",
        "",
        "-- nothing",
        "SELEC 1",
        "SELECT nothing_like_this FROM events",
        "SELECT ?",
        "FROM published_file",
        "SELECT 'x'::INTEGER",
        "SELECT '\ud800'",
    ],
)
def test_whatever_writes_or_reaches_out_is_refused_in_words(published, tmp_path, statement):
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    before = published.read_bytes()
    with pytest.raises(InvalidSetting) as refused:
        query(published, statement.format(folder=tmp_path))
    assert len(str(refused.value)) > len("sql = '': ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.csv"]
    assert published.read_bytes() == before


def test_a_refusal_has_the_words_of_duckdb(published):
    with pytest.raises(InvalidSetting, match="nothing_like_this"):
        query(published, "SELECT nothing_like_this FROM events")


def test_a_question_that_takes_too_long_is_given_up(published):
    endless = (
        "SELECT count(*) FROM range(10_000_000) a, range(1_000_000) b WHERE a.range * b.range = 7"
    )
    with pytest.raises(TimedOut):
        query(published, endless, seconds_max=0.2)


def test_a_question_that_needs_too_much_memory_is_told_so(published):
    with pytest.raises(InvalidSetting):
        query(published, "SELECT list(range) FROM range(300_000_000)")


def test_nothing_published_yet_is_not_found(tmp_path):
    with pytest.raises(NotFound):
        query(tmp_path / "analytics.duckdb", "SELECT 1")


def test_a_file_that_is_no_database_is_damaged(tmp_path):
    path = tmp_path / "analytics.duckdb"
    path.write_bytes(b"not a database" * 1_000)
    with pytest.raises(Damaged):
        query(path, "SELECT 1")


def test_parameters_that_hold_themselves_are_refused_by_name(published):
    itself = []
    itself.append(itself)
    for parameters in (itself, [itself], {"a": {"b": itself}}):
        with pytest.raises(InvalidSetting, match="parameters"):
            query(published, "SELECT 1", parameters=parameters)
