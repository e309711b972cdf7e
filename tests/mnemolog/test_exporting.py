"""An export says all of a log that another needs, once, in an order that any log can take."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mnemolog.exporting import MISSING_KEPT_MAX, Wanted, export
from mnemolog.schemas.blobs import BlobReference, digest_of, written
from mnemolog.schemas.envelope import Envelope
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.events.governance import ProcessorAdvanced
from mnemolog.schemas.partitioning import governance_key
from mnemolog.streams.blobs import InMemoryBlobs
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.publishing import Draft, Publisher
from support import small_history
from support.any_history import codec_of
from support.histories import START, TENANT
from support.log_engines import MemoryEngine
from support.moving import exported, lines_of


class Clock:
    def __init__(self):
        self.now = START

    def __call__(self):
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def log(clock):
    return InMemoryLog(TENANT, partitions=4, now=clock)


@pytest.fixture
def publisher(log, clock):
    return Publisher(log, codec_of(4), tenant=TENANT, now=clock)


def said(text, **around):
    given = {"id": text, "agent": "ops-1", "occurred_at": START, **around}
    return Draft(model=ObservationRecorded, fields={"text": text}, **given)


def texts(lines):
    return [line["data"].get("text") for line in lines]


# Lines


def test_a_line_is_the_event_as_a_cloud_event_with_the_logs_time(log, publisher):
    publisher.append([said("seen", task="t", cause="e0", extensions={"traceparent": "00-abc"})])
    assert lines_of(log, publisher.codec) == [
        {
            "specversion": "1.0",
            "id": "seen",
            "source": "/mnemolog/sdk",
            "type": "mnemolog.observation.recorded",
            "time": "2030-01-01T00:00:00.000000Z",
            "recordedtime": "2030-01-01T00:02:00.000000Z",
            "datacontenttype": "application/json",
            "dataschema": "urn:mnemolog:schema:observation.recorded:1",
            "partitionkey": "ops-1",
            "tenant": "tests",
            "agent": "ops-1",
            "task": "t",
            "causationid": "e0",
            "traceparent": "00-abc",
            "data": {"text": "seen"},
        }
    ]


def test_an_export_begins_and_ends_with_what_tells_whether_it_is_whole(log, publisher):
    publisher.append([said("seen")])
    first, _, last = (json.loads(line) for line in exported(log, publisher.codec).splitlines())
    assert first["data"] == {"format": 1, "topic": "mnemolog.tests.events", "partitions": 4}
    assert (last["type"], last["data"]) == ("mnemolog.export.ended", {"lines": 1})


def test_twice_is_equal_and_each_agents_events_are_in_order(log, publisher):
    small_history.feed(publisher)
    first = exported(log, publisher.codec)
    assert exported(log, publisher.codec) == first
    lines = [json.loads(line) for line in first.splitlines()[1:-1]]
    for agent in (small_history.OPS, small_history.DEV):
        told = [event_id for event_id, by, *_ in small_history.TOLD if by == agent]
        assert [line["id"] for line in lines if line.get("agent") == agent] == told
    [policy] = [line for line in lines if line["type"] == "mnemolog.policy.changed"]
    assert (policy["id"], policy["partitionkey"]) == ("p-1", "mnemolog:governance")


def test_an_empty_log_is_an_export_of_nothing(log, publisher):
    assert lines_of(log, publisher.codec) == []


def test_what_is_no_event_goes_out_with_its_bytes_key_and_headers(publisher):
    engine = MemoryEngine()
    log = engine.open()
    codec = replace_tenant(publisher.codec, engine.tenant)
    for value in (None, b"", b"null", b"\xff"):
        engine.put_raw(log, 0, key=b"\x00k", value=value, headers=(("a", b"\xff"), ("b", None)))
    lines = lines_of(log, codec)
    assert {line["type"] for line in lines} == {"mnemolog.export.foreign"}
    assert [line.get("data_base64") for line in lines] == [None, "", "bnVsbA==", "/w=="]
    assert [line["reason"] for line in lines[:2]] == ["a tombstone", "empty"]
    assert {line["recordkey"] for line in lines} == {"AGs="}
    assert {line["recordheaders"] for line in lines} == {'[["a", "/w=="], ["b", null]]'}
    assert len({line["id"] for line in lines}) == 4


def replace_tenant(codec, tenant):
    return type(codec)(tenant=tenant, partitions=1)


def test_marks_of_processors_are_left_out_and_counted(log, publisher):
    advanced = ProcessorAdvanced(processor="p", partition=0, offset=1)
    for key, agent in ((governance_key(0, partitions=4), None), ("ops-1", "ops-1")):
        around = Envelope(id="p", source="/tests", occurred_at=START, key=key, agent=agent)
        log.append([publisher.codec.encode(advanced, around)])
    publisher.append([said("seen")])
    report = export(log, publisher.codec, Lines(), wanted=Wanted())
    assert (report.events, report.left_out) == (1, 2)


class Lines(list):
    """A stream that keeps what is written to it."""

    write = list.append


# Parts


def test_of_one_agent_its_events_go_out_and_what_rules_all(log, publisher):
    small_history.feed(publisher)
    lines = lines_of(log, publisher.codec, agent=small_history.OPS)
    told = [event_id for event_id, agent, *_ in small_history.TOLD if agent == small_history.OPS]
    assert {line["id"] for line in lines} == {"p-1", *told}


def test_of_a_time_goes_out_what_the_log_took_then(log, publisher, clock):
    for number in range(5):
        publisher.append([said(f"e{number}")])
    times = [line["recordedtime"] for line in lines_of(log, publisher.codec)]
    since, until = times[1], times[3]
    wanted = {"recorded_from": since, "recorded_until": until}
    assert texts(lines_of(log, publisher.codec, **wanted)) == ["e1", "e2"]
    assert texts(lines_of(log, publisher.codec, recorded_from=since)) == ["e1", "e2", "e3", "e4"]
    assert texts(lines_of(log, publisher.codec, recorded_until=until)) == ["e0", "e1", "e2"]
    later = clock.now + timedelta(days=1)
    assert lines_of(log, publisher.codec, recorded_from=later) == []
    assert lines_of(log, publisher.codec, recorded_until=datetime(1999, 1, 1, tzinfo=UTC)) == []
    assert lines_of(log, publisher.codec, recorded_from=until, recorded_until=since) == []


@pytest.mark.parametrize(
    "wanted", [{"agent": "../up"}, {"recorded_from": "yesterday"}, {"recorded_until": 7}]
)
def test_a_name_or_a_time_that_can_not_be_is_refused(log, publisher, wanted):
    with pytest.raises(InvalidSetting, match=next(iter(wanted))):
        export(log, publisher.codec, Lines(), wanted=Wanted(**wanted))


def test_what_comes_while_it_runs_does_not_go_out(log, publisher):
    publisher.append([said("before")])

    def write(self, content):
        publisher.append([said(f"meanwhile {len(self)}")])
        self.append(content)

    stream = type("Stream", (list,), {"write": write})()
    assert export(log, publisher.codec, stream, wanted=Wanted()).events == 1


def test_how_far_it_is_is_told_and_that_it_is_through(log, publisher):
    small_history.feed(publisher)
    told = []
    export(
        log,
        publisher.codec,
        Lines(),
        wanted=Wanted(),
        tell=lambda done, total: told.append((done, total)),
    )
    records = sum(log.ends().values())
    assert (told[0], told[-1]) == ((0, records), (records, records))


# Texts beside the log


def naming(*blobs):
    references = [BlobReference(f"/data/{n}", digest_of(b), len(b)) for n, b in enumerate(blobs)]
    return {"dataref": written(references)}


@pytest.fixture
def blobs():
    return InMemoryBlobs()


def with_blobs(publisher, *blobs, event_id):
    data = {str(n): "head" for n in range(len(blobs))}
    fields = {"text": event_id, "data": data}
    around = replace(said(event_id), fields=fields, **naming(*blobs))
    publisher.append([around])


def test_a_blob_goes_out_once_before_the_first_event_that_names_it(log, publisher, blobs):
    one, two = (b"one", b"two")
    for blob in (one, two):
        blobs.put(blob)
    with_blobs(publisher, one, event_id="e0")
    with_blobs(publisher, one, two, event_id="e1")
    stream = Lines()
    report = export(log, publisher.codec, stream, wanted=Wanted(), blobs=blobs)
    lines = [json.loads(line) for line in stream[1:-1]]
    ids = [line["id"] for line in lines]
    assert ids == [digest_of(one), "e0", digest_of(two), "e1"]
    assert lines[0]["data_base64"] == "b25l"
    assert (report.events, report.blobs, report.blobs_missing) == (2, 2, 0)
    assert json.loads(stream[-1])["data"] == {"lines": 4}


def test_a_blob_that_is_missing_or_damaged_is_named_and_the_export_goes_on(log, publisher, blobs):
    blobs.put(b"there")
    with_blobs(publisher, b"gone", b"there", event_id="e0")
    stream = Lines()
    report = export(log, publisher.codec, stream, wanted=Wanted(), blobs=blobs)
    assert (report.events, report.blobs, report.blobs_missing) == (1, 1, 1)
    assert digest_of(b"gone") in report.missing[0]
    assert json.loads(stream[-2])["id"] == "e0"


def test_the_list_of_what_is_missing_is_bounded_and_its_total_is_not(log, publisher, blobs):
    for number in range(MISSING_KEPT_MAX + 5):
        with_blobs(publisher, b"%d" % number, event_id=f"e{number}")
    for place in (blobs, None):
        report = export(log, publisher.codec, Lines(), wanted=Wanted(), blobs=place)
        assert report.blobs_missing == MISSING_KEPT_MAX + 5
        assert len(report.missing) == MISSING_KEPT_MAX


def test_a_reference_of_somebody_elses_form_names_no_blob(log, publisher, blobs):
    publisher.append([replace(said("e0"), dataref="https://example.com/blob")])
    report = export(log, publisher.codec, Lines(), wanted=Wanted(), blobs=blobs)
    assert (report.events, report.blobs_missing) == (1, 0)
