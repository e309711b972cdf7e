"""Errors are noted by class, code, numbers and lines of code: never by what they say."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemolog.error_log import BYTES_MAX, FILE, FORMER_FILE, ErrorLog, last_errors
from mnemolog.schemas.errors import (
    Damaged,
    HistoryLost,
    InvalidEvent,
    InvalidSetting,
    NotFound,
    Parked,
    ReadOnly,
    StoreUnavailable,
)
from support.remembering import opened

NOW = datetime(2030, 1, 1, tzinfo=UTC)
SECRET = "the PIN of anna@example.com is 0000"


@pytest.fixture
def log(tmp_path):
    return ErrorLog(tmp_path, now=lambda: NOW)


def met(error, cause=None):
    """Return *error* as it is caught: with a traceback, and with what led to it."""

    def raise_it():
        raise error from cause

    with pytest.raises(type(error)) as raised:
        raise_it()
    return raised.value


def test_a_line_has_class_code_numbers_and_causes(log, tmp_path):
    cause = OSError(28, SECRET)
    log.note(met(Parked("weights", partition=2, offset=7, reason=SECRET), cause), where="here")
    (line,) = last_errors(tmp_path)
    assert (line["at"], line["where"]) == ("2030-01-01T00:00:00+00:00", "here")
    assert (line["error"], line["code"], line["projection"]) == ("Parked", "parked", "weights")
    assert (line["partition"], line["offset"]) == (2, 7)
    assert line["causes"] == ["OSError 28"]


@pytest.mark.parametrize(
    "error",
    [
        StoreUnavailable(SECRET, SECRET),
        Damaged(SECRET, SECRET),
        HistoryLost(SECRET, partition=0, wanted=1, start=2),
        ValueError(SECRET),
        KeyError(SECRET),
    ],
)
def test_nothing_that_an_error_says_is_noted(log, tmp_path, error):
    log.note(met(error, ValueError(SECRET)), where="here")
    written = (tmp_path / FILE).read_text()
    assert SECRET not in written
    assert "0000" not in written.replace("+00:00", "").replace("T00:00:00", "")


@pytest.mark.parametrize(
    "error",
    [
        InvalidEvent("text", SECRET, "too long"),
        InvalidSetting("x", "y", "z"),
        NotFound("memory", "m"),
        ReadOnly("observe"),
        KeyboardInterrupt(),
    ],
)
def test_what_the_caller_did_is_not_noted(log, tmp_path, error):
    log.note(met(error), where="here")
    assert not (tmp_path / FILE).exists()


def test_lines_of_our_code_are_named_and_no_others(log, tmp_path):
    with opened(tmp_path / "data") as mem, pytest.raises(NotFound) as raised:
        mem.get("e-1")
    log.note(met(StoreUnavailable("x", "y")).with_traceback(raised.tb), where="here")
    frames = last_errors(tmp_path)[0]["frames"]
    assert frames
    assert all(frame.startswith("mnemolog.") for frame in frames)


def test_an_error_that_comes_again_is_noted_ever_more_seldom(log, tmp_path):
    for _ in range(100):
        log.note(met(StoreUnavailable("x", "y")), where="here")
    log.note(met(StoreUnavailable("x", "y")), where="elsewhere")
    assert [line["times"] for line in last_errors(tmp_path)] == [1, 2, 4, 8, 16, 32, 64, 1]


def test_the_files_are_bounded_and_the_newest_is_kept(log, tmp_path):
    for number in range(3_000):
        log.note(met(StoreUnavailable("x", "y")), where=f"place {number}")
    sizes = [(tmp_path / name).stat().st_size for name in (FILE, FORMER_FILE)]
    assert all(size < BYTES_MAX + 1_000 for size in sizes)
    assert last_errors(tmp_path)[-1]["where"] == "place 2999"


def test_torn_lines_and_what_is_no_line_are_left_out(log, tmp_path):
    log.note(met(StoreUnavailable("x", "y")), where="here")
    with (tmp_path / FILE).open("ab") as file:
        file.write(b'[1]\n\xff\n{"error": "Torn')
    assert [line["where"] for line in last_errors(tmp_path)] == ["here"]


def test_a_disk_that_refuses_stops_nobody(tmp_path):
    (tmp_path / FILE).mkdir()
    ErrorLog(tmp_path, now=lambda: NOW).note(met(StoreUnavailable("x", "y")), where="here")
    assert last_errors(tmp_path) == []


def test_nothing_is_made_where_nothing_is(tmp_path):
    ErrorLog(tmp_path / "none", now=lambda: NOW).note(met(ValueError("x")), where="here")
    assert list(tmp_path.iterdir()) == []


# Who notes


def noted(folder: Path):
    return [(line["where"], line["error"]) for line in last_errors(folder / "default")]


def test_what_a_memory_could_not_do_is_noted_when_it_is_left(tmp_path):
    opened(tmp_path).close()
    with pytest.raises(ValueError, match="PIN"), opened(tmp_path, agent="ops-1"):
        int(SECRET)
    assert noted(tmp_path) == [("using a memory", "ValueError")]
    assert SECRET not in (tmp_path / "default" / FILE).read_text()


def test_what_keeps_a_memory_from_projecting_is_noted(tmp_path):
    opened(tmp_path).close()
    lock = tmp_path / "default" / "projector.lock"
    lock.unlink()
    lock.mkdir()
    with opened(tmp_path) as mem:
        assert not mem.engine.is_owner
    assert noted(tmp_path) == [("opening", "StoreUnavailable")]


def test_who_only_reads_notes_nothing(tmp_path):
    opened(tmp_path).close()
    with pytest.raises(ZeroDivisionError), opened(tmp_path, read_only=True):
        raise ZeroDivisionError
    assert noted(tmp_path) == []


def test_lines_are_json(log, tmp_path):
    log.note(met(ValueError("x")), where="here")
    assert json.loads((tmp_path / FILE).read_text())["error"] == "ValueError"
