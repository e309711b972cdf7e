"""What a record turns out to be: foreign, unusable, a guest, or ours after a repair; and why."""

import json

import pytest

from mnemolog.schemas.codec import build
from mnemolog.schemas.decoded import Foreign, Guest, Ours, Unusable
from mnemolog.schemas.events.experience import (
    ObservationRecorded,
)
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.schemas.values import REPLACEMENT, json_bytes, restored
from support.events import (
    RECORDED,
    WHEN,
    codec,
    document,
    envelope,
    logged,
    published,
    record,
)

SEEN = ObservationRecorded(text="seen")

# Foreign


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "a tombstone"),
        (b"", "empty"),
        (b"null", "no object"),
        (b"not json", "not JSON"),
        (b"[]", "no object"),
        (b"{}", "specversion None"),
        (b"\x00\x00\x00\x27\x0f{}", "framed for a schema registry"),
        (b"\x01" + bytes(16) + b"{}", "framed for a schema registry"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[" * 5_000 + b"]" * 5_000, "nesting depth"),
    ],
)
def test_what_is_no_cloud_event_is_foreign_with_its_bytes_and_reason(value, reason):
    found = codec().decode(record(value, key=b"m1"))
    assert isinstance(found, Foreign)
    assert reason in found.reason
    assert found.record.value == value


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"tenant": "another"}, "an event of tenant 'another'"),
        ({"agent": "b", "partitionkey": "b"}, "is not the event's 'b'"),
        ({"id": ""}, "attribute id is missing"),
        ({"source": None}, "attribute source is missing"),
        ({"Task": "t"}, "not lower-case ASCII"),
        ({"task": ["t"]}, "attribute task is a list"),
        ({"task": 1.5}, "attribute task is a float"),
        ({"task": "a\0b"}, "a NUL or a lone surrogate"),
        ({"specversion": "0.3"}, "specversion '0.3' is not 1.0"),
        ({"type": "mnemolog.export.begun"}, "a line of an export, and no event"),
    ],
)
def test_attributes_that_break_the_form_make_a_record_foreign(attributes, reason):
    found = codec().decode(published(SEEN, **attributes))
    assert isinstance(found, Foreign)
    assert reason in found.reason


def test_an_event_in_a_wrong_partition_is_foreign():
    new = codec(partitions=4).encode(SEEN, envelope())
    right = logged(new, partitions=4)
    found = codec(partitions=4).decode(record(new.value, key=None))
    assert isinstance(codec(partitions=4).decode(right), Ours)
    assert right.partition != 0
    assert isinstance(found, Foreign)
    assert "wrong partition" in found.reason


def test_a_value_over_the_hard_limit_is_foreign_however_it_came():
    new = codec(event_bytes_max=2 * EVENT_BYTES_MAX).encode(
        SEEN.model_copy(update={"data": {"n": "x" * EVENT_BYTES_MAX}}), envelope()
    )
    found = codec().decode(logged(new))
    assert isinstance(found, Foreign)
    assert f"the limit is {EVENT_BYTES_MAX}" in found.reason


def test_what_was_taken_under_a_higher_setting_is_still_read():
    assert isinstance(codec(event_bytes_max=100).decode(published(SEEN)), Ours)


def test_an_event_of_nobody_has_no_key():
    found = codec().decode(
        record(json_bytes(document(SEEN, agent=None, partitionkey=None)), key=None)
    )
    assert isinstance(found, Foreign)
    assert found.reason == "it has no key"


def test_without_a_partition_key_the_agent_is_the_key_and_else_the_records_own():
    for attributes in ({"partitionkey": None}, {"partitionkey": None, "agent": None}):
        found = codec().decode(published(SEEN, **attributes))
        assert found.key == "ops-1"


# Unusable


