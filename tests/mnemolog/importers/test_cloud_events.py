"""CloudEvents come in as they are: ours are ours, guests are guests, and what is bad is named."""

import json

import pytest

from mnemolog.importers.cloud_events import CloudEvents
from mnemolog.schemas.decoded import Guest, Ours, Unusable
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.events.governance import PolicyChanged, ProcessorAdvanced
from mnemolog.schemas.policy import Policy
from mnemolog.streams.memory_log import InMemoryLog
from support.events import codec, document
from support.import_log import TENANT, ImportLog, json_file, lines_file
from support.moving import items_of

GUEST = {"specversion": "1.0", "id": "1", "source": "/s", "type": "com.example.done", "data": [1]}
SEEN = ObservationRecorded(text="seen")


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def items(log: ImportLog):
    return items_of(log.log, log.publisher.codec)


# Shapes


def test_lines_a_batch_and_one_document_are_recognised_and_come_in(log, tmp_path):
    other = {**GUEST, "id": "2"}
    lines_file(tmp_path, GUEST, other, name="a.jsonl")
    json_file(tmp_path, [GUEST, {**GUEST, "id": "3"}], name="b.json")
    json_file(tmp_path, {**GUEST, "id": "4"}, name="c.json")
    report = log.take(tmp_path)
    assert (report.files, report.added, report.already_there) == (3, 4, 1)
    assert [item.envelope.id for item in items(log)] == ["1", "2", "3", "4"]


def test_a_line_may_hold_a_batch(log, tmp_path):
    report = log.take(lines_file(tmp_path, [GUEST, 7], {**GUEST, "id": "2"}), format="cloudevents")
    assert [item.envelope.id for item in items(log)] == ["1", "2"]
    assert [problem.place for problem in report.problems] == ["line 1, item 2"]


@pytest.mark.parametrize(
    ("head", "is_ours"),
    [
        (b'{"specversion": "1.0", "type": "t"', True),
        (b'[{"type": "t", "specversion": "1.0"}]', True),
        (b'{bad\n{"specversion": "1.0", "type": "t"}', True),
        (b'{"type": "t", "data": {"specversion": "1.0"}}', False),
        (b'{"role": "user", "content": "specversion type"}', False),
        (b"", False),
    ],
)
def test_a_cloud_event_is_recognised_by_its_version_and_type(head, is_ours):
    assert CloudEvents().recognises("x", head) is is_ours


# Events


def test_an_event_of_ours_is_that_event(log, tmp_path):
    told = document(
        SEEN, task="t", causationid="e0", traceparent="00-abc", time="2030-01-02T03:04:05"
    )
    report = log.take(lines_file(tmp_path, told))
    [found] = log.of(ObservationRecorded)
    assert report.by_type == {"observation.recorded": 1}
    assert found.recorded.event == SEEN
    envelope = found.envelope
    assert (envelope.id, envelope.source, envelope.key) == ("e1", "/tests", "ops-1")
    assert (envelope.task, envelope.cause, envelope.assumed_utc) == ("t", "e0", True)
    assert envelope.extensions == {"traceparent": "00-abc"}


def test_the_tenant_is_the_one_imported_into(tmp_path):
    log = ImportLog(InMemoryLog("tests"))
    theirs = {"tenant": "elsewhere"}
    report = log.take(lines_file(tmp_path, document(SEEN, **theirs), {**GUEST, **theirs}))
    assert report.problems == []
    assert [json.loads(item.record.value)["tenant"] for item in items(log)] == [TENANT] * 2


def test_an_event_of_anybody_is_a_guest_with_its_data(log, tmp_path):
    packed = {"datacontenttype": "text/plain", "data_base64": "/w=="}
    texts = {**{name: v for name, v in GUEST.items() if name != "data"}, **packed}
    texts["id"] = "2"
    report = log.take(lines_file(tmp_path, GUEST, texts))
    first, second = items(log)
    assert report.by_type == {"com.example.done": 2}
    assert isinstance(first, Guest)
    assert json.loads(first.canonical) == GUEST
    assert json.loads(second.canonical) == texts


@pytest.mark.parametrize(
    ("attributes", "agent", "key"),
    [
        ({}, None, "mnemolog:no-agent"),
        ({}, "ops-1", "ops-1"),
        ({"agent": "a"}, "ops-1", "a"),
        ({"partitionkey": "p"}, "ops-1", "p"),
        ({"partitionkey": "p", "agent": "a"}, None, "p"),
    ],
)
def test_a_guests_key_is_its_own_or_the_agent_that_is_given(log, tmp_path, attributes, agent, key):
    log.take(lines_file(tmp_path, {**GUEST, **attributes}), agent=agent)
    [found] = items(log)
    assert (found.key, found.record.key) == (key, key.encode())


