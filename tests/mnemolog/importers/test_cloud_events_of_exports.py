"""An export's own lines say what is to be put beside the events; no log ever holds one."""

import base64
import json

import pytest

from mnemolog.schemas.decoded import Foreign
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.events.governance import PolicyChanged
from mnemolog.schemas.policy import Policy
from mnemolog.streams.blobs import InMemoryBlobs
from mnemolog.streams.memory_log import InMemoryLog
from support.events import document
from support.import_log import TENANT, ImportLog, lines_file
from support.moving import items_of

GUEST = {"specversion": "1.0", "id": "1", "source": "/s", "type": "com.example.done", "data": [1]}
SEEN = ObservationRecorded(text="seen")
BEGUN = {
    "specversion": "1.0",
    "type": "mnemolog.export.begun",
    "source": "/l",
    "id": "b",
    "data": {"format": 1},
}
ENDED = {**BEGUN, "type": "mnemolog.export.ended", "id": "e"}


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def items(log: ImportLog):
    return items_of(log.log, log.publisher.codec)


def line_of_an_export(kind: str, **told) -> dict:
    needed = {
        "specversion": "1.0",
        "source": "/l",
        "id": "x",
        "recordedtime": "2030-01-01T00:00:00Z",
    }
    return {**needed, "type": f"mnemolog.export.{kind}", **told}


def packed(content: bytes) -> str:
    return base64.b64encode(content).decode()


def test_a_foreign_record_is_put_back_as_it_was_once_and_is_no_event(log, tmp_path):
    told = line_of_an_export(
        "foreign",
        id="f-1",
        reason="not JSON",
        data_base64=packed(b"not json"),
        recordkey=packed(b"\xff"),
        recordheaders=json.dumps([["a", None], ["b", ""]]),
    )
    tombstone = line_of_an_export("foreign", id="f-2", reason="a tombstone", recordheaders="[]")
    path = lines_file(tmp_path, told, tombstone, GUEST)
    first, second = log.take(path), log.take(path)
    assert (first.foreign, first.added, first.by_type.total()) == (2, 1, 1)
    assert (second.foreign, second.added) == (0, 0)
    one, two, _ = items(log)
    assert isinstance(one, Foreign)
    assert (one.record.key, one.record.value, one.reason) == (b"\xff", b"not json", "not JSON")
    assert one.record.headers[:2] == (("a", None), ("b", b""))
    assert (two.record.key, two.record.value, two.reason) == (None, None, "a tombstone")


@pytest.mark.parametrize(
    "change",
    [
        {"recordkey": "!"},
        {"recordkey": 7},
        {"data_base64": "é"},
        {"recordheaders": None},
        {"recordheaders": "{"},
        {"recordheaders": '[["a"]]'},
        {"recordheaders": '[["a", "!"]]'},
        {"recordheaders": '[[1, ""]]'},
        {"reason": None},
        {"reason": 7},
        {"id": ""},
        {"recordedtime": None},
    ],
)
def test_a_damaged_foreign_line_is_a_problem(log, tmp_path, change):
    told = {"id": "f-1", "reason": "not JSON", "recordheaders": "[]", "data_base64": packed(b"x")}
    report = log.take(lines_file(tmp_path, line_of_an_export("foreign", **told) | change, GUEST))
    assert (report.problems_total, report.foreign, report.added) == (1, 0, 1)


def test_a_foreign_record_that_no_log_takes_is_a_problem(log, tmp_path):
    told = line_of_an_export("foreign", id="f", reason="large", recordheaders="[]")
    large = {**told, "data_base64": packed(bytes(1_100_000))}
    report = log.take(lines_file(tmp_path, large, GUEST))
    assert (report.problems_total, report.foreign, report.added) == (1, 0, 1)


def test_a_blob_is_put_beside_the_log_if_it_is_what_its_name_says(log, tmp_path):
    blobs = InMemoryBlobs()
    sha256 = InMemoryBlobs().put(b"long")
    sound = line_of_an_export("blob", id=sha256, data_base64=packed(b"long"))
    spoilt = line_of_an_export("blob", id=sha256, data_base64=packed(b"other"))
    report = log.take(lines_file(tmp_path, sound, spoilt, GUEST), blobs=blobs)
    assert (report.blobs, report.added, report.problems_total) == (1, 1, 1)
    assert "is not what its name says" in report.problems[0].reason
    assert blobs.get(sha256) == b"long"


def test_without_a_place_for_blobs_each_is_a_problem_and_a_dry_run_checks_alike(log, tmp_path):
    sha256 = InMemoryBlobs().put(b"long")
    path = lines_file(tmp_path, line_of_an_export("blob", id=sha256, data_base64=packed(b"long")))
    assert log.take(path).problems_total == 1
    blobs = InMemoryBlobs()
    assert log.take(path, blobs=blobs, dry_run=True).blobs == 1
    assert list(blobs.stored()) == []


@pytest.mark.parametrize(
    ("lines", "places"),
    [
        ([BEGUN, GUEST, ENDED], []),
        ([BEGUN, GUEST], ["line 1"]),
        ([BEGUN, ENDED, BEGUN], ["line 3"]),
        ([BEGUN, GUEST, BEGUN, ENDED], ["line 1"]),
        ([GUEST, ENDED], []),
        ([{**BEGUN, "data": {"format": 2}}, ENDED], ["line 1"]),
        ([{**BEGUN, "data": None}, ENDED], ["line 1"]),
    ],
)
def test_an_export_that_is_cut_off_or_of_another_format_is_told(log, tmp_path, lines, places):
    report = log.take(lines_file(tmp_path, *lines))
    assert [problem.place for problem in report.problems] == places
    assert log.size() == (GUEST in lines)


def test_a_dry_run_says_what_would_be_added_and_adds_nothing(tmp_path):
    log = ImportLog(InMemoryLog(TENANT, partitions=3))
    told = document(PolicyChanged(revision=1, policy=Policy()), agent=None, partitionkey=None)
    foreign = line_of_an_export("foreign", reason="a tombstone", recordheaders="[]")
    bad = document(SEEN, data={})
    path = lines_file(tmp_path, told, GUEST, foreign, bad, GUEST)
    dry = log.take(path, dry_run=True)
    assert log.size() == 0
    wet = log.take(path)
    assert (dry.added, dry.already_there, dry.foreign) == (2, 1, 1)
    assert dry.by_type == wet.by_type
    assert list(map(str, dry.problems)) == list(map(str, wet.problems))
    assert (wet.added, wet.already_there) == (2, 1)
