"""Files that grow, are rewritten, end early, are damaged, too long, or read by two at once."""

import gzip
import io
import json
import os
import sys
import threading
import tracemalloc
from contextlib import closing
from itertools import pairwise
from types import SimpleNamespace

import pytest

from mnemolog.importers import documents
from mnemolog.schemas.events.experience import MessageExchanged
from mnemolog.streams.sqlite_log import SQLiteLog
from support import claude_code, codex
from support.import_log import TENANT, ImportLog, json_file, lines_file

MEGABYTE = b"x" * 1_000_000


def said(text) -> dict:
    return {"role": "user", "content": text}


def texts(log: ImportLog) -> list[str]:
    return [found.recorded.event.text for found in log.of(MessageExchanged)]


def lines(*values) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def sessions() -> dict[str, list]:
    """Return four lines of each format that agents write line by line."""
    return {
        "openai-chat": [said(f"n {n}") for n in range(4)],
        "claude-code": [
            claude_code.user(f"u{n}", f"n {n}", parent=f"u{n - 1}" if n else None, second=n)
            for n in range(4)
        ],
        "codex": [codex.meta(), *(codex.said("user", f"n {n}") for n in range(3))],
    }


# Growing and changing


@pytest.mark.parametrize("name", sessions())
def test_a_file_that_grows_line_by_line_adds_its_tail_alone(log, tmp_path, name):
    rows, sizes = sessions()[name], []
    for count in range(1, len(rows) + 1):
        report = log.take(lines_file(tmp_path, *rows[:count]), format=name)
        sizes.append((report.added, report.already_there, log.size()))
    for (_, _, before), (added, there, size) in pairwise(sizes):
        assert (there, before + added) == (before, size)
    assert len(texts(log)) == len([row for row in rows if "session_meta" not in str(row)])
    whole = ImportLog()
    whole.take(lines_file(tmp_path, *rows), format=name)
    assert [e.envelope.id for e in whole.events()] == [e.envelope.id for e in log.events()]


@pytest.mark.parametrize("name", sessions())
def test_what_was_rewritten_in_the_middle_comes_beside_what_was_there_and_nothing_is_lost(
    log, tmp_path, name
):
    rows = sessions()[name]
    log.take(lines_file(tmp_path, *rows))
    there = {event.envelope.id for event in log.events()}
    rows[2] = json.loads(json.dumps(rows[2]).replace("n ", "rewritten "))
    report = log.take(lines_file(tmp_path, *rows))
    assert report.problems == []
    assert any(text.startswith("rewritten") for text in texts(log))
    assert there <= {event.envelope.id for event in log.events()}
    assert log.take(lines_file(tmp_path, *rows)).added == 0


@pytest.mark.parametrize("name", sessions())
def test_a_file_that_is_cut_while_it_is_read_gives_what_came_and_later_the_rest(
    log, tmp_path, name
):
    path = lines_file(tmp_path, *sessions()[name])
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    report = log.take(path)
    assert ["line 4" in problem.place for problem in report.problems] == [True]
    there = log.size()
    path.write_bytes(whole)
    again = log.take(path)
    assert (again.problems, again.added, again.already_there) == ([], log.size() - there, there)
    assert again.added > 0


def test_a_file_that_shrinks_under_the_reader_ends_where_it_ends(log, tmp_path):
    path = lines_file(tmp_path, *(said(f"{n} " + "y" * 2_000) for n in range(200)))

    def cut(_):
        os.truncate(path, 100)

    report = log.take(path, batch=5, on_progress=cut)
    assert 0 < len(texts(log)) <= 200
    assert report.problems_total <= 1


