"""Events to bytes and back: equal events are equal bytes, and reading never raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.codec import Codec, build
from mnemolog.schemas.decoded import Foreign, Guest, Ours, Unusable
from mnemolog.schemas.events.base import Event
from mnemolog.schemas.events.experience import (
    ObservationRecorded,
)
from mnemolog.schemas.keyring import KeyMissing
from mnemolog.schemas.records import fingerprint
from mnemolog.schemas.registry import Registry
from mnemolog.schemas.upcasts import Upcasts
from mnemolog.schemas.values import json_bytes, parse_json
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


@pytest.mark.parametrize("note", ['"data":null', '\\"data":null', '","data":null,"x":"'])
def test_an_attribute_that_looks_like_the_data_is_not_taken_for_it(note):
    given_ = envelope(extensions={"aaa": note, "zzz": note, "xdata": "data"})
    new = codec().encode(ObservationRecorded(text=note, data={"data": None}), given_)
    found = codec().decode(logged(new))
    assert isinstance(found, Ours)
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
