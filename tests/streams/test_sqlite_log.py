"""The embedded log keeps the contract of logs, through crashes, damage and full disks."""

import contextlib
import re
import sqlite3
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from contracts.log_contract import SharedLogContract
from mnemolog.schemas.errors import (
    Damaged,
    InvalidSetting,
    LogUnavailable,
    NotFound,
    ReadOnly,
    StoreUnavailable,
)
from mnemolog.schemas.positions import Position
from mnemolog.streams.group_commit import GroupCommit
from mnemolog.streams.sqlite_log import SQLiteLog
from support.log_engines import SQLiteEngine
from support.log_records import everything, numbered, places, values


class TestSQLiteLog(SharedLogContract):
    @pytest.fixture
    def engine(self, tmp_path):
        engine = SQLiteEngine(tmp_path)
        yield engine
        engine.close()

    def test_processes_that_come_first_all_at_once_make_one_log(self, engine):
        with contextlib.ExitStack() as stack:
            started = [
                stack.enter_context(self.process(engine, "append", f"agent-{n}", "5"))
                for n in range(5)
            ]
            said = [line.split() for process in started for line in process.stdout]
        found = everything(engine.open())
        assert {str(r.position): r.value.decode() for r in found} == dict(said)
        assert [record.offset for record in found] == list(range(25))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some" / "folders" / "log.db"


@pytest.fixture
def opened():
    """Return a function that opens logs, which are closed at the end."""
    with contextlib.ExitStack() as stack:

        def open_(path, **settings):
            log = SQLiteLog.open(path, **{"tenant": "acme", **settings})
            stack.callback(log.close)
            return log

        yield open_


# Identity


def test_a_repeat_gets_the_place_of_the_first_and_adds_nothing(opened, path):
    log = opened(path)
    positions = log.append([numbered(n) for n in range(1200)])
    assert log.append([numbered(n) for n in range(1200)]) == positions
    assert log.append([numbered("new"), numbered(7)]) == [Position(0, 1200), Position(0, 7)]
    assert log.ends() == {0: 1201}


def test_a_repeat_through_another_handle_is_known(opened, path):
    (first,) = opened(path).append([numbered(1)])
    assert opened(path).append([numbered(1)]) == [first]


def test_threads_that_append_the_same_at_once_get_one_place(opened, path):
    log = opened(path)
    with ThreadPoolExecutor(8) as threads:
        placed = list(threads.map(lambda _: log.append([numbered("same")]), range(40)))
    assert placed == [[Position(0, 0)]] * 40
    assert log.ends() == {0: 1}


# What is fixed at the making


def test_partitions_are_kept_and_another_number_is_refused(opened, path):
    assert opened(path, partitions=4).partitions == 4
    assert opened(path).partitions == 4
    assert opened(path, partitions=4).partitions == 4
    with pytest.raises(InvalidSetting, match="has 4, fixed when it was made"):
        opened(path, partitions=2)


@pytest.mark.parametrize("partitions", [0, -1, 1025])
def test_a_number_of_partitions_that_no_log_has_is_refused(opened, path, partitions):
    with pytest.raises(InvalidSetting, match="1 to 1024"):
        opened(path, partitions=partitions)


def test_another_tenants_log_is_refused(opened, path):
    opened(path)
    with pytest.raises(InvalidSetting, match="the log of tenant 'acme'"):
        opened(path, tenant="other")


def test_a_newer_format_is_refused_with_what_to_do(opened, path):
    opened(path).close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(InvalidSetting, match=r"format 2 is newer.*upgrade"):
        opened(path)


def test_somebody_elses_database_is_refused_and_left_as_it_was(opened, tmp_path):
    path = tmp_path / "theirs.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(InvalidSetting, match="no log of mnemolog's"):
        opened(path)
    assert path.read_bytes() == before


# Reading only


def test_a_log_that_is_not_there_can_not_be_read(opened, path):
    with pytest.raises(NotFound, match="no log"):
        opened(path, read_only=True)
    assert not path.exists()


def test_a_handle_that_only_reads_sees_what_others_append(opened, path):
    log = opened(path)
    reading = opened(path, read_only=True)
    log.append([numbered(1)])
    assert values(everything(reading)) == [b"1"]
    assert reading.wait({0: 0}, timeout_seconds=0)
    with pytest.raises(ReadOnly, match="append"):
        reading.append([numbered(2)])


# Time


def test_a_time_is_found_though_the_clock_went_back(opened, path):
    start = datetime(2030, 1, 1, tzinfo=UTC)
    hours = iter([0, 5, 2, 3, 6])
    log = opened(path, now=lambda: start + timedelta(hours=next(hours)))
    places(log, [numbered(n) for n in range(5)])

    found = [log.position_at(start + timedelta(hours=hour))[0] for hour in range(8)]

    assert found == [0, 1, 1, 1, 1, 1, 4, 5]
    assert [r.recorded_at.hour for r in everything(log)] == [0, 5, 2, 3, 6]


def test_recorded_at_keeps_microseconds(opened, path):
    moment = datetime(2030, 1, 1, 1, 2, 3, 456_789, tzinfo=UTC)
    log = opened(path, now=lambda: moment)
    log.append([numbered(1)])
    assert log.at(Position(0, 0)).recorded_at == moment


# Damage


def test_a_file_that_is_no_database_is_damaged(opened, tmp_path):
    path = tmp_path / "log.db"
    path.write_bytes(b"no database, but long enough to be taken for one" * 100)
    with pytest.raises(Damaged, match=r"log\.db is damaged.*backup"):
        opened(path)


