"""Files in, events on the log: what is bad is named and harms nothing beside it."""

import gzip
import io
import json
import os
import sys
from contextlib import closing
from types import SimpleNamespace

import pytest

from mnemolog.importers import sending
from mnemolog.importers.formats import names
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.schemas.events.experience import MessageExchanged
from mnemolog.schemas.positions import Token
from mnemolog.streams.sqlite_log import SQLiteLog
from support.import_log import TENANT, ImportLog, json_file, lines_file


def said(text) -> dict:
    return {"role": "user", "content": text}


def texts(log: ImportLog) -> list[str]:
    return [found.recorded.event.text for found in log.of(MessageExchanged)]


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


# Which files


def test_a_folder_gives_what_is_recognised_and_names_the_rest(log, tmp_path):
    json_file(tmp_path, [said("one")], name="a.json")
    lines_file(tmp_path, said("two"), name="b.jsonl")
    (tmp_path / "LICENSE").write_text("Do what you like.")
    (tmp_path / "empty.json").write_text("")
    report = log.take(tmp_path)
    assert texts(log) == ["one", "two"]
    assert (report.files, report.problems_total, report.skipped_total) == (2, 0, 2)
    assert report.skipped == [str(tmp_path / "LICENSE"), str(tmp_path / "empty.json")]


def test_a_file_that_is_named_and_not_recognised_is_a_problem(log, tmp_path):
    (tmp_path / "LICENSE").write_text("Do what you like.")
    (tmp_path / "empty").write_text("")
    report = log.take(tmp_path / "LICENSE", tmp_path / "empty")
    assert [problem.file for problem in report.problems] == [
        str(tmp_path / "LICENSE"),
        str(tmp_path / "empty"),
    ]
    assert all(name in report.problems[0].reason for name in names())
    assert report.problems[1].reason == "an empty file"


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        *((name, "UTF-16") for name in ("utf-16", "utf-16-le", "utf-16-be")),
        ("utf-32", "UTF-32"),
    ],
)
@pytest.mark.parametrize("named", [None, "openai-chat"])
def test_a_text_in_another_encoding_is_named_with_it(log, tmp_path, encoding, told, named):
    path = tmp_path / "chat.json"
    path.write_bytes(json.dumps([said("one")]).encode(encoding))
    report = log.take(path, format=named)
    (problem,) = report.problems
    assert f"a text in {told};" in problem.reason
    assert (report.unread, log.size()) == (1, 0)


def test_runs_of_nul_bytes_are_no_encoding(log, tmp_path):
    lines_file(tmp_path, b"\0\0" + json.dumps(said("one")).encode(), said("two"), name="a.jsonl")
    log.take(tmp_path / "a.jsonl")
    assert texts(log) == ["one", "two"]


def test_a_format_that_is_named_reads_what_nobody_recognises(log, tmp_path):
    hidden = [{"content": "x" * 70_000, "role": "user"}]  # the role stands beyond the head
    path = json_file(tmp_path, [{"z": 1}, *hidden])
    assert log.take(path).events == 0
    report = log.take(path, format="openai-chat")
    assert (report.problems_total, len(log.of(MessageExchanged))) == (1, 1)


def test_in_a_folder_a_named_format_reads_its_own_files_only(log, tmp_path):
    json_file(tmp_path, [said("one")], name="a.json")
    (tmp_path / "LICENSE").write_text("Do what you like.")
    assert log.take(tmp_path, format="locomo").skipped_total == 2
    assert log.take(tmp_path, format="openai-chat").skipped_total == 1


def test_an_unknown_format_is_refused_with_the_known_ones(log, tmp_path):
    with pytest.raises(InvalidSetting, match=r"cloudevents, .*openai-chat"):
        log.take(json_file(tmp_path, [said("one")]), format="csv")
    assert log.size() == 0


@pytest.mark.parametrize("batch", [0, -1, 10_001])
def test_a_batch_out_of_bounds_is_refused(log, batch):
    with pytest.raises(InvalidSetting, match="batch"):
        log.take("x", batch=batch)


@pytest.mark.parametrize("name", ["missing.json", "nul\0.json", "a/b/c.json"])
def test_a_file_that_can_not_be_opened_is_named_and_the_others_come(log, tmp_path, name):
    good = json_file(tmp_path, [said("one")])
    report = log.take(tmp_path / name, good)
    assert [problem.file for problem in report.problems] == [str(tmp_path / name)]
    assert texts(log) == ["one"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_named_and_the_others_come(log, tmp_path):
    locked = json_file(tmp_path, [said("no")], name="locked.json")
    locked.chmod(0)
    report = log.take(locked, json_file(tmp_path, [said("one")]))
    assert [problem.reason for problem in report.problems] == ["Permission denied"]
    assert texts(log) == ["one"]


def test_patterns_gzip_and_byte_order_marks_are_taken(log, tmp_path):
    content = b"\xef\xbb\xbf" + json.dumps([said("packed")]).encode()
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(content))
    (tmp_path / "b.json").write_bytes(content.replace(b"packed", b"marked"))
    report = log.take(f"{tmp_path}/*.json*")
    assert (report.problems, texts(log)) == ([], ["packed", "marked"])


