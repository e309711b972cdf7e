"""An event that is brought to another log is the same event there, in identity and content."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.decoded import Guest, Ours, Unusable
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events import ALL_EVENTS
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.schemas.portable import document_bytes, portable, taken
from mnemolog.schemas.registry import Registry
from mnemolog.schemas.upcasts import Upcasts
from mnemolog.schemas.values import json_bytes, parse_json
from support.any_event import events
from support.any_history import examples, pools
from support.events import (
    FULL_ENVELOPE,
    RECORDED,
    codec,
    document,
    envelope,
    envelopes,
    logged,
    published,
    record,
)

SEEN = ObservationRecorded(text="seen")
OTHER = codec(tenant="elsewhere", partitions=4)
POOLS = pools()
any_event = st.sampled_from(ALL_EVENTS).flatmap(lambda model: events(model, POOLS))


def brought(item, *, to=OTHER):
    """Return what *item* is on another log, where it came as a line of text."""
    line = document_bytes(portable(item))
    return to.decode(logged(taken(parse_json(line), to).record, partitions=to.partitions))


# Ours


@examples(60)
@given(event=any_event, around=envelopes)
def test_any_event_of_ours_is_the_same_on_another_log(event, around):
    new = codec().encode(event, around)
    here = codec().decode(logged(new))
    there = brought(here)
    assert isinstance(there, Ours), there
    assert there.recorded.event == event
    assert (there.identity, there.content) == (new.identity, new.content)
    told = {**there.envelope.extensions}
    assert told.pop("recordedtime") == "2030-01-02T03:04:06.000000Z"
    assert replace(there.envelope, extensions=told, tenant="tests") == here.envelope


def test_everything_around_an_event_comes_with_it():
    here = codec().decode(logged(codec().encode(SEEN, FULL_ENVELOPE)))
    there = brought(here)
    extensions = {**FULL_ENVELOPE.extensions, "recordedtime": "2030-01-02T03:04:06.000000Z"}
    assert there.envelope == replace(FULL_ENVELOPE, extensions=extensions, tenant="elsewhere")


def test_the_time_of_the_first_log_is_kept_on_the_way_through_many():
    here = codec().decode(logged(codec().encode(SEEN, envelope())))
    there = brought(here)
    later = replace(there.record, recorded_at=RECORDED + timedelta(days=9))
    assert portable(OTHER.decode(later)) == {**portable(here), "tenant": "elsewhere"}


def test_what_came_without_a_time_happened_when_the_first_log_took_it():
    here = codec().decode(published(SEEN, time=None))
    assert brought(here).envelope.occurred_at == here.envelope.occurred_at == RECORDED


def test_a_naive_time_and_a_repaired_text_stay_marked_as_such():
    spoilt = document(SEEN, time="2025-04-30T16:32:54.707474")
    spoilt["data"] = {"text": "caf\udce9 \0"}
    here = codec().decode(record(json.dumps(spoilt).encode()))
    there = brought(here)
    assert (there.envelope.assumed_utc, there.envelope.repaired) == (True, here.envelope.repaired)
    assert there.envelope.repaired is not None
    assert there.recorded.event == here.recorded.event


class Seen2(ObservationRecorded):
    """The same in a version to come."""

    event_version = 2
    loud: bool


def of_version_2(**options):
    steps = {("observation.recorded", 1): lambda data: {**data, "loud": False}}
    return codec(registry=Registry([Seen2]), upcasts=Upcasts(steps, events=[Seen2]), **options)


def test_what_is_lifted_here_travels_in_the_version_that_the_log_has():
    new = codec().encode(SEEN, envelope())
    here = of_version_2().decode(logged(new))
    assert here.recorded.event == Seen2(text="seen", loud=False)
    document = portable(here)
    assert document["dataschema"].endswith(":1")
    assert document["data"] == {"text": "seen"}
    for to in (OTHER, of_version_2(tenant="elsewhere", partitions=4)):
        assert taken(document, to).record.content == new.content
        assert isinstance(brought(here, to=to), Ours)


def test_a_document_of_ours_that_nobody_exported_is_taken_as_it_is():
    told = document(SEEN, tenant=None, partitionkey=None, dataschema=None)
    found = taken(told, OTHER)
    assert isinstance(found.item, Ours)
    assert parse_json(found.record.value) == told
    assert found.record.key == b"ops-1"


# Guests


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"partitionkey": None, "agent": None},
        {"tenant": None},
        {"time": None},
        {"data": [1, "é"]},
    ],
)
def test_a_guest_is_the_same_guest_on_another_log_and_back_on_its_own(attributes):
    here = codec().decode(published(SEEN, type="com.example.done", dataschema=None, **attributes))
    assert isinstance(here, Guest)
    for to in (OTHER, codec()):
        there = brought(here, to=to)
        assert (there.identity, there.content) == (here.identity, here.content)
        assert (there.event_type, there.envelope) == (
            here.event_type,
            replace(here.envelope, tenant=to.tenant if here.envelope.tenant else None),
        )


def binary(data, content_type=b"text/plain; charset=utf-8"):
    names = {"specversion": b"1.0", "id": b"1", "source": b"/s", "type": b"t", "rank": b"7"}
    headers = [("content-type", content_type), *((f"ce_{n}", v) for n, v in names.items())]
    return codec().decode(record(data, headers=headers))


@pytest.mark.parametrize(
    ("data", "content_type"),
    [(b"\x00\xff", b"image/png"), ("好\n".encode(), b"text/plain"), (b"[1]", b"application/json")],
)
def test_a_guest_in_binary_mode_keeps_its_bytes(data, content_type):
    here = binary(data, content_type)
    there = brought(here)
    assert (there.identity, there.content) == (here.identity, here.content)


def test_bytes_that_fit_the_log_in_binary_mode_only_stay_in_it():
    here = binary(bytes(EVENT_BYTES_MAX - 10))
    there = brought(here)
    assert isinstance(there, Guest)
    assert there.content == here.content
    assert there.record.value == here.record.value


# What this code can't apply


def test_an_event_that_only_newer_code_can_apply_is_parked_again_and_is_the_same_to_that_code():
    new = of_version_2().encode(Seen2(text="seen", loud=True), envelope())
    here = codec().decode(logged(new))
    assert isinstance(here, Unusable)
    assert here.newer
    there = brought(here)
    assert isinstance(there, Unusable)
    assert there.newer
    found = taken(portable(here), OTHER).record
    assert (found.identity, found.content) == (new.identity, new.content)
    known = of_version_2(tenant="elsewhere", partitions=4).decode(there.record)
    assert known.recorded.event == Seen2(text="seen", loud=True)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"data": {"text": 5}},
        {"data": {"text": "caf\udce9", "a\0": 1, "a�": 2}},
        {"data": [1, 1.5, 2**70]},
        {"data": None},
        {"time": "yesterday"},
        {"dataschema": "http://example.com/schema"},
        {"causationid": 7},
    ],
)
def test_an_event_that_nobody_can_apply_is_parked_again_with_all_that_it_says(spoilt):
    told = {name: v for name, v in {**document(SEEN), **spoilt}.items() if v is not None}
    here = codec().decode(record(json.dumps(told).encode()))
    assert isinstance(here, Unusable)
    there = brought(here)
    assert isinstance(there, Unusable)
    assert (there.identity, there.reason) == (here.identity, here.reason)
    brought_along = {"recordedtime", "time", "tenant", "partitionkey"}
    left = parse_json(there.record.value)
    assert {n: v for n, v in left.items() if n not in brought_along} == {
        n: v for n, v in told.items() if n not in brought_along
    }
    assert left["time"] == told["time"]


# What no log takes


def sized(size, **attributes):
    """Return an event of ours whose encoded value has *size* bytes."""
    bare = codec().encode(SEEN.model_copy(update={"data": {"n": ""}}), envelope(**attributes))
    padding = "x" * (size - len(bare.value))
    return SEEN.model_copy(update={"data": {"n": padding}}), envelope(**attributes)


def test_an_event_as_large_as_may_be_comes_without_the_time_of_the_first_log():
    new = codec().encode(*sized(EVENT_BYTES_MAX))
    assert len(new.value) == EVENT_BYTES_MAX
    there = brought(codec().decode(logged(new)), to=codec(partitions=4))
    assert (there.identity, there.content) == (new.identity, new.content)
    assert "recordedtime" not in there.envelope.extensions


def test_an_event_beyond_the_limit_is_refused_with_both_sizes():
    here = codec().decode(logged(codec().encode(*sized(3_000))))
    with pytest.raises(InvalidEvent, match=r"bytes encoded; the limit is 2000"):
        taken(portable(here), codec(event_bytes_max=2_000))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"source": None}, "source is missing"),
        ({"specversion": "0.3"}, "specversion"),
        ({"Task": "t"}, "lower-case"),
        ({"nested": {}}, "nested is a dict"),
        ({"type": "com.example.done", "id": "x" * 300}, "300 bytes"),
        ({"data_base64": "AA=="}, "both data"),
    ],
)
def test_what_would_be_foreign_is_refused_with_the_reason(change, reason):
    told = {name: v for name, v in {**document(SEEN), **change}.items() if v is not None}
    with pytest.raises(InvalidEvent, match=reason):
        taken(told, OTHER)


def test_an_attribute_that_is_null_is_absent():
    found = taken({**document(SEEN), "subject": None, "user": None}, OTHER)
    assert "subject" not in parse_json(found.record.value)


def test_equal_documents_are_equal_bytes():
    told = document(SEEN)
    values = {
        taken(dict(order), OTHER).record.value for order in (told.items(), sorted(told.items()))
    }
    assert values == {json_bytes({**told, "tenant": "elsewhere"})}
