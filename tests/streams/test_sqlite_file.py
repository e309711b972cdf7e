"""The embedded log's file: what is fixed in it, damage, full disks, rights."""

import contextlib
import re
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mnemolog.schemas.errors import (
    InvalidSetting,
    LogDamaged,
    LogUnavailable,
    NewerRelease,
    NotFound,
    ReadOnly,
    StoreUnavailable,
)
from mnemolog.schemas.positions import Position
from mnemolog.streams.sqlite_log import SQLiteLog
from support.log_records import everything, numbered, values


@pytest.fixture
def path(tmp_path):
    return tmp_path / "some" / "folders" / "log.db"


# What is fixed at the making


def test_partitions_are_kept_and_another_number_is_refused(open_sqlite, path):
    assert open_sqlite(path, partitions=4).partitions == 4
    assert open_sqlite(path).partitions == 4
    assert open_sqlite(path, partitions=4).partitions == 4
    with pytest.raises(InvalidSetting, match="has 4, fixed when it was made"):
        open_sqlite(path, partitions=2)


@pytest.mark.parametrize("partitions", [0, -1, 1025])
def test_a_number_of_partitions_that_no_log_has_is_refused(open_sqlite, path, partitions):
    with pytest.raises(InvalidSetting, match="1 to 1024"):
        open_sqlite(path, partitions=partitions)


def test_another_tenants_log_is_refused(open_sqlite, path):
    open_sqlite(path)
    with pytest.raises(InvalidSetting, match="the log of tenant 'acme'"):
        open_sqlite(path, tenant="other")


def test_a_newer_format_is_refused_with_what_to_do(open_sqlite, path):
    open_sqlite(path).close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(NewerRelease, match=r"later release: format 2; this one reads 1") as raised:
        open_sqlite(path)
    assert "Upgrade" in raised.value.hint


def test_somebody_elses_database_is_refused_and_left_as_it_was(open_sqlite, tmp_path):
    path = tmp_path / "theirs.db"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = path.read_bytes()
    with pytest.raises(InvalidSetting, match="no log of mnemolog's"):
        open_sqlite(path)
    assert path.read_bytes() == before


# Reading only


def test_a_log_that_is_not_there_can_not_be_read(open_sqlite, path):
    with pytest.raises(NotFound, match="no log"):
        open_sqlite(path, read_only=True)
    assert not path.exists()


def test_a_handle_that_only_reads_sees_what_others_append(open_sqlite, path):
    log = open_sqlite(path)
    reading = open_sqlite(path, read_only=True)
    log.append([numbered(1)])
    assert values(everything(reading)) == [b"1"]
    assert reading.wait({0: 0}, timeout_seconds=0)
    with pytest.raises(ReadOnly, match="append"):
        reading.append([numbered(2)])


# Damage


def test_a_file_that_is_no_database_is_damaged(open_sqlite, tmp_path):
    path = tmp_path / "log.db"
    path.write_bytes(b"no database, but long enough to be taken for one" * 100)
    with pytest.raises(LogDamaged, match=r"log\.db is damaged"):
        open_sqlite(path)


def test_a_file_that_was_cut_short_is_damaged(open_sqlite, path):
    open_sqlite(path).append([numbered(n, value=b"x" * 1000) for n in range(500)])
    log = open_sqlite(path)
    log._reading.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    log.close()
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 // 4096 * 4096])
    with pytest.raises(LogDamaged):
        everything(open_sqlite(path))


def test_a_changed_byte_is_found_and_named_once_what_precedes_it_was_read(open_sqlite, path):
    log = open_sqlite(path)
    log.append([numbered(n) for n in range(5)])
    log._writing.execute("UPDATE records SET value = x'00' WHERE place = 3")
    reader = log.reader({0: 0})
    assert values(reader.poll(records_max=10, wait_seconds=0)) == [b"0", b"1", b"2"]
    with pytest.raises(LogDamaged, match="record 0@3"):
        reader.poll(records_max=10, wait_seconds=0)
    with pytest.raises(LogDamaged, match="record 0@3"):
        log.at(Position(0, 3))


# Disk and rights


def test_a_full_disk_is_named_and_nothing_of_the_append_is_kept(open_sqlite, path):
    log = open_sqlite(path)
    log.append([numbered(0)])
    pages = log._writing.execute("PRAGMA page_count").fetchone()[0]
    log._writing.execute(f"PRAGMA max_page_count = {pages + 10}")
    with pytest.raises(StoreUnavailable, match="the disk is full"):
        log.append([numbered(n, value=b"x" * 1000) for n in range(1, 200)])
    assert values(everything(log)) == [b"0"]

    log._writing.execute("PRAGMA max_page_count = 100000")
    log.append([numbered(1)])
    assert values(everything(log)) == [b"0", b"1"]


def test_a_folder_that_can_not_be_made_is_named(open_sqlite, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailable, match="folder can't be made"):
        open_sqlite(tmp_path / "file" / "log.db")


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
    ("mode", "answer"), [("append", "LogUnavailable .* may not be written"), ("read", "1")]
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


def test_a_file_that_is_removed_under_a_handle_takes_no_more_appends(open_sqlite, path):
    log = open_sqlite(path)
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
    again = open_sqlite(path)
    assert again.append([numbered("anew")]) == [Position(0, 0)]
    with pytest.raises(LogUnavailable, match="removed or replaced"):
        log.append([numbered(3)])