def test_a_file_that_was_cut_short_is_damaged(opened, path):
    opened(path).append([numbered(n, value=b"x" * 1000) for n in range(500)])
    log = opened(path)
    log._reading.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    log.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 // 4096 * 4096])
    with pytest.raises(Damaged):
        everything(opened(path))


def test_a_changed_byte_is_found_and_named_once_what_precedes_it_was_read(opened, path):
    log = opened(path)
    log.append([numbered(n) for n in range(5)])
    log._writing.execute("UPDATE records SET value = x'00' WHERE place = 3")
    reader = log.reader({0: 0})
    assert values(reader.poll(records_max=10, wait_seconds=0)) == [b"0", b"1", b"2"]
    with pytest.raises(Damaged, match="record 0@3"):
        reader.poll(records_max=10, wait_seconds=0)
    with pytest.raises(Damaged, match="record 0@3"):
        log.at(Position(0, 3))


# Disk and rights


def test_a_full_disk_is_named_and_nothing_of_the_append_is_kept(opened, path):
    log = opened(path)
    log.append([numbered(0)])
    pages = log._writing.execute("PRAGMA page_count").fetchone()[0]
    log._writing.execute(f"PRAGMA max_page_count = {pages + 10}")
    with pytest.raises(StoreUnavailable, match="the disk is full"):
        log.append([numbered(n, value=b"x" * 1000) for n in range(1, 200)])
    assert values(everything(log)) == [b"0"]

    log._writing.execute("PRAGMA max_page_count = 100000")
    log.append([numbered(1)])
    assert values(everything(log)) == [b"0", b"1"]


def test_a_folder_that_can_not_be_made_is_named(opened, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match="folder can't be made"):
        opened(tmp_path / "file" / "log.db")


# Root may write anywhere, so the child becomes nobody once it has imported what it needs.
AS_NOBODY = """
import os, sys
from pathlib import Path
from mnemolog.schemas.errors import MnemologError
from mnemolog.schemas.records import NewRecord
from mnemolog.streams.sqlite_log import SQLiteLog
if os.geteuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
path, mode = Path(sys.argv[1]), sys.argv[2]
try:
    log = SQLiteLog.open(path, tenant="acme", read_only=mode == "read")
    if mode == "read":
        print(log.reader({0: 0}).poll(records_max=5, wait_seconds=0)[0].value.decode())
    else:
        log.append([NewRecord(b"k", b"v", (), "0" * 32, "1" * 32)])
except MnemologError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.parametrize(
    ("mode", "answer"), [("append", "StoreUnavailable .* may not be written"), ("read", "1")]
)
def test_a_folder_that_may_not_be_written_can_be_read_and_the_error_says_so(mode, answer):
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "log.db"
        log = SQLiteLog.open(path, tenant="acme")
        log.append([numbered(1)])
        log.close()
        path.chmod(0o444)
        path.parent.chmod(0o555)
        done = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, str(path), mode],
            check=True,
            capture_output=True,
            text=True,
        )
        path.parent.chmod(0o755)
    assert re.fullmatch(answer, done.stdout.strip()), done.stdout


def test_a_file_that_is_removed_under_a_handle_takes_no_more_appends(opened, path):
    log = opened(path)
    log.append([numbered(1)])
    reader = log.reader({0: 1})
    for part in path.parent.glob("log.db*"):
        part.unlink()
    for use in (
        lambda: log.append([numbered(2)]),
        lambda: reader.poll(records_max=1, wait_seconds=0),
        lambda: log.wait({0: 1}, timeout_seconds=0),
        lambda: log.reader({0: 0}),
    ):
        with pytest.raises(LogUnavailable, match="removed or replaced"):
            use()
    again = opened(path)
    assert again.append([numbered("anew")]) == [Position(0, 0)]
    with pytest.raises(LogUnavailable, match="removed or replaced"):
        log.append([numbered(3)])


# Other writers


def test_a_lock_that_another_process_keeps_ends_an_append_within_its_bound(opened, path):
    log = opened(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LogUnavailable, match="kept it locked"):
            log.append([numbered(1)], timeout_seconds=0.05)
        other.execute("ROLLBACK")
    assert log.append([numbered(1)]) == [Position(0, 0)]


def test_readers_read_while_another_process_keeps_the_lock(opened, path):
    log = opened(path)
    log.append([numbered(1)])
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert values(everything(log)) == [b"1"]
        other.execute("ROLLBACK")


def test_appends_that_wait_for_a_lock_share_one_transaction(opened, path):
    log = opened(path)
    commits = []
    log._writing.set_trace_callback(lambda sql: commits.append(sql) if sql == "COMMIT" else None)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(10) as threads:
            appends = [threads.submit(log.append, [numbered(n)]) for n in range(10)]
            _until_all_wait(log._commits, 10)
            other.execute("ROLLBACK")
            positions = [append.result(30)[0] for append in appends]
    assert sorted(positions) == [Position(0, n) for n in range(10)]
    assert len(commits) == 1


def _until_all_wait(commits: GroupCommit, count: int) -> None:
    with commits._changed:
        assert commits._changed.wait_for(lambda: len(commits._queue) == count, 30)


def test_what_is_read_at_a_time_is_bounded_whatever_the_log_holds(opened, path):
    log = opened(path)
    log.append([numbered(n, value=b"x" * 10_000 + b"%d" % n) for n in range(5_000)])
    reader = log.reader({0: 0})
    polled = reader.poll(records_max=100_000, wait_seconds=0)
    assert 3_000 < len(polled) < 3_500  # 32 MiB of 10 kB each