def test_gzip_that_ends_early_is_named_and_what_came_before_stays(log, tmp_path):
    lines = b"".join(json.dumps({"messages": [said(f"n {n}")]}).encode() + b"\n" for n in range(9))
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(lines)[:-8])
    report = log.take(path)
    assert len(texts(log)) == 9
    assert [problem.reason for problem in report.problems] == ["the gzip data ends early"]


def test_standard_input_is_a_file_like_any_other(log, monkeypatch):
    content = json.dumps(said("piped")).encode() + b"\n\xff\n"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    report = log.take("-")
    assert texts(log) == ["piped"]
    assert [str(problem) for problem in report.problems] == [
        "standard input: line 2: not UTF-8 at byte 0"
    ]


# What is told


@pytest.mark.parametrize("batch", [1, 2, 7, 500])
def test_what_is_added_is_counted_whatever_the_batch(log, tmp_path, batch):
    path = lines_file(tmp_path, *({"messages": [said(f"n {n % 4}")]} for n in range(9)))
    first, second = log.take(path, batch=batch), log.take(path, batch=batch)
    assert (first.added, first.already_there) == (8, 10)
    assert (second.added, second.already_there) == (0, 18)
    assert first.by_type == {"session.started": 9, "message.exchanged": 9}
    assert log.size() == 8


def test_events_of_others_are_not_counted_as_ours(log, tmp_path):
    log.take(lines_file(tmp_path, said("theirs")), agent="other")
    path = lines_file(tmp_path, said("ours"))
    assert log.take(path).added == 2
    assert log.take(path).added == 0


def test_an_embedded_log_counts_alike_and_over_partitions_too(tmp_path):
    path = lines_file(tmp_path, *({"id": f"s{n}", "messages": [said("hi")]} for n in range(5)))
    with closing(SQLiteLog.open(tmp_path / "log.db", tenant=TENANT, partitions=4)) as sqlite:
        log = ImportLog(sqlite)
        reports = [log.take(path, agent=agent) for agent in ("a", "b", "c", "a", "b")]
        assert [report.added for report in reports] == [10, 10, 10, 0, 0]
        assert sum(sqlite.ends().values()) == 30


def test_the_token_covers_the_last_event(log, tmp_path):
    report = log.take(lines_file(tmp_path, *(said(f"n {n}") for n in range(9))), batch=4)
    assert report.token == Token({0: 9})
    assert log.take(lines_file(tmp_path, said("n 0"))).token == Token({0: 1})


def test_progress_is_told_after_each_batch_and_at_the_end(log, tmp_path):
    path = lines_file(tmp_path, *(said(f"n {n}") for n in range(9)), b"{bad")
    told = []
    log.take(path, batch=4, on_progress=told.append)
    size = path.stat().st_size
    assert [how_far.events for how_far in told] == [4, 8, 8]
    assert (told[-1].bytes_read, told[-1].bytes_total, told[-1].problems) == (size, size, 1)
    assert told[-1].file == str(path)


def test_a_dry_run_says_what_would_be_added_and_appends_nothing(log, tmp_path):
    path = lines_file(tmp_path, said("one"), said("x" * 1_000_001), said("three"), b"{bad")
    dry = log.take(path, dry_run=True)
    assert log.size() == 0
    assert (dry.dry_run, dry.added, dry.problems_total) == (True, 3, 2)
    wet = log.take(path)
    assert (wet.added, wet.by_type) == (dry.added, dry.by_type)
    assert sorted(map(str, wet.problems)) == sorted(map(str, dry.problems))


def test_a_dry_run_tells_what_is_there_and_what_comes_twice_from_what_is_new(log, tmp_path):
    log.take(lines_file(tmp_path, said("one"), said("two")))
    path = lines_file(tmp_path, *(said(text) for text in ("one", "two", "three")))
    there = log.size()
    dry = log.take(path, path, dry_run=True)
    assert (dry.added, dry.already_there, log.size()) == (1, 7, there)
    assert dry.added_by_type == {"message.exchanged": 1}
    assert (dry.tells_repeats, log.take(path).added) == (True, 1)


class Silent:
    """A log that can't say what it holds, as Kafka's."""

    def __init__(self, log):
        self._log = log

    def __getattr__(self, name):
        if name == "known":
            raise AttributeError(name)
        return getattr(self._log, name)


def test_a_log_that_can_not_tell_what_it_holds_is_said_to_be_one(log, tmp_path):
    path = lines_file(tmp_path, said("one"), said("two"))
    log.take(path)
    silent = ImportLog(Silent(log.log))
    dry = silent.take(path, path, dry_run=True)
    assert (dry.tells_repeats, dry.added, dry.already_there) == (False, 3, 3)
    assert silent.take(path).tells_repeats is False


def test_a_batch_of_long_texts_is_sent_before_it_is_full(log, tmp_path, monkeypatch):
    monkeypatch.setattr(sending, "BATCH_TEXT_CHARS_MAX", 1_000)
    told = []
    path = lines_file(tmp_path, *(said(f"{n}" + "x" * 600) for n in range(4)))
    log.take(path, on_progress=told.append)
    assert [how_far.events for how_far in told] == [3, 5, 5]
