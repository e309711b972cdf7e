"""Archives of evaluations: as their JSON, one sample at a time, and harmless where they are bad."""

import gzip
import io
import json
import struct
import zipfile
import zlib

import pytest

from mnemolog.importers import inspect_log_archive
from mnemolog.importers.inspect_log import InspectLog
from mnemolog.schemas.events.experience import MessageExchanged, SessionEnded
from support.evaluations import (
    archived,
    evaluation,
    model,
    packed,
    sample,
    says,
    score,
    user,
    written,
)
from support.import_log import ImportLog, json_file

EPOCHS = 3


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def whole() -> dict:
    return evaluation(
        *(
            sample(
                model([user(f"Go {n}")], says(f"Gone {n}")),
                score("C"),
                uuid=f"sample-{n}",
                epoch=n,
            )
            for n in range(1, EPOCHS + 1)
        )
    )


def ids(log: ImportLog) -> set[str]:
    return {found.envelope.id for found in log.events()}


def texts(log: ImportLog) -> list[str]:
    return [found.recorded.event.text for found in log.of(MessageExchanged)]


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_an_archive_is_the_same_as_its_json(log, tmp_path, compression):
    first = log.take(json_file(tmp_path, whole()))
    again = log.take(written(tmp_path, archived(whole(), compression=compression)))
    assert (again.problems, again.added, again.already_there) == ([], 0, first.added)


def test_an_archive_may_come_under_any_name_and_packed_again(log, tmp_path):
    first = log.take(written(tmp_path, archived(whole())))
    again = log.take(written(tmp_path, gzip.compress(archived(whole())), name="log.gz"))
    assert (again.problems, again.added) == ([], 0)
    assert again.already_there == first.added


def test_an_evaluation_that_runs_has_no_header_and_grows(log, tmp_path):
    running = whole()
    running["samples"] = running["samples"][:1]
    report = log.take(written(tmp_path, archived(running, header=False)))
    assert report.problems == []
    assert len(log.of(SessionEnded)) == 1
    log.take(written(tmp_path, archived(whole())))
    other = ImportLog()
    other.take(written(tmp_path, archived(whole())))
    assert ids(log) == ids(other)


def test_the_first_archives_had_their_start_and_results_at_the_top(log, tmp_path):
    made = whole()
    members = {
        "start.json": {key: made[key] for key in ("version", "eval", "plan")},
        "samples/1_epoch_1.json": made["samples"][0],
        "results.json": {key: made[key] for key in ("status", "stats", "results")},
    }
    assert log.take(written(tmp_path, packed(members))).problems == []
    assert len(log.of(SessionEnded)) == 2


def test_a_bad_sample_is_named_and_its_neighbours_come(log, tmp_path):
    members = {"header.json": {**whole(), "samples": None}}
    members |= {f"samples/{n}_epoch_1.json": one for n, one in enumerate(whole()["samples"])}
    members["samples/1_epoch_1.json"] = b'{"id": 1, "epoch'
    members["samples/8_epoch_1.json"] = [1]
    members["samples/9_epoch_1/sample.json"] = {}
    members["samples/9_epoch_1/events/0.json"] = []
    report = log.take(written(tmp_path, packed(members)))
    places = [problem.place for problem in report.problems]
    assert [place.split("/")[1].split(".")[0] for place in places] == [
        *("1_epoch_1", "8_epoch_1", "9_epoch_1"),
    ]
    assert texts(log) == ["Go 1", "Gone 1", "Go 3", "Gone 3"]


def test_a_damaged_member_is_named_and_its_neighbours_come(log, tmp_path):
    content = bytearray(archived(whole()))
    at = content.find(b"samples/1_epoch_2.json") + len("samples/1_epoch_2.json")
    content[at + 40 : at + 60] = b"\xff" * 20
    report = log.take(written(tmp_path, bytes(content)))
    assert len(report.problems) == 1
    assert "damaged" in report.problems[0].reason
    assert texts(log) == ["Go 1", "Gone 1", "Go 3", "Gone 3"]


