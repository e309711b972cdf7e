"""A file that lost something is either an earlier whole state, which the log completes, or told."""

import shutil

import duckdb
import pytest

from contracts.projection_contract import place_in
from mnemolog.projections.analytics.projection import DATABASE, AnalyticsProjection
from mnemolog.projections.digests import ContentDigest
from mnemolog.schemas.errors import Damaged
from support.eventful import eventful_history
from support.histories import batches, recorded

RECORDS = recorded(*eventful_history())
CAME = list(batches(RECORDS, records_max=4))


def killed(folder):
    """Return the folder of a generation whose owner was killed: nothing was closed."""
    alive = place_in(folder / "alive")
    projection = AnalyticsProjection.open(alive)
    for batch in CAME:
        projection.apply(batch)
    left = place_in(folder / "left")
    shutil.copytree(alive.folder, left.folder, dirs_exist_ok=True)
    wanted = ContentDigest.of(projection.content()).hex
    projection.close()
    return left, wanted


@pytest.fixture(scope="module")
def after_kill(tmp_path_factory):
    place, wanted = killed(tmp_path_factory.mktemp("killed"))
    assert place.folder.joinpath(f"{DATABASE}.wal").stat().st_size > 0
    return place, wanted


def copy_of(place, folder):
    copied = place_in(folder)
    shutil.copytree(place.folder, copied.folder, dirs_exist_ok=True)
    return copied, copied.folder / f"{DATABASE}.wal"


def completed(place) -> tuple[int, str]:
    """Open, give the whole log again; return how many events were lost, and the digest."""
    projection = AnalyticsProjection.open(place)
    try:
        at = projection.progress()
        lost = RECORDS[-1].offset - (at[0].last_applied if at else -1)
        for batch in CAME:
            projection.apply(batch)
        return lost, ContentDigest.of(projection.content()).hex
    finally:
        projection.close()


def test_a_killed_owner_lost_nothing(after_kill, tmp_path):
    place, wanted = after_kill
    copied, _ = copy_of(place, tmp_path)
    assert completed(copied) == (0, wanted)


@pytest.mark.bad_input(75)
@pytest.mark.parametrize("cut_bytes", [1, 7, 100, 5_000, 40_000])
def test_a_log_of_writes_that_was_cut_short_is_completed_from_the_log(
    after_kill, tmp_path, cut_bytes
):
    place, wanted = after_kill
    copied, wal = copy_of(place, tmp_path)
    content = wal.read_bytes()
    wal.write_bytes(content[:-cut_bytes])
    lost, digest = completed(copied)
    assert lost > 0
    assert digest == wanted


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_log_of_writes_that_was_overwritten_within_is_completed_or_told(
    after_kill, tmp_path, share
):
    place, wanted = after_kill
    copied, wal = copy_of(place, tmp_path)
    content = bytearray(wal.read_bytes())
    at = int(len(content) * share)
    content[at : at + 16] = b"\xa5" * 16
    wal.write_bytes(content)
    try:
        lost, digest = completed(copied)
    except Damaged:
        return
    assert lost > 0
    assert digest == wanted


def test_rows_that_are_gone_are_told(after_kill, tmp_path):
    place, _ = after_kill
    copied, _ = copy_of(place, tmp_path)
    completed(copied)
    with duckdb.connect(str(copied.folder / DATABASE)) as connection:
        connection.execute("DELETE FROM messages WHERE log_offset < 5")
    with pytest.raises(Damaged, match="messages has 0 rows of 2"):
        AnalyticsProjection.open(copied)


def test_events_without_their_mark_in_the_ledger_are_told(after_kill, tmp_path):
    place, _ = after_kill
    copied, _ = copy_of(place, tmp_path)
    completed(copied)
    with duckdb.connect(str(copied.folder / DATABASE)) as connection:
        connection.execute(
            "DELETE FROM ledger.seen WHERE identity IN (SELECT min(identity) FROM events)"
        )
    with pytest.raises(Damaged, match="were seen"):
        AnalyticsProjection.open(copied)


@pytest.mark.parametrize(
    "content", [b"", b"no database" * 5_000, None], ids=["empty", "garbage", "cut"]
)
def test_a_file_that_cannot_be_read_is_told_and_does_not_stop_the_next_open(
    after_kill, tmp_path, content
):
    place, _ = after_kill
    copied, _ = copy_of(place, tmp_path)
    completed(copied)
    path = copied.folder / DATABASE
    path.write_bytes(path.read_bytes()[:20_000] if content is None else content)
    for _ in range(2):
        with pytest.raises(Damaged):
            AnalyticsProjection.open(copied)


def test_a_log_of_writes_whose_file_is_gone_is_told(after_kill, tmp_path):
    place, _ = after_kill
    copied, _ = copy_of(place, tmp_path)
    (copied.folder / DATABASE).unlink()
    with pytest.raises(Damaged, match="write-ahead log"):
        AnalyticsProjection.open(copied)
