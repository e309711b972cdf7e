"""Damage in histories of every format: it costs itself, and is named with its place."""

import json

import pytest

from mnemolog.importers.formats import names
from mnemolog.schemas.values import parse_json
from support.call_logs import STARTED, call_logs
from support.claude_code import model, thinks, usage, user
from support.import_log import TENANT, ImportLog, json_file, lines_file
from support.import_samples import formats, samples
from support.log_records import everything
from support.remembering import opened

IN_LINES = [
    (name, sample)
    for name in formats()
    for sample in samples(name)
    if sample[0].endswith(".jsonl") and sample[1].count(b"\n") > 1
]
by_lines = pytest.mark.parametrize(("name", "sample"), IN_LINES, ids=[name for name, _ in IN_LINES])
DAMAGED = (
    b'{"type": "user", "content": "cut in the mid',
    b'{"a": 1, "a": 2}',
    b'{"n": NaN}',
    b"{" * 1_000,
    b"}",
    b"not json",
    b"\xff\xfe\x00",
    b"\x1f\x8b",
    b'"just words"',
    b"17",
    b"null",
)


def taken(tmp_path, name, content, file):
    """Return what an import of *content* says on the log, in order, and its report."""
    path = tmp_path / file
    path.write_bytes(content)
    log = ImportLog()
    report = log.take(path, format=name)
    told = [parse_json(record.value)["data"] for record in everything(log.log)]
    # A value that is no message is counted as one, so that what follows has another id.
    said = [{**one, "action": None} if isinstance(one, dict) else one for one in told]
    return said, report


def test_there_is_a_sample_of_every_format():
    assert sorted(formats()) == sorted(names())
    assert {name for name, _ in IN_LINES} >= {"claude-code", "codex", "cloudevents", "openai-chat"}


@pytest.mark.bad_input(25)
@by_lines
@pytest.mark.parametrize("bad", DAMAGED, ids=lambda bad: repr(bad)[:20])
def test_a_damaged_line_is_named_and_all_others_come(tmp_path, name, sample, bad):
    file, content = sample
    lines = content.splitlines(keepends=True)
    whole, clean = taken(tmp_path, name, content, file)
    assert clean.problems == []
    for at in range(1, len(lines) + 1):
        spoilt = b"".join([*lines[:at], bad + b"\n", *lines[at:]])
        found, report = taken(tmp_path, name, spoilt, file)
        assert found == whole
        assert f"line {at + 1}" in {p.place.partition(",")[0] for p in report.problems}


