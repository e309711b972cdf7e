"""Appends of many threads share commits, and each gets what became of its own records."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from mnemolog.schemas.errors import LogUnavailable, StoreUnavailable
from mnemolog.schemas.positions import Position
from mnemolog.streams.group_commit import QUEUE_BYTES_MAX, QUEUE_RECORDS_MAX, GroupCommit
from support.log_records import numbered
from support.polling import eventually


class Disk:
    """Where a test's transactions go. It can be held up, and told to fail."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.kept: list[bytes] = []
        self.commits = 0
        self.failure: BaseException | None = None

    @contextmanager
    def begin(self, wait_seconds: float) -> Iterator[object]:
        if not self.open.wait(wait_seconds):
            raise LogUnavailable("disk", "locked")
        draft = list(self.kept)

        def insert(records):
            draft.extend(record.value for record in records)
            return [Position(0, len(draft) - len(records) + n) for n in range(len(records))]

        yield insert
        if self.failure is not None:
            raise self.failure
        self.kept = draft
        self.commits += 1


@pytest.fixture
def disk():
    return Disk()


@pytest.fixture
def commits(disk):
    return GroupCommit(disk.begin, name="disk")


@contextmanager
def held_up(disk, commits, *appends, seconds=30):
    """Start *appends*, lists of records, while the disk is held up; yield their futures."""
    disk.open.clear()
    with ThreadPoolExecutor(len(appends)) as threads:
        started = []
        for records in appends:
            started.append(threads.submit(commits.append, records, timeout_seconds=seconds))
            eventually(
                lambda: len(commits._queue) == len(started) or started[-1].done(),
                what="it waits in the queue",
            )
        yield started
        disk.open.set()


def test_one_append_is_one_commit(disk, commits):
    assert commits.append([numbered(1), numbered(2)], timeout_seconds=1) == [
        Position(0, 0),
        Position(0, 1),
    ]
    assert (disk.kept, disk.commits) == ([b"1", b"2"], 1)


def test_what_waits_together_is_committed_together_in_its_order(disk, commits):
    with held_up(disk, commits, [numbered(1)], [numbered(2), numbered(3)], [numbered(4)]) as all_:
        disk.open.set()
        positions = [append.result(30) for append in all_]
    assert positions == [[Position(0, 0)], [Position(0, 1), Position(0, 2)], [Position(0, 3)]]
    assert (disk.kept, disk.commits) == ([b"1", b"2", b"3", b"4"], 1)


def test_who_gives_up_leaves_nothing_behind_and_the_others_go_on(disk, commits):
    with held_up(disk, commits, [numbered("patient")], [numbered("others")]) as patient:
        with pytest.raises(LogUnavailable):
            commits.append([numbered("hasty")], timeout_seconds=0.01)
        disk.open.set()
        assert [append.result(30) for append in patient] == [[Position(0, 0)], [Position(0, 1)]]
    assert disk.kept == [b"patient", b"others"]


def test_a_leader_that_gives_up_is_followed_by_the_next(disk, commits):
    disk.open.clear()
    with ThreadPoolExecutor(2) as threads:
        hasty = threads.submit(commits.append, [numbered("hasty")], timeout_seconds=0.2)
        eventually(lambda: commits._leading, what="it leads")
        patient = threads.submit(commits.append, [numbered("patient")], timeout_seconds=30)
        with pytest.raises(LogUnavailable, match="locked"):
            hasty.result(30)
        disk.open.set()
        assert patient.result(30) == [Position(0, 0)]
    assert disk.kept == [b"patient"]


def test_a_commit_that_fails_fails_for_all_in_it_and_the_next_one_works(disk, commits):
    disk.failure = StoreUnavailable("disk", "full")
    with held_up(disk, commits, [numbered(1)], [numbered(2)]) as failing:
        disk.open.set()
        for append in failing:
            with pytest.raises(StoreUnavailable, match="full"):
                append.result(30)
    disk.failure = None
    commits.append([numbered(3)], timeout_seconds=1)
    assert disk.kept == [b"3"]


def test_an_interrupt_reaches_the_thread_that_led_and_the_others_are_told(disk, commits):
    disk.failure = KeyboardInterrupt()
    with held_up(disk, commits, [numbered(1)], [numbered(2)]) as appends:
        disk.open.set()
        outcomes = [type(append.exception(30)) for append in appends]
    assert outcomes == [KeyboardInterrupt, LogUnavailable]


@pytest.mark.parametrize(
    "waiting",
    [
        [numbered(n) for n in range(QUEUE_RECORDS_MAX)],
        [numbered(0, value=b"x" * QUEUE_BYTES_MAX)],
    ],
    ids=["records", "bytes"],
)
def test_a_full_queue_makes_the_next_append_wait_for_room(disk, commits, waiting):
    with held_up(disk, commits, waiting) as (first,):
        with pytest.raises(LogUnavailable, match="queue of appends is full"):
            commits.append([numbered("more")], timeout_seconds=0.01)
        with ThreadPoolExecutor(1) as threads:
            more = threads.submit(commits.append, [numbered("more")], timeout_seconds=30)
            disk.open.set()
            first.result(30)
            assert more.result(30) == [Position(0, len(waiting))]


def test_what_is_larger_than_the_queue_enters_it_alone(disk, commits):
    commits.append([numbered(n) for n in range(QUEUE_RECORDS_MAX + 1)], timeout_seconds=1)
    assert len(disk.kept) == QUEUE_RECORDS_MAX + 1


def test_after_the_close_nothing_is_taken(disk, commits):
    commits.append([numbered(1)], timeout_seconds=1)
    commits.close()
    with pytest.raises(LogUnavailable, match="closed"):
        commits.append([numbered(2)], timeout_seconds=1)
    assert disk.kept == [b"1"]