@pytest.mark.parametrize(
    ("attributes", "reason", "newer"),
    [
        ({"dataschema": "urn:mnemolog:schema:observation.recorded:2"}, "version 2 is newer", True),
        (
            {"type": "mnemolog.dream.dreamt", "dataschema": None},
            "dream.dreamt version 1 is newer",
            True,
        ),
        ({"dataschema": "urn:mnemolog:schema:task.started:1"}, "dataschema", False),
        ({"dataschema": "http://example.com/schema"}, "dataschema", False),
        ({"dataschema": "urn:mnemolog:schema:observation.recorded:0"}, "dataschema", False),
        ({"dataschema": "urn:mnemolog:schema:observation.recorded:x"}, "dataschema", False),
        ({"data": {}}, "text", False),
        ({"data": {"text": "a", "colour": 1}}, "colour", False),
        ({"data": {"text": 5}}, "text = 5", False),
        ({"data": [1]}, "JSON object", False),
        ({"data": None}, "JSON object", False),
        ({"time": "yesterday"}, "time = 'yesterday'", False),
        ({"time": 1757015076651}, "unit would be a guess", False),
        ({"time": "2500-01-01T00:00:00Z"}, "between 1900 and 2200", False),
        ({"task": "../../tmp/pwn"}, "task = '../../tmp/pwn'", False),
        ({"session": "会" * 342}, "1026 bytes", False),
        ({"causationid": "a\nb"}, "control characters", False),
        ({"causationid": 7}, "this attribute is a text", False),
        ({"keyid": "k1"}, "data_base64", False),
        ({"keyid": "k1", "data": None, "data_base64": "e30="}, "no such key", False),
        ({"partitionkey": "ops-1", "agent": None}, "the key of an event is its agent", False),
    ],
)
def test_an_event_of_ours_that_cannot_be_applied_says_why(attributes, reason, newer):
    found = codec().decode(published(SEEN, **attributes))
    assert isinstance(found, Unusable)
    assert reason in found.reason
    assert found.newer is newer
    assert found.key == "ops-1"
    assert len(found.identity) == 32


def test_an_agent_may_not_be_called_as_a_key_of_ours():
    value = json_bytes(document(SEEN, agent="mnemolog:no-agent", partitionkey="mnemolog:no-agent"))
    found = codec().decode(record(value, key=b"mnemolog:no-agent"))
    assert isinstance(found, Unusable)
    assert "are ours" in found.reason


def test_a_version_that_is_not_told_is_the_first():
    assert isinstance(codec().decode(published(SEEN, dataschema=None)), Ours)


# Guests


def test_a_sound_event_of_another_type_is_a_guest_with_what_it_says_of_us():
    found = codec().decode(
        published(
            SEEN, type="com.example.done", dataschema=None, task="t", session="../x", data=[1]
        )
    )
    assert isinstance(found, Guest)
    assert (found.event_type, found.key) == ("com.example.done", "ops-1")
    assert (found.envelope.task, found.envelope.session) == ("t", None)
    assert found.envelope.occurred_at == WHEN
    assert len(found.content) == 32


def test_a_guest_whose_id_no_store_could_take_is_foreign():
    found = codec().decode(published(SEEN, type="com.example.done", id="a" * 300))
    assert isinstance(found, Foreign)
    assert "300 bytes" in found.reason


# Times


def test_a_naive_time_is_utc_and_flagged_and_stays_flagged():
    found = codec().decode(published(SEEN, time="2025-04-30T16:32:54.707474"))
    assert isinstance(found, Ours)
    assert found.envelope.assumed_utc
    again = codec().decode(record(found.canonical))
    assert isinstance(again, Ours)
    assert again.envelope.assumed_utc
    assert again.canonical == found.canonical


def test_an_event_without_a_time_happened_when_the_log_took_it():
    found = codec().decode(published(SEEN, time=None))
    assert isinstance(found, Ours)
    assert (found.recorded.occurred_at, found.envelope.assumed_utc) == (RECORDED, False)


# Repairs


def test_surrogates_and_nuls_are_repaired_by_who_builds_and_can_be_restored():
    event, repairs = build(ObservationRecorded, {"text": "ls: caf\udce9.txt\0: no such file"})
    assert event.text == f"ls: caf{REPLACEMENT}.txt{REPLACEMENT}: no such file"
    assert restored(event.text, repairs["/text"]) == "ls: caf\udce9.txt\0: no such file"


def test_what_others_publish_is_repaired_when_it_is_read_and_can_be_restored():
    spoilt = document(SEEN)
    spoilt["data"] = {"text": "caf\udce9 \0", "data": {"a\0": "\ud83e"}}
    found = codec().decode(record(json.dumps(spoilt).encode()))
    assert isinstance(found, Ours)
    assert found.recorded.event.text == f"caf{REPLACEMENT} {REPLACEMENT}"
    assert found.envelope.repaired is not None
    repairs = json.loads(found.envelope.repaired)
    assert restored(found.recorded.event.text, repairs["/text"]) == "caf\udce9 \0"
    assert f"/data/a{REPLACEMENT}" in repairs
    again = codec().decode(record(found.canonical))
    assert isinstance(again, Ours)
    assert again.canonical == found.canonical


def test_what_cannot_be_repaired_parks_and_says_where():
    spoilt = document(SEEN)
    spoilt["data"] = {"text": "a", "data": {"a\0": 1, f"a{REPLACEMENT}": 2}}
    found = codec().decode(record(json.dumps(spoilt).encode()))
    assert isinstance(found, Unusable)
    assert "a key stands once" in found.reason