@pytest.mark.bad_input(25)
@by_lines
def test_a_line_that_is_cut_costs_what_it_said_and_no_more(tmp_path, name, sample):
    file, content = sample
    lines = content.splitlines(keepends=True)
    whole, _ = taken(tmp_path, name, content, file)
    for at in range(1, len(lines)):
        cut = lines[at][: len(lines[at]) // 2] + b"\n"
        found, report = taken(tmp_path, name, b"".join([*lines[:at], cut, *lines[at + 1 :]]), file)
        assert any(p.place.startswith(f"line {at + 1}") for p in report.problems)
        assert len(found) >= len(whole) - len(whole) // 2
    half = content[: -len(lines[-1]) // 2]  # and one that a crash left in mid-line
    _, report = taken(tmp_path, name, half, file)
    assert any(p.place.startswith(f"line {len(lines)}") for p in report.problems)


@pytest.mark.bad_input(27)
@by_lines
@pytest.mark.parametrize("count", [1, 200, 512, 700, 100_000])
def test_nul_bytes_are_named_with_their_offset_and_both_neighbours_come(
    tmp_path, name, sample, count
):
    file, content = sample
    lines = content.splitlines(keepends=True)
    whole, _ = taken(tmp_path, name, content, file)
    for at in range(1, len(lines) + 1):
        before = b"".join(lines[:at])
        for padded in (before + b"\0" * count, before[:-1] + b"\0" * count + b"\n"):
            found, report = taken(tmp_path, name, padded + b"".join(lines[at:]), file)
            assert found == whole
            offset = padded.index(b"\0")
            told = [problem for problem in report.problems if f"byte {offset}" in problem.place]
            assert f"{count} NUL bytes" in told[0].reason


@pytest.mark.bad_input(25, 27)
def test_the_whole_stack_shows_and_recalls_the_same_of_a_damaged_file(tmp_path):
    lines = [user(f"u{n}", f"lamp {n}") for n in range(1, 6)]
    damaged = json.dumps(lines[2]).encode()[:-30]
    path = lines_file(tmp_path, *lines[:2], damaged, b"\0" * 512, *lines[3:])
    with opened(tmp_path / "data", tenant=TENANT) as mem:
        report = ImportLog(mem.engine.log).take(path)
        assert report.problems[0].place.startswith("line 3")
        mem.wait_for(report.token)
        shown = {entry.text for entry in mem.timeline() if entry.type == "message.exchanged"}
        recalled = {memory.text for memory in mem.recall("lamp", hits_max=50)}
        assert shown == {"lamp 1", "lamp 2", "lamp 4", "lamp 5"}
        assert {text.split(": ")[-1] for text in recalled} == shown


@pytest.mark.bad_input(29)
@pytest.mark.parametrize("order", [(1, 5, 120), (1, 120), (7, 1, 120)])
def test_snapshots_of_one_message_are_one_event_with_the_last_numbers(tmp_path, order):
    lines = [user("u0", "Mend the lift.")]
    lines += [
        model(f"u{n}", thinks("Look first."), message="msg_1", usage=usage(out), parent="u0")
        for n, out in enumerate(order, start=1)
    ]
    again = [{**line, "uuid": f"again-{line['uuid']}"} for line in lines]  # a resumed session
    with opened(tmp_path / "data", tenant=TENANT) as mem:
        log = ImportLog(mem.engine.log)
        log.take(lines_file(tmp_path, *lines, name="one.jsonl"))
        log.take(lines_file(tmp_path, *lines, *again, name="grown.jsonl"))
        mem.wait_for(mem.end())
        assert mem.sql("SELECT count(*) FROM decisions").rows == [(1,)]
        spent = mem.sql("SELECT count(tokens_out), sum(tokens_out) FROM events").rows
        assert spent == [(1, order[-1])]


UNITS = {
    STARTED: "seconds",
    int(STARTED): "whole seconds",
    int(STARTED * 1_000): "milliseconds",
    int(STARTED * 1_000_000): "microseconds",
    int(STARTED * 1_000_000_000): "nanoseconds",
    STARTED * 1_000: "milliseconds as a float",
    10**300: "beyond every time",
    str(STARTED): "a text",
    str(int(STARTED * 1_000)): "milliseconds as a text",
}


@pytest.mark.bad_input(43)
@pytest.mark.parametrize("written", UNITS, ids=UNITS.get)
@pytest.mark.parametrize("field", ["timestamp", "created"])
def test_a_time_is_the_same_instant_or_refused_and_never_another(tmp_path, written, field):
    (log_of_call, *_) = call_logs()
    if field == "created":
        log_of_call = {**log_of_call, "timestamp": None}
        log_of_call["response"] = {**log_of_call["response"], "created": written}
    else:
        log_of_call = {**log_of_call, "timestamp": written}
    log = ImportLog()
    report = log.take(json_file(tmp_path, log_of_call))
    told = {found.envelope.occurred_at for found in log.events()}
    assert told
    near = {abs(moment.timestamp() - STARTED) < 60 for moment in told}
    counted = {moment.year for moment in told} == {2024}  # no time of its own: counted, flagged
    assert near == {True} or counted
    if UNITS[written] not in {"seconds", "whole seconds"} and counted:
        assert any(field in problem.reason for problem in report.problems)