def test_a_member_packed_in_an_unknown_way_is_named(log, tmp_path):
    content = bytearray(archived(whole()))
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        names = [n for n in range(len(content)) if content.startswith(mark, n)]
        at = next(n for n in names if b"samples/1_epoch_2.json" in content[n : n + 80])
        content[at + offset : at + offset + 2] = struct.pack("<H", 98)
    report = log.take(written(tmp_path, bytes(content)))
    assert [problem.reason.count("deflate") for problem in report.problems] == [1]
    assert texts(log) == ["Go 1", "Gone 1", "Go 3", "Gone 3"]


def test_a_bomb_is_not_unpacked(log, tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_log_archive, "ITEM_BYTES_MAX", 100_000)
    members = {"header.json": {**whole(), "samples": None}}
    members["samples/1_epoch_1.json"] = b" " * 50_000_000
    members["samples/1_epoch_2.json"] = whole()["samples"][1]
    content = packed(members)
    assert len(content) < 100_000
    report = log.take(written(tmp_path, content))
    assert [problem.reason for problem in report.problems] == ["unpacked more than 100000 bytes"]
    assert texts(log) == ["Go 2", "Gone 2"]


def test_a_bomb_whose_size_is_a_lie_is_not_unpacked(log, tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_log_archive, "ITEM_BYTES_MAX", 100_000)
    members = {"header.json": {**whole(), "samples": None}}
    members["samples/1_epoch_1.json"] = b" " * 50_000_000
    content = packed(members).replace(struct.pack("<I", 50_000_000), struct.pack("<I", 10))
    report = log.take(written(tmp_path, content))
    assert len(report.problems) == 1


def test_all_members_together_are_bounded(log, tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_log_archive, "UNPACKED_BYTES_MAX", 1_500)
    report = log.take(written(tmp_path, archived(whole())))
    assert 0 < len(report.problems) < EPOCHS + 1
    assert all("unpacked more" in problem.reason for problem in report.problems)


@pytest.mark.parametrize("cut", [4, 30, 200, 0.5, 0.9])
def test_an_archive_that_ends_early_is_a_problem(log, tmp_path, cut):
    content = archived(whole())
    end = cut if isinstance(cut, int) else int(len(content) * cut)
    report = log.take(written(tmp_path, content[:end]))
    assert [problem.place for problem in report.problems] == ["log"]
    assert log.events() == []


def test_gzip_that_ends_early_around_an_archive_is_a_problem(log, tmp_path):
    content = gzip.compress(archived(whole()))
    report = log.take(written(tmp_path, content[: len(content) // 2]), format="inspect")
    assert len(report.problems) == 1


def test_an_archive_of_something_else_is_a_problem(log, tmp_path):
    report = log.take(written(tmp_path, packed({"a.txt": b"hello"})))
    assert "without the header" in report.problems[0].reason


def test_a_directory_without_end_is_not_read(log, tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_log_archive, "DIRECTORY_BYTES_MAX", 100)
    report = log.take(written(tmp_path, archived(whole())))
    assert "directory" in report.problems[0].reason


def test_an_archive_without_end_is_not_kept(log, tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_log_archive, "ARCHIVE_BYTES_MAX", 1_000)
    report = log.take(written(tmp_path, archived(whole())))
    assert "more than 1000 bytes" in report.problems[0].reason


def test_a_name_that_stands_twice_is_read_once(log, tmp_path):
    file = io.BytesIO(archived(whole()))
    with zipfile.ZipFile(file, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("samples/1_epoch_1.json", json.dumps(whole()["samples"][0]))
    report = log.take(written(tmp_path, file.getvalue()))
    assert (report.problems, texts(log).count("Go 1")) == ([], 1)


def test_what_is_recognised():
    content = archived(whole())
    assert InspectLog().recognises("x.eval", content[:10])
    assert InspectLog().recognises("standard input", content)
    assert not InspectLog().recognises("x.zip", packed({"a.txt": b"hello"}))
    assert InspectLog().recognises("x.json", json.dumps(whole()).encode()[:300])
    assert not InspectLog().recognises("x.json", b'{"status": "ok", "events": []}')
    assert InspectLog().recognises("x.json", b'{"events": [{"event": "model", "working_start": 1')
    quoted = json.dumps({"events": [{"event": "message", "text": '{"working_start": 1}'}]})
    assert not InspectLog().recognises("x.json", quoted.encode())
    assert zlib.crc32(content) == zlib.crc32(archived(whole()))  # the same log, the same bytes
