"""What the writer holds in memory is bounded, and what it does not need is given back."""

import pytest

from mnemolog.projections.analytics import duckdb_store, projection
from mnemolog.projections.analytics.duckdb_store import (
    CHECKPOINT_THRESHOLD,
    MEMORY_LIMIT,
    let_go,
    open_live,
)
from mnemolog.schemas.events import experience as ex
from support.histories import batches, recorded

ROWS = 50_000


@pytest.fixture
def connection(tmp_path):
    with open_live(tmp_path / "analytics.duckdb") as connection:
        connection.execute(
            f"CREATE TABLE rows AS SELECT i, md5(i::VARCHAR) FROM range({ROWS}) t(i)"
        )
        connection.execute("CHECKPOINT live")
        connection.execute("SELECT count(DISTINCT rows) FROM rows").fetchall()  # all of it was read
        yield connection


def setting(connection, name):
    return connection.execute("SELECT current_setting(?)", [name]).fetchall()


def held(connection):
    query = "SELECT sum(memory_usage_bytes) FROM duckdb_memory()"
    [(held_bytes,)] = connection.execute(query).fetchall()
    return held_bytes


def test_the_writer_has_a_bound_and_writes_its_rows_to_the_file_long_before(connection):
    given = [setting(connection, name) for name in ("memory_limit", "checkpoint_threshold")]

    with duckdb_store.instance(
        memory_limit=MEMORY_LIMIT, checkpoint_threshold=CHECKPOINT_THRESHOLD
    ) as told:
        assert given == [setting(told, name) for name in ("memory_limit", "checkpoint_threshold")]


@pytest.mark.parametrize("limit", ["500KB", "1B"])
def test_pages_are_given_back_and_as_much_as_before_may_be_used(connection, monkeypatch, limit):
    monkeypatch.setattr(duckdb_store, "RESTING_LIMIT", limit)
    before, at_work = held(connection), setting(connection, "memory_limit")

    let_go(connection)

    assert held(connection) < before
    assert setting(connection, "memory_limit") == at_work
    assert connection.execute("SELECT count(*) FROM rows").fetchone() == (ROWS,)


def test_pages_are_given_back_now_and_then_and_after_publishing(owner, clock, monkeypatch):
    given = []
    monkeypatch.setattr(projection, "COMMITS_BETWEEN", 3)
    monkeypatch.setattr(projection, "let_go", lambda _: given.append(1))
    notes = [ex.ObservationRecorded(text=f"note {number}") for number in range(5)]

    for batch in batches(recorded(*notes), records_max=1):
        owner.apply(batch)
    assert len(given) == 1

    owner.follow_up(seconds_max=1)
    clock.seconds += 1
    owner.follow_up(seconds_max=1)  # nothing is new: nothing is published
    assert len(given) == 2
