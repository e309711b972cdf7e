"""What is set aside is told in a small file of its own, bounded, and again after a crash."""

import pytest

from contracts.ledger_contract import digits, parked
from contracts.projection_contract import Died, place_in
from mnemolog.projections import fault_points
from mnemolog.projections.analytics import projection as analytics
from mnemolog.projections.analytics import set_aside
from mnemolog.projections.analytics.duckdb_ledger import DuckDBLedger, create_ledger
from mnemolog.projections.analytics.duckdb_store import open_live
from mnemolog.projections.analytics.projection import AnalyticsProjection
from mnemolog.projections.analytics.set_aside import SetAside, read_set_aside, write_set_aside
from mnemolog.projections.ledger import Entries
from mnemolog.schemas.errors import Damaged, StoreUnavailable
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.positions import Position
from support.histories import batches, happened, recorded

NOTHING = {"parked": 0, "foreign": 0, "repeats": 0}


@pytest.fixture
def ledger(tmp_path):
    connection = open_live(tmp_path / "analytics.duckdb")
    create_ledger(connection)
    yield DuckDBLedger(connection)
    connection.close()


@pytest.fixture
def failing(monkeypatch):
    def fail(batch, step):
        raise RuntimeError("the rule broke")

    monkeypatch.setattr(analytics, "formed_in", fail)


def one_note():
    (batch,) = batches(recorded(happened(ex.ObservationRecorded(text="secret 4711"))))
    return batch


def test_nothing_is_told_of_a_generation_that_is_being_made(tmp_path):
    assert read_set_aside(tmp_path) == SetAside()


def test_a_new_generation_tells_that_nothing_is_set_aside(tmp_path):
    AnalyticsProjection.open(place_in(tmp_path)).close()
    assert read_set_aside(place_in(tmp_path).folder) == SetAside(NOTHING)


def test_a_parked_event_is_told_without_what_it_says(tmp_path, failing):
    place = place_in(tmp_path)
    projection = AnalyticsProjection.open(place)
    projection.apply(one_note())
    told = read_set_aside(place.folder)
    assert told.counts == {**NOTHING, "parked": 1}
    (one,) = told.parked
    (whole,) = projection.parked()
    assert one.position == Position(0, 0)
    assert (one.key, one.identity, one.event_type) == (whole.key, whole.identity, whole.event_type)
    assert (one.reason, one.newer, one.behind) == ("RuntimeError: the rule broke", False, False)
    assert b"4711" in whole.record.value
    assert b"4711" not in (place.folder / set_aside.FILE).read_bytes()
    projection.close()


def test_a_crash_after_the_commit_is_made_good_by_the_next_opening(tmp_path, failing):
    place = place_in(tmp_path)
    projection = AnalyticsProjection.open(place)

    def die(point):
        if point == "analytics.committed":
            raise Died

    with fault_points.listening(die), pytest.raises(Died):
        projection.apply(one_note())
    projection.close()
    assert read_set_aside(place.folder).counts == NOTHING
    AnalyticsProjection.open(place).close()
    assert read_set_aside(place.folder).counts == {**NOTHING, "parked": 1}


def test_what_could_not_be_told_is_told_before_anything_is_published(tmp_path, failing):
    place = place_in(tmp_path)
    projection = AnalyticsProjection.open(place)
    (place.folder / set_aside.FILE).unlink()
    (place.folder / set_aside.FILE).mkdir()  # as a disk that refuses it
    with pytest.raises(StoreUnavailable):
        projection.apply(one_note())
    (place.folder / set_aside.FILE).rmdir()
    projection.follow_up(seconds_max=1)
    assert read_set_aside(place.folder).counts == {**NOTHING, "parked": 1}
    projection.close()


def test_the_first_faults_and_the_last_parked_are_told_and_the_count_is_exact(
    ledger, tmp_path, monkeypatch
):
    monkeypatch.setattr(set_aside, "FIRST_MAX", 2)
    monkeypatch.setattr(set_aside, "LAST_MAX", 3)
    waiting = [parked(n, reason="x" * 9_999, behind=n not in {1, 4, 5}) for n in range(20)]
    ledger.record(Entries(parked=waiting))
    write_set_aside(tmp_path, ledger)
    told = read_set_aside(tmp_path)
    assert [one.position.offset for one in told.parked] == [1, 4, 17, 18, 19]
    assert told.counts["parked"] == 20
    assert told.parked[0].identity == digits(1)
    assert {len(one.reason) for one in told.parked} == {set_aside.REASON_CHARS_MAX}


def test_what_is_told_already_is_not_written_again(ledger, tmp_path):
    write_set_aside(tmp_path, ledger)
    before = (tmp_path / set_aside.FILE).stat().st_ino
    write_set_aside(tmp_path, ledger)
    assert (tmp_path / set_aside.FILE).stat().st_ino == before


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"counts": {}, "parked": [{}]}'])
def test_what_cannot_be_read_is_damaged(tmp_path, content):
    (tmp_path / set_aside.FILE).write_bytes(content)
    with pytest.raises(Damaged, match="set-aside"):
        read_set_aside(tmp_path)
