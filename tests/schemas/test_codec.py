"""Events to bytes and back: equal events are equal bytes, and reading never raises."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.codec import Codec, build
from mnemolog.schemas.decoded import Foreign, Guest, Ours, Unusable
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events.base import Event
from mnemolog.schemas.events.experience import (
    ActionStarted,
    CheckpointSaved,
    DecisionMade,
    FeedbackGiven,
    MessageExchanged,
    ObservationRecorded,
    TaskStarted,
)
from mnemolog.schemas.events.memory import MemoryForgotten
from mnemolog.schemas.keyring import KeyMissing
from mnemolog.schemas.records import fingerprint
from mnemolog.schemas.registry import Registry
from mnemolog.schemas.upcasts import Upcasts
from mnemolog.schemas.values import REPLACEMENT, json_bytes, parse_json, restored
from support.events import (
    ALL_FILLED,
    FULL_ENVELOPE,
    RECORDED,
    WHEN,
    codec,
    document,
    envelope,
    envelopes,
    logged,
    published,
    record,
)

SEEN = ObservationRecorded(text="seen")

# There and back


@pytest.mark.parametrize("event", ALL_FILLED, ids=lambda event: event.event_type)
def test_every_event_comes_back_as_it_went_with_all_its_envelope(event):
    found = codec().decode(logged(codec().encode(event, FULL_ENVELOPE)))
    assert isinstance(found, Ours)
    assert found.recorded.event == event
    tenanted = {
        **{f: getattr(FULL_ENVELOPE, f) for f in FULL_ENVELOPE.__slots__},
        "tenant": "tests",
    }
    assert {f: getattr(found.envelope, f) for f in found.envelope.__slots__} == tenanted
    assert found.event_type == event.event_type
    assert found.recorded.recorded_at == RECORDED
    assert found.recorded.position == (0, 0)


@given(envelopes, st.text())
def test_any_envelope_and_text_come_back(given_, text):
    event, _ = build(ObservationRecorded, {"text": text})
    new = codec(partitions=7).encode(event, given_)
    found = codec(partitions=7).decode(logged(new, partitions=7))
    assert isinstance(found, Ours)
    assert found.recorded.event == event
    assert (found.identity, found.content) == (new.identity, new.content)
    assert found.identity == given_.identity
    assert found.canonical == new.value


def test_equal_events_are_equal_bytes():
    one = ObservationRecorded(text="a", data={"x": 1, "y": {"p": 1, "q": 2}}, tags=("t",))
    other = ObservationRecorded(tags=("t",), data={"y": {"q": 2, "p": 1}, "x": 1}, text="a")
    assert codec().encode(one, envelope()) == codec().encode(other, envelope())


def test_a_default_that_is_said_outright_changes_no_byte_and_no_content():
    assert codec().encode(ObservationRecorded(text="a", data={}), envelope()) == codec().encode(
        ObservationRecorded(text="a"), envelope()
    )


def test_content_is_what_is_said_and_neither_when_nor_by_which_id():
    first = codec().encode(SEEN, envelope(id="e1"))
    later = codec().encode(SEEN, envelope(id="e1", occurred_at=WHEN.replace(year=2031)))
    other = codec().encode(ObservationRecorded(text="other"), envelope(id="e1"))
    assert (first.identity, first.content) == (later.identity, later.content)
    assert first.identity == other.identity
    assert first.content != other.content
    assert codec().encode(SEEN, envelope(id="e2")).identity != first.identity
    assert codec().encode(SEEN, envelope(agent="b")).identity != first.identity


def test_a_foreign_publishers_spelling_gives_the_same_canonical_bytes():
    ours = codec().decode(published(SEEN))
    spaced = json.dumps(document(SEEN), indent=2, ensure_ascii=True).encode()
    theirs = codec().decode(record(spaced))
    assert isinstance(ours, Ours)
    assert isinstance(theirs, Ours)
    assert (theirs.canonical, theirs.content) == (ours.canonical, ours.content)
    assert fingerprint(theirs.record) != fingerprint(ours.record)


# Reading never raises


@given(
    st.none() | st.binary(max_size=300),
    st.none() | st.binary(max_size=20),
    st.lists(st.tuples(st.text(max_size=20), st.none() | st.binary(max_size=30)), max_size=5),
)
def test_any_record_is_one_of_the_four_kinds(value, key, headers):
    found = codec().decode(record(value, key=key, headers=headers))
    assert isinstance(found, Ours | Guest | Foreign | Unusable)
    assert found.record.value == value


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.data())
def test_an_event_of_ours_with_any_value_anywhere_is_one_of_the_four_kinds(data):
    event = data.draw(st.sampled_from(ALL_FILLED))
    spoilt = document(event)
    place = spoilt if data.draw(st.booleans()) else spoilt["data"]
    field = data.draw(st.sampled_from(sorted(place)) | st.text(max_size=12))
    place[field] = data.draw(json_values)
    value = json.dumps(spoilt).encode()  # writes NaN, infinities and lone surrogates as they are
    found = codec().decode(record(value))
    assert isinstance(found, Ours | Guest | Foreign | Unusable)
    if isinstance(found, Unusable | Foreign):
        assert found.reason
    if isinstance(found, Ours):
        assert parse_json(found.canonical)["specversion"] == "1.0"


@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [
                    "id",
                    "source",
                    "type",
                    "time",
                    "specversion",
                    "dataschema",
                    "agent",
                    "partitionkey",
                ]
            ),
            st.binary(max_size=40),
        ),
        max_size=8,
    ),
    st.binary(max_size=60),
)
def test_any_binary_cloud_event_is_one_of_the_four_kinds(attributes, value):
    headers = [
        ("ce_specversion", b"1.0"),
        *((f"ce_{name}", content) for name, content in attributes),
    ]
    found = codec().decode(record(value, headers=headers))
    assert isinstance(found, Ours | Guest | Foreign | Unusable)


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


def test_a_value_over_the_limit_is_foreign_however_it_came():
    found = codec(event_bytes_max=100).decode(published(SEEN))
    assert isinstance(found, Foreign)
    assert "the limit is 100" in found.reason


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
        ({"session": "会议" * 64}, "384 bytes", False),
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


# Refusals: field, value, limit


@pytest.mark.parametrize(
    ("model", "fields", "field", "limit"),
    [
        (TaskStarted, {"goal": "\u3000\u200b\n"}, "goal", "blank"),
        (TaskStarted, {}, "goal", "required"),
        (TaskStarted, {"goal": "g", "colour": 1}, "colour", "not permitted"),
        (TaskStarted, {"goal": 7}, "goal", "string"),
        (FeedbackGiven, {"target": "e1", "score": math.nan}, "/score", "finite"),
        (FeedbackGiven, {"target": "e1", "score": 1.5}, "score", "less than or equal to 1"),
        (FeedbackGiven, {"target": "a\nb", "score": 0.5}, "target", "control characters"),
        (DecisionMade, {"what": "x", "because_events": ["", "e1"]}, "because_events.0", "0 bytes"),
        (DecisionMade, {"what": "x", "because_events": ["e"] * 4_097}, "because_events", "4096"),
        (
            ActionStarted,
            {"action": "a", "tool": "t", "arguments": {1: 2}},
            "/arguments",
            "keys are texts",
        ),
        (ActionStarted, {"action": "a", "tool": "t", "arguments": "{}"}, "arguments", "dictionary"),
        (ObservationRecorded, {"text": "x" * 1_000_001}, "text", "1000000 characters"),
        (ObservationRecorded, {"text": "x", "tags": ["../x"]}, "tags.0", "no path"),
        (ObservationRecorded, {"text": "x", "tags": ["t"] * 65}, "tags", "64"),
        (MemoryForgotten, {}, "memory.forgotten", "names no memory"),
        (
            CheckpointSaved,
            {"checkpoint": {"id": "c", "timestamp": 5}},
            "checkpoint.timestamp",
            "guess",
        ),
    ],
)
def test_a_refusal_names_field_and_limit(model, fields, field, limit):
    with pytest.raises(InvalidEvent, match=limit) as caught:
        build(model, fields)
    assert caught.value.field == field
    assert caught.value.limit
    str(caught.value).encode()


def test_a_value_that_is_too_deep_is_refused_by_an_ordinary_error():
    deep: dict = {}
    for _ in range(1_499):
        deep = {"inner": deep}
    with pytest.raises(InvalidEvent, match="nesting depth 1501 > limit 64"):
        build(ObservationRecorded, {"text": "x", "data": deep})


def test_an_event_over_the_limit_is_refused_with_both_sizes():
    with pytest.raises(
        InvalidEvent, match=r"2999969 bytes encoded; the limit is 1048576"
    ) as caught:
        codec().encode(
            MessageExchanged(
                role="tool",
                text="x" * 1_000_000,
                parts=tuple({"kind": "t", "reference": "x" * 999_800} for _ in range(2)),
            ),
            envelope(),
        )
    assert caught.value.field == "message.exchanged"


def test_the_limit_counts_bytes_and_what_just_fits_is_taken():
    def size(characters):
        return codec().encode(ObservationRecorded(text="好" * characters), envelope()).value

    room = 1_048_576 - len(size(0))
    assert len(size(room // 3)) <= 1_048_576
    with pytest.raises(InvalidEvent, match="bytes encoded"):
        size(room // 3 + 1)
    assert isinstance(codec().decode(record(size(room // 3))), Ours)


@pytest.mark.parametrize("name", ["agent", "user", "project", "session", "task", "phase"])
def test_a_name_in_the_envelope_is_checked_before_anything_is_written(name):
    with pytest.raises(InvalidEvent, match="no path") as caught:
        codec().encode(SEEN, envelope(**{name: "..\\..\\x"}))
    assert caught.value.field == name


def test_large_integers_come_back_with_all_digits():
    event = ObservationRecorded(text="x", data={"tweet_id": 2**63, "n": 2**64})
    found = codec().decode(logged(codec().encode(event, envelope())))
    assert isinstance(found, Ours)
    assert found.recorded.event.data == {"tweet_id": 9223372036854775808, "n": 18446744073709551616}
    assert b"18446744073709551616" in found.canonical


# Versions and keys


class Lamp(Event):
    """A lamp changed: version 2 calls its state `lit`."""

    event_type = "lamp.changed"
    event_version = 2
    lit: bool


def lamps() -> Codec:
    registry = Registry([Lamp])
    steps = {("lamp.changed", 1): lambda data: {"lit": data["on"]}}
    return codec(registry=registry, upcasts=Upcasts(steps, events=[Lamp]))


def test_an_old_event_is_lifted_and_an_equal_new_one_has_its_content():
    old = {**document(SEEN), "type": "mnemolog.lamp.changed", "data": {"on": True}}
    old["dataschema"] = "urn:mnemolog:schema:lamp.changed:1"
    found = lamps().decode(record(json_bytes(old)))
    assert isinstance(found, Ours)
    assert found.recorded.event == Lamp(lit=True)
    assert found.content == lamps().encode(Lamp(lit=True), envelope()).content
    assert parse_json(found.canonical)["dataschema"] == "urn:mnemolog:schema:lamp.changed:2"


class OneKey:
    def opened(self, key_id, sealed):
        if key_id != "k1":
            raise KeyMissing(key_id)
        return sealed[::-1]


def test_data_that_is_sealed_is_opened_by_the_key_ring():
    sealed = document(SEEN, keyid="k1", data_base64="fSJuZWVzIjoidHhldCJ7")
    del sealed["data"]
    found = codec(key_ring=OneKey()).decode(record(json_bytes(sealed)))
    assert isinstance(found, Ours), found
    assert found.recorded.event.text == "seen"
    unsealed = codec(key_ring=OneKey()).decode(published(SEEN, keyid="k1"))
    assert isinstance(unsealed, Unusable)
    assert "data_base64" in unsealed.reason
    sealed["keyid"] = "k2"
    lost = codec(key_ring=OneKey()).decode(record(json_bytes(sealed)))
    assert isinstance(lost, Unusable)
    assert "k2" in lost.reason
