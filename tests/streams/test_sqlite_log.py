"""The embedded log keeps the contract of logs, through crashes, damage and full disks."""

import contextlib
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from contracts.log_contract import SharedLogContract
from mnemolog.schemas.errors import LogDamaged, LogUnavailable
from mnemolog.schemas.positions import Position
from mnemolog.streams.group_commit import GroupCommit
from support.log_engines import SQLiteEngine
from support.log_records import everything, numbered, places, values

START = datetime(2030, 1, 1, tzinfo=UTC)


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


# Identity


def test_a_repeat_gets_the_place_of_the_first_and_adds_nothing(open_sqlite, path):
    log = open_sqlite(path)
    positions = log.append([numbered(n) for n in range(1200)])
    assert log.append([numbered(n) for n in range(1200)]) == positions
    assert log.append([numbered("new"), numbered(7)]) == [Position(0, 1200), Position(0, 7)]
    assert log.ends() == {0: 1201}


def test_new_ones_and_repeats_of_all_partitions_in_one_call_stand_where_they_belong(
    open_sqlite, path
):
    log = open_sqlite(path, partitions=3)
    records = [numbered(n, key=f"agent-{n % 7}".encode()) for n in range(60)]
    alone = dict(zip(range(20), places(log, records[:20]), strict=True))
    order = [30, 31, 5, 32, 30, 33, 19, 32, *range(34, 60), 0, 59]
    for number, position in zip(order, log.append([records[n] for n in order]), strict=True):
        assert alone.setdefault(number, position) == position
    found = {record.value: record.position for record in everything(log)}
    assert found == {records[n].value: position for n, position in alone.items()}
    ends = {p: sum(position.partition == p for position in alone.values()) for p in range(3)}
    assert log.ends() == ends, "offsets without holes"


def test_a_repeat_leaves_the_greatest_time_of_its_partition_as_it_was(open_sqlite, path):
    hours = iter([1, 9, 2])
    log = open_sqlite(path, now=lambda: START + timedelta(hours=next(hours)))
    log.append([numbered(1)])
    log.append([numbered(1)])  # at nine, but nothing came of it
    log.append([numbered(2)])
    assert log.position_at(START + timedelta(hours=3)) == log.ends() == {0: 2}


def test_ends_that_lag_behind_the_records_are_damage(open_sqlite, path):
    log = open_sqlite(path)
    log.append([numbered(1), numbered(2)])
    log._writing.execute("UPDATE ends SET end = 1")
    with pytest.raises(LogDamaged, match="stands where the next one would"):
        log.append([numbered(3)])


def test_a_repeat_through_another_handle_is_known(open_sqlite, path):
    (first,) = open_sqlite(path).append([numbered(1)])
    assert open_sqlite(path).append([numbered(1)]) == [first]


def test_threads_that_append_the_same_at_once_get_one_place(open_sqlite, path):
    log = open_sqlite(path)
    with ThreadPoolExecutor(8) as threads:
        placed = list(threads.map(lambda _: log.append([numbered("same")]), range(40)))
    assert placed == [[Position(0, 0)]] * 40
    assert log.ends() == {0: 1}


# Time


def test_a_time_is_found_though_the_clock_went_back(open_sqlite, path):
    hours = iter([0, 5, 2, 3, 6])
    log = open_sqlite(path, now=lambda: START + timedelta(hours=next(hours)))
    places(log, [numbered(n) for n in range(5)])

    found = [log.position_at(START + timedelta(hours=hour))[0] for hour in range(8)]

    assert found == [0, 1, 1, 1, 1, 1, 4, 5]
    assert [r.recorded_at.hour for r in everything(log)] == [0, 5, 2, 3, 6]


def test_recorded_at_keeps_microseconds(open_sqlite, path):
    moment = datetime(2030, 1, 1, 1, 2, 3, 456_789, tzinfo=UTC)
    log = open_sqlite(path, now=lambda: moment)
    log.append([numbered(1)])
    assert log.at(Position(0, 0)).recorded_at == moment


# Other writers


def test_a_lock_that_another_process_keeps_ends_an_append_within_its_bound(open_sqlite, path):
    log = open_sqlite(path)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LogUnavailable, match="kept it locked"):
            log.append([numbered(1)], timeout_seconds=0.05)
        other.execute("ROLLBACK")
    assert log.append([numbered(1)]) == [Position(0, 0)]


def test_readers_read_while_another_process_keeps_the_lock(open_sqlite, path):
    log = open_sqlite(path)
    log.append([numbered(1)])
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert values(everything(log)) == [b"1"]
        other.execute("ROLLBACK")


def test_appends_that_wait_for_a_lock_share_one_transaction(open_sqlite, path):
    log = open_sqlite(path)
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


def test_what_is_read_at_a_time_is_bounded_whatever_the_log_holds(open_sqlite, path):
    log = open_sqlite(path)
    log.append([numbered(n, value=b"x" * 10_000 + b"%d" % n) for n in range(5_000)])
    reader = log.reader({0: 0})
    polled = reader.poll(records_max=100_000, wait_seconds=0)
    assert 1_500 < len(polled) < 1_750  # 16 MiB of 10 kB each
