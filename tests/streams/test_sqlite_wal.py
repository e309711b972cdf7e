"""A write-ahead log of the embedded log that is damaged: what SQLite would drop is told."""

import shutil

import pytest

from mnemolog.schemas.errors import LogDamaged, NewerRelease
from mnemolog.streams.sqlite_file import FORMAT
from mnemolog.streams.sqlite_log import SQLiteLog
from support.log_records import everything, numbered

RECORDS = 60
TENANT = "acme"


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """Return the folder of a log whose writer died: nothing was closed, all is in the WAL."""
    alive, left = tmp_path_factory.mktemp("alive"), tmp_path_factory.mktemp("left")
    log = SQLiteLog.open(alive / "log.db", tenant=TENANT)
    for number in range(RECORDS):
        log.append([numbered(number, value=b"x" * 300 + str(number).encode())])
    shutil.copytree(alive, left, dirs_exist_ok=True)
    log.close()
    return left


@pytest.fixture
def path(killed, tmp_path):
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    return tmp_path / "log.db"


def wal_of(path):
    return path.with_name("log.db-wal")


def overwrite(path, *, share, count=32):
    content = bytearray(path.read_bytes())
    at = int(len(content) * share)
    content[at : at + count] = b"\xa5" * count
    path.write_bytes(content)


def opened(path, **more):
    return SQLiteLog.open(path, tenant=TENANT, **more)


def test_a_killed_writer_lost_nothing(path):
    log = opened(path)
    assert len(everything(log)) == RECORDS
    log.close()


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_commits_behind_damage_are_told_and_nothing_is_dropped(path, share):
    overwrite(wal_of(path), share=share)
    before = wal_of(path).read_bytes()
    for _ in range(2):
        with pytest.raises(LogDamaged, match=r"log\.db-wal .* commits behind 0@\d+ can't be read"):
            opened(path)
    assert wal_of(path).read_bytes() == before


def test_a_damaged_header_is_told_and_nothing_is_dropped(path):
    overwrite(wal_of(path), share=0)
    before = wal_of(path).read_bytes()
    with pytest.raises(LogDamaged, match=r"commits behind (its beginning|0@)"):
        opened(path)
    assert wal_of(path).read_bytes() == before


def test_what_can_be_read_is_read_all_the_same(path):
    overwrite(wal_of(path), share=0.5)
    log = opened(path, read_only=True)
    assert 0 < len(everything(log)) < RECORDS
    log.close()


@pytest.mark.parametrize("cut_bytes", [1, 24, 4_000])
def test_a_torn_end_is_what_a_death_leaves(path, cut_bytes):
    wal_of(path).write_bytes(wal_of(path).read_bytes()[:-cut_bytes])
    log = opened(path)
    assert len(everything(log)) == RECORDS - 1
    log.append([numbered("after")])
    assert len(everything(log)) == RECORDS
    log.close()


def test_what_a_former_log_left_behind_the_present_one_is_no_damage(path):
    log = opened(path)
    log._writing.execute("PRAGMA wal_checkpoint(RESTART)")
    log.append([numbered("after")])  # the file is begun anew, with old frames behind it
    other = opened(path)
    assert len(everything(other)) == RECORDS + 1
    other.close()
    log.close()


def test_a_later_format_is_left_as_it_is(path):
    log = opened(path)
    log._writing.execute(f"PRAGMA user_version = {FORMAT + 1}")
    left = path.parent / "left"
    left.mkdir()
    for one in path.parent.glob("log.db*"):
        shutil.copy(one, left)
    log.close()
    before = {one.name: one.read_bytes() for one in left.glob("log.db*") if "shm" not in one.name}
    with pytest.raises(NewerRelease):
        opened(left / "log.db")
    assert before == {name: (left / name).read_bytes() for name in before}