def test_a_pipe_whose_writer_dies_gives_all_whole_lines_and_names_the_last(log, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    content = lines(said("one"), said("two")) + b'{"role": "user", "con'
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    report = log.take(pipe)  # named itself: a pipe is read
    writer.join()
    assert texts(log) == ["one", "two"]
    assert [problem.place for problem in report.problems] == ["line 3"]


def test_a_pipe_that_lies_there_holds_up_nobody_in_a_folder_or_pattern(log, tmp_path):
    os.mkfifo(tmp_path / "a.jsonl")
    lines_file(tmp_path, said("one"), name="b.jsonl")
    assert log.take(tmp_path).files == log.take(f"{tmp_path}/*.jsonl").files == 1


def test_no_standard_input_is_a_problem(log, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    report = log.take("-")
    assert [str(p) for p in report.problems] == ["-: file: standard input is closed"]
    assert report.unread == 1


@pytest.mark.parametrize("end", ["\r\n", "\n\r\n", " \r\n"])
def test_line_ends_of_windows_are_line_ends(log, tmp_path, end):
    path = tmp_path / "a.jsonl"
    path.write_bytes("".join(json.dumps(said(f"n {n}")) + end for n in range(3)).encode())
    assert log.take(path).problems == []
    assert texts(log) == ["n 0", "n 1", "n 2"]


# Packed


def test_files_that_were_packed_apart_and_put_together_are_one(log, tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(b"".join(gzip.compress(lines(said(f"n {n}"))) for n in range(3)))
    assert log.take(path).problems == []
    assert texts(log) == ["n 0", "n 1", "n 2"]


def test_damage_in_the_middle_of_packed_lines_is_named_and_what_came_before_stays(log, tmp_path):
    path = tmp_path / "a.jsonl.gz"
    first = gzip.compress(lines(said("one")))
    second = bytearray(gzip.compress(lines(*(said(os.urandom(40).hex()) for _ in range(50)))))
    second[60:70] = b"\xff" * 10
    path.write_bytes(first + bytes(second))
    report = log.take(path)
    assert texts(log)[0] == "one"
    assert report.problems_total >= 1
    assert report.unread == 0


@pytest.mark.parametrize("kept", [2, 4, 10, 15])
def test_packed_bytes_of_which_nothing_can_be_read_are_a_failure_and_not_empty(log, tmp_path, kept):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(lines(said("one")))[:kept])
    report = log.take(path)
    assert report.unread == 1
    assert "the gzip data ends early" in report.problems[0].reason


def test_packed_bytes_that_end_before_a_format_is_seen_say_both(log, tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"some words of nobody's format, " * 9)[:-8])
    (problem,) = log.take(path).problems
    assert "ends early; what can be read of it is of no known format" in problem.reason


def test_nothing_packed_is_an_empty_file(log, tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b""))
    report = log.take(path)
    assert (report.unread, report.problems[0].reason) == (0, "an empty file")


# Too long, too many


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.jsonl.gz", lines(said("one")) + b'{"role":"user","content":"', b'"}\n'),
        ("a.json.gz", b'[{"role":"user","content":"one"},{"role":"user","content":"', b'"},'),
    ],
    ids=["line", "item"],
)
def test_a_line_of_sixty_megabytes_is_refused_by_name_in_bounded_memory(
    log, monkeypatch, name, before, after
):
    monkeypatch.setattr(documents, "ITEM_BYTES_MAX", 2_000_000)
    last = b'{"role":"user","content":"two"}' + (b"]" if "json.gz" in name[:9] else b"\n")
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        file.write(before)
        for _ in range(60):
            file.write(MEGABYTE)
        file.write(after + last)
    buffer = io.BytesIO(packed.getvalue())
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=buffer))
    tracemalloc.start()
    try:
        report = log.take("-")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert texts(log) == ["one", "two"]
    assert ["has at most 2000000" in problem.reason for problem in report.problems] == [True]
    assert peak < 20_000_000


def test_a_line_of_more_values_than_memory_should_hold_is_refused_by_name(
    log, tmp_path, monkeypatch
):
    monkeypatch.setattr(documents, "VALUES_MAX", 1_000)
    crowd = {**said("crowd"), "x": [{}] * 1_000}
    report = log.take(lines_file(tmp_path, said("one"), crowd, said("two")))
    assert texts(log) == ["one", "two"]
    assert ["one has at most 1000" in problem.reason for problem in report.problems] == [True]


def test_a_folder_of_many_files_comes_in_the_same_order_every_time(tmp_path):
    for n in reversed(range(300)):
        folder = tmp_path / f"{n % 7}"
        folder.mkdir(exist_ok=True)
        json_file(folder, [said(f"n {n}")], name=f"{n:03}.json")
    orders = []
    for way in (tmp_path, f"{tmp_path}/**/*.json"):
        log, told = ImportLog(), []
        assert log.take(way, on_progress=lambda far, told=told: told.append(far.files)).files == 300
        assert told[-1] == 300
        orders.append(texts(log))
    assert (
        orders[0]
        == orders[1]
        == sorted(orders[0], key=lambda text: (int(text[2:]) % 7, int(text[2:])))
    )


# Two at once


def test_two_imports_at_the_same_time_add_each_event_once(tmp_path):
    path = lines_file(tmp_path, *({"id": f"s{n}", "messages": [said("hi")]} for n in range(300)))
    reports, barrier = [], threading.Barrier(2)

    def take() -> None:
        with closing(SQLiteLog.open(tmp_path / "log.db", tenant=TENANT, partitions=2)) as sqlite:
            mine = ImportLog(sqlite)
            barrier.wait()
            reports.append(mine.take(path, batch=7))

    threads = [threading.Thread(target=take) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with closing(SQLiteLog.open(tmp_path / "log.db", tenant=TENANT)) as sqlite:
        both = ImportLog(sqlite)
        assert [report.events for report in reports] == [600, 600]
        assert len({event.envelope.id for event in both.events()}) == both.size() == 600