def test_names_are_given_to_events_that_have_none_and_not_to_those_of_a_log(log, tmp_path):
    bare = document(SEEN, agent=None, partitionkey=None)
    ours = {**document(SEEN, id="e2"), "user": "u"}
    brought = {**GUEST, "recordedtime": "2030-01-01T00:00:00Z"}
    log.take(lines_file(tmp_path, bare, ours, brought), agent="ann", user="小李", project="shop")
    told = [(i.key, i.envelope.user, i.envelope.project) for i in items(log)]
    assert told == [
        ("ann", "小李", "shop"),
        ("ops-1", "u", "shop"),
        ("mnemolog:no-agent", None, None),
    ]


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ({**GUEST, "specversion": "0.3"}, "specversion"),
        ({**GUEST, "source": None}, "source is missing"),
        ({**GUEST, "id": 7}, "id is missing"),
        ({**GUEST, "id": "x" * 300}, "300 bytes"),
        ({**GUEST, "Extra": "x"}, "lower-case"),
        ({**GUEST, "extra": {"a": 1}}, "extra is a dict"),
        ({**GUEST, "data_base64": "AA=="}, "both data"),
        ({**GUEST, "time": "yesterday"}, "RFC 3339"),
        ({**GUEST, "partitionkey": "a", "subject": "a\0"}, "NUL"),
        ({**GUEST, "type": []}, "type is"),
        ({**GUEST, "data": "x" * 1_100_000}, "the limit is 1048576"),
        ({**GUEST, "partitionkey": "x" * 70_000}, "bytes"),
        (7, "no CloudEvent"),
        (document(SEEN, data={}), "text"),
        (document(SEEN, dataschema="urn:mnemolog:schema:observation.recorded:9"), "newer"),
        (document(SEEN, agent="../up", partitionkey="../up"), "path"),
        (document(ProcessorAdvanced(processor="p", partition=0, offset=1)), "one log"),
        ({**GUEST, "type": "mnemolog.export.dreamt"}, "no such line"),
    ],
)
def test_what_is_no_sound_event_is_a_problem_and_its_neighbours_come(log, tmp_path, bad, reason):
    report = log.take(lines_file(tmp_path, GUEST, bad, {**GUEST, "id": "2"}), format="cloudevents")
    assert [item.envelope.id for item in items(log)] == ["1", "2"]
    [problem] = report.problems
    assert problem.place == "line 2"
    assert reason in problem.reason


def test_what_stood_on_a_log_and_this_code_cannot_apply_is_brought_and_parked_there(log, tmp_path):
    newer = document(SEEN, dataschema="urn:mnemolog:schema:observation.recorded:9")
    report = log.take(lines_file(tmp_path, {**newer, "recordedtime": "2030-01-01T00:00:00Z"}))
    [found] = items(log)
    assert (report.problems, report.added) == ([], 1)
    assert isinstance(found, Unusable)
    assert found.newer


def test_what_rules_every_key_gets_a_copy_in_each_partition_and_counts_once(tmp_path):
    log = ImportLog(InMemoryLog(TENANT, partitions=4))
    told = document(PolicyChanged(revision=1, policy=Policy()), agent=None, partitionkey=None)
    path = lines_file(tmp_path, told, GUEST)
    first, second = log.take(path, agent="ops-1"), log.take(path, agent="ops-1")
    assert (first.added, second.added, second.already_there) == (2, 0, 2)
    assert first.by_type == {"policy.changed": 1, "com.example.done": 1}
    copies = [item for item in items(log) if isinstance(item, Ours)]
    assert [item.record.partition for item in copies] == [0, 1, 2, 3]
    assert first.token.offsets.keys() == {0, 1, 2, 3}


def test_a_batch_is_sent_before_its_copies_are_more_than_a_log_takes(tmp_path):
    log = ImportLog(InMemoryLog(TENANT, partitions=600))
    told = document(PolicyChanged(revision=1, policy=Policy()), agent=None, partitionkey=None)
    path = lines_file(tmp_path, *({**told, "id": f"p-{n}"} for n in range(20)))
    assert log.take(path, batch=10_000).added == 20
    assert log.size() == 12_000


def test_events_of_other_codecs_limits_are_taken_up_to_the_setting(tmp_path):
    log = ImportLog()
    log.publisher._codec = codec(event_bytes_max=600)
    long = {**GUEST, "id": "2", "data": "x" * 600}
    report = log.take(lines_file(tmp_path, GUEST, long))
    assert report.added == 1
    assert "the limit is 600" in report.problems[0].reason
