"""What is published can be opened by anyone, at any time, and is whole."""

import subprocess
import sys
from contextlib import suppress

import duckdb
import pyarrow.parquet as pq
import pytest

from contracts.projection_contract import place_in
from mnemolog.projections import fault_points
from mnemolog.projections.analytics import publishing as pub
from mnemolog.projections.analytics.projection import DATABASE, AnalyticsProjection
from mnemolog.projections.analytics.query import query
from mnemolog.projections.analytics.tables import RELATIONS
from mnemolog.projections.generations import Generations
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.eventful import eventful_history
from support.histories import batches, identity, recorded


def apply(owner, *events, after: int = 0):
    for batch in batches(recorded(*events)[after:]):
        owner.apply(batch)


def notes(count: int):
    return [ex.ObservationRecorded(text=f"note {number}") for number in range(count)]


def test_the_published_tables_are_the_live_ones_without_what_is_internal(owner, tmp_path):
    apply(owner, *eventful_history())
    owner.publish(pub.published_folder(tmp_path))
    path = pub.published_file(tmp_path)
    for relation in RELATIONS:
        live = owner._connection.execute(f"FROM {relation} ORDER BY ALL").fetchall()
        there = query(path, f"FROM {relation} ORDER BY ALL").rows
        parquet = duckdb.sql(
            f"FROM '{tmp_path}/published/parquet/{relation}.parquet' ORDER BY ALL"
        ).fetchall()
        assert len(there) == len(parquet)
        if relation != "published":
            assert there == live
    schemas = query(path, "SELECT DISTINCT schema_name FROM duckdb_tables()").rows
    assert schemas == [("main",)]
    names = {
        name for (name,) in query(path, "SELECT table_name FROM information_schema.tables").rows
    }
    assert names == set(RELATIONS)


def test_published_tells_positions_times_and_the_generation(owner, tmp_path):
    records = recorded(*notes(3))
    apply(owner, *notes(3))
    owner.publish(pub.published_folder(tmp_path))
    rows = query(pub.published_file(tmp_path), "FROM published").rows
    assert rows == [(0, 2, records[-1].recorded_at.replace(tzinfo=None), "000001")]
    assert pub.published_positions(tmp_path) == {0: 2}


def test_an_empty_log_can_be_published(owner, tmp_path):
    owner.publish(pub.published_folder(tmp_path))
    assert pub.published_positions(tmp_path) == {}
    assert query(pub.published_file(tmp_path), "SELECT count(*) FROM memories").rows == [(0,)]


def test_nothing_is_published_yet(tmp_path):
    assert pub.published_positions(tmp_path) == {}
    assert not pub.published_file(tmp_path).exists()


def test_a_forget_is_published_at_once_also_by_the_next_owner(owner, tmp_path):
    secret = ex.ObservationRecorded(text="4711 is the code")
    apply(owner, secret)
    owner.follow_up(seconds_max=1)
    apply(owner, secret, mem.MemoryForgotten(events=(identity("e0"),)))
    owner.close()
    place = place_in(tmp_path)
    after = AnalyticsProjection.open(place)
    after.follow_up(seconds_max=1)
    assert query(pub.published_file(tmp_path), "SELECT text FROM observations").rows == [(None,)]
    inode = pub.published_file(tmp_path).stat().st_ino
    after.follow_up(seconds_max=1)
    assert pub.published_file(tmp_path).stat().st_ino == inode
    after.close()


def test_a_generation_that_does_not_serve_publishes_nothing_by_itself(owner, tmp_path):
    apply(owner, *notes(1))
    other = place_in(tmp_path).folder.parent / "000002"
    other.mkdir()
    Generations(other.parent).serve(other)
    owner.follow_up(seconds_max=1)
    assert not pub.published_file(tmp_path).exists()


def test_another_generation_is_published_as_soon_as_it_serves(owner, tmp_path):
    apply(owner, *notes(1))
    owner.follow_up(seconds_max=1)
    place = place_in(tmp_path)
    folder = place.folder.parent / "000002"
    fresh = AnalyticsProjection.open(type(place)(folder, "t", tmp_path, "topic"))
    apply(fresh, *notes(1))
    Generations(folder.parent).serve(folder)
    fresh.follow_up(seconds_max=1)
    rows = query(pub.published_file(tmp_path), "SELECT generation FROM published").rows
    assert rows == [("000002",)]
    fresh.close()


def test_readers_keep_what_they_have_open_and_see_the_next_when_they_ask_again(owner, tmp_path):
    apply(owner, *notes(1))
    owner.publish(pub.published_folder(tmp_path))
    path = pub.published_file(tmp_path)
    reader = duckdb.connect()
    reader.execute(f"ATTACH '{path}' AS former (READ_ONLY)")
    apply(owner, *notes(2))
    owner.publish(pub.published_folder(tmp_path))
    assert reader.execute("SELECT count(*) FROM former.events").fetchone() == (1,)
    assert query(path, "SELECT count(*) FROM events").rows == [(2,)]
    assert pub.published_positions(tmp_path) == {0: 1}
    reader.close()


def test_another_process_reads_what_is_published_while_the_owner_has_its_file_open(owner, tmp_path):
    apply(owner, *notes(2))
    owner.publish(pub.published_folder(tmp_path))
    code = "import duckdb, sys; print(duckdb.connect(sys.argv[1], read_only=True).sql(sys.argv[2]))"

    def ask(path):
        command = [sys.executable, "-c", code, str(path), "SELECT count(*) AS n FROM memories"]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    assert "2" in ask(pub.published_file(tmp_path)).stdout
    live = place_in(tmp_path).folder / DATABASE
    assert "lock" in ask(live).stderr


def test_a_second_owner_in_another_process_is_refused(owner, tmp_path):
    code = (
        "import sys; from pathlib import Path\n"
        "from mnemolog.projections.analytics.duckdb_store import open_live\n"
        "open_live(Path(sys.argv[1]))"
    )
    live = place_in(tmp_path).folder / DATABASE
    refused = subprocess.run(
        [sys.executable, "-c", code, str(live)], check=False, capture_output=True, text=True
    )
    assert StoreUnavailable.__name__ in refused.stderr


@pytest.mark.parametrize("point", ["analytics.draft-written", "analytics.published"])
def test_a_crash_while_publishing_leaves_whole_files_and_the_next_publish_tidies_up(
    owner, tmp_path, point
):
    class Died(BaseException):
        pass

    def die(reached):
        if reached == point:
            raise Died

    folder = pub.published_folder(tmp_path)
    apply(owner, *notes(1))
    owner.publish(folder)
    apply(owner, *notes(2))
    with suppress(Died), fault_points.listening(die):
        owner.publish(folder)
    there = query(pub.published_file(tmp_path), "SELECT count(*) FROM events").rows
    assert there == [(2,)] if point == "analytics.published" else [(1,)]
    assert pq.read_table(folder / "parquet" / "events.parquet").num_rows in {1, 2}
    (folder / ".left.draft").write_text("of an earlier crash")
    owner.publish(folder)
    assert pub.published_positions(tmp_path) == {0: 1}
    assert not [path for path in folder.rglob("*") if path.name.startswith(".")]


def test_a_damaged_published_file_is_replaced(owner, tmp_path):
    apply(owner, *notes(1))
    folder = pub.published_folder(tmp_path)
    folder.mkdir()
    pub.published_file(tmp_path).write_bytes(b"no database" * 999)
    owner.follow_up(seconds_max=1)
    assert pub.published_positions(tmp_path) == {0: 0}
