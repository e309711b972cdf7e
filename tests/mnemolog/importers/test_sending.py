"""What the log refuses is named, and costs no neighbour and no order."""

from contextlib import closing

import pytest

from mnemolog.importers.report import PROBLEMS_KEPT_MAX, SKIPPED_KEPT_MAX
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.schemas.events.experience import MessageExchanged
from mnemolog.streams.blobs import InMemoryBlobs
from mnemolog.streams.clock import system_clock
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.publishing import Publisher
from mnemolog.streams.sqlite_log import SQLiteLog
from support.import_log import TENANT, ImportLog, json_file, lines_file


def said(text) -> dict:
    return {"role": "user", "content": text}


def texts(log: ImportLog) -> list[str]:
    return [found.recorded.event.text for found in log.of(MessageExchanged)]


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def test_a_text_beyond_the_limit_is_named_with_both_sizes_and_its_neighbours_come(log, tmp_path):
    path = lines_file(tmp_path, said("one"), said("x" * 1_000_001), said("three"))
    report = log.take(path)
    assert texts(log) == ["one", "three"]
    ((problem,), total) = (report.problems, report.problems_total)
    assert (total, problem.place) == (1, "line 2")
    assert problem.reason == "text has 1000001 characters; an event's text has at most 1000000"


def test_what_follows_a_refused_event_names_it_as_its_cause_so_that_it_can_come_later(
    log, tmp_path
):
    log.take(lines_file(tmp_path, said("one"), said("好" * 400_000), said("three")))
    one, three = log.of(MessageExchanged)
    assert three.envelope.cause not in {None, one.envelope.id}


def test_an_event_beyond_the_limit_in_bytes_is_named_with_both_sizes(log, tmp_path):
    report = log.take(lines_file(tmp_path, said("one"), said("好" * 400_000), said("three")))
    assert texts(log) == ["one", "three"]
    assert "the limit is 1048576" in report.problems[0].reason


def test_many_refused_events_among_good_ones_are_each_named_in_order(log, tmp_path):
    bad = {"role": "user", "content": "x", "name": "../up"}
    lines = [bad if n % 3 == 0 else said(f"n {n}") for n in range(60)]
    report = log.take(lines_file(tmp_path, *lines), batch=16)
    assert texts(log) == [f"n {n}" for n in range(60) if n % 3]
    assert [problem.place for problem in report.problems] == [
        f"line {n + 1}" for n in range(0, 60, 3)
    ]


def test_the_lists_of_a_report_are_bounded_and_their_totals_are_not(log, tmp_path):
    lines_file(tmp_path, said("one"), *[b"{bad"] * 150)
    for number in range(120):
        (tmp_path / f"{number}.txt").write_text("x")
    report = log.take(tmp_path)
    assert (report.problems_total, len(report.problems)) == (150, PROBLEMS_KEPT_MAX)
    assert (report.skipped_total, len(report.skipped)) == (120, SKIPPED_KEPT_MAX)


def test_an_import_that_was_broken_off_is_completed_by_the_next_one(tmp_path):
    path = lines_file(tmp_path, *(said(f"n {n}") for n in range(20)))
    there = tmp_path / "log.db"
    breaking = SQLiteLog.open(there, tenant=TENANT)
    with closing(breaking), pytest.raises(StoreUnavailable):
        ImportLog(breaking).take(path, batch=5, on_progress=lambda _: breaking.close())
    with closing(SQLiteLog.open(there, tenant=TENANT)) as sqlite:
        log = ImportLog(sqlite)
        assert log.size() == 5
        report = log.take(path, batch=5)
        assert (report.added, report.already_there) == (16, 5)
        assert texts(log) == [f"n {n}" for n in range(20)]


@pytest.mark.parametrize("partitions", [1, 4])
def test_a_dry_run_counts_repeats_as_an_empty_log_would(tmp_path, partitions):
    longer = [said("one"), said("two"), said("three")]
    for number in range(1, 4):
        json_file(tmp_path, longer[:number], name=f"{number}.json")
    log = ImportLog(InMemoryLog(TENANT, partitions=partitions))
    dry = log.take(tmp_path, batch=2, dry_run=True)
    wet = log.take(tmp_path, batch=2)
    assert (dry.added, dry.already_there) == (wet.added, wet.already_there) == (4, 5)


def test_a_dry_run_cuts_what_the_import_would_cut_and_keeps_nothing_of_it(tmp_path):
    log, blobs = ImportLog(), InMemoryBlobs()
    log.publisher = Publisher(
        log.log, log.publisher.codec, tenant=TENANT, now=system_clock, blobs=blobs
    )
    path = lines_file(tmp_path, said("one"), said("x" * 1_000_001))
    dry = log.take(path, dry_run=True)
    assert (dry.added, dry.problems, list(blobs.stored()), log.size()) == (3, [], [], 0)
    wet = log.take(path)
    assert (wet.added, wet.by_type, len(list(blobs.stored()))) == (3, dry.by_type, 1)
