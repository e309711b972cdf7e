"""Files in, events on the log: what is bad is named and harms nothing beside it."""

import gzip
import io
import json
import os
import sys
from contextlib import closing
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemolog.importers import sending
from mnemolog.importers.formats import names
from mnemolog.importers.report import PROBLEMS_KEPT_MAX, SKIPPED_KEPT_MAX
from mnemolog.schemas.errors import InvalidSetting, StoreUnavailable
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
    with pytest.raises(InvalidSetting, match="locomo, openai-chat"):
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


# What the log refuses


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
    with closing(SQLiteLog.open(there, tenant=TENANT)) as breaking:
        with pytest.raises(StoreUnavailable):
            ImportLog(breaking).take(path, batch=5, on_progress=lambda _: breaking.close())
    with closing(SQLiteLog.open(there, tenant=TENANT)) as sqlite:
        log = ImportLog(sqlite)
        assert log.size() == 5
        report = log.take(path, batch=5)
        assert (report.added, report.already_there) == (16, 5)
        assert texts(log) == [f"n {n}" for n in range(20)]


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


def test_a_batch_of_long_texts_is_sent_before_it_is_full(log, tmp_path, monkeypatch):
    monkeypatch.setattr(sending, "BATCH_TEXT_CHARS_MAX", 1_000)
    told = []
    path = lines_file(tmp_path, *(said(f"{n}" + "x" * 600) for n in range(4)))
    log.take(path, on_progress=told.append)
    assert [how_far.events for how_far in told] == [3, 5, 5]


# Anything


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=10,
)
KEYS = ("role", "content", "name", "tool_calls", "function_call", "tool_call_id", "type", "text")
ROLES = st.sampled_from(["system", "user", "assistant", "tool", "function", "developer"])
CALLS = st.fixed_dictionaries({"id": JSON, "function": st.fixed_dictionaries({"name": JSON})})
MESSAGE = st.builds(
    dict,
    st.dictionaries(st.sampled_from(KEYS), JSON),
    role=ROLES | JSON,
    tool_calls=JSON | st.lists(CALLS, max_size=2),
)
RUN = st.builds(
    dict,
    st.dictionaries(st.sampled_from(("task_id", "trial", "info", "user", "id", "reward")), JSON),
    messages=st.lists(MESSAGE | JSON, max_size=4) | JSON,
)
TURN = st.dictionaries(
    st.sampled_from(("dia_id", "speaker", "text", "img_url", "blip_caption", "query")), JSON
)
SESSIONS = st.dictionaries(
    st.sampled_from(("session_1", "session_02", "session_x", "speaker_a", "session_1_date_time")),
    JSON | st.just("1:56 pm on 8 May, 2023") | st.lists(TURN, max_size=3),
)
SAMPLE = st.fixed_dictionaries({"sample_id": JSON | st.just("c"), "conversation": JSON | SESSIONS})


@pytest.mark.parametrize("name", names())
@settings(max_examples=60)
@given(items=st.lists(JSON | MESSAGE | RUN | SAMPLE, max_size=4), as_lines=st.booleans())
def test_no_json_raises_out_of_an_import_and_a_second_one_adds_nothing(
    tmp_path_factory, name, items, as_lines
):
    folder = tmp_path_factory.mktemp("any", numbered=True)
    path = lines_file(folder, *items) if as_lines else json_file(folder, items)
    log = ImportLog()
    first = log.take(path, format=name)
    second = log.take(path, format=name)
    assert len(log.events()) == first.added
    assert (second.added, second.events) == (0, first.events)
    assert second.problems == first.problems


@pytest.mark.parametrize("name", names())
@settings(max_examples=60)
@given(
    content=st.binary(max_size=200), before=st.sampled_from([b"", b"[", b"{", b"\x1f\x8b", b"[{"])
)
def test_no_bytes_raise_out_of_an_import(tmp_path_factory, name, content, before):
    path = tmp_path_factory.mktemp("any", numbered=True) / "in"
    path.write_bytes(before + content)
    log = ImportLog()
    report = log.take(path, format=name)
    assert len(log.events()) == report.added


@settings(max_examples=60)
@given(bad=st.binary(max_size=60).filter(lambda line: b"\n" not in line), at=st.integers(0, 3))
def test_no_line_costs_a_neighbour(tmp_path_factory, bad, at):
    lines = [json.dumps({"messages": [said(f"n {n}")]}).encode() for n in range(3)]
    lines.insert(at, bad)
    log = ImportLog()
    log.take(
        lines_file(tmp_path_factory.mktemp("any", numbered=True), *lines), format="openai-chat"
    )
    assert [text for text in texts(log) if text.startswith("n ")] == ["n 0", "n 1", "n 2"]
