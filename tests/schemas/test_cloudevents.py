"""CloudEvents on Kafka: the form's edges. The published cases: test_cloudevents_conformance.py."""

import json
from typing import Any

import pytest

from mnemolog.schemas.cloudevents import (
    _NAME,
    _USUAL,
    CloudEvent,
    NotACloudEvent,
    read_cloud_event,
)
from mnemolog.schemas.values import json_bytes
from support.events import record

SOUND = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}


def read(document: Any, content_type: bytes | None = None) -> CloudEvent:
    headers = [] if content_type is None else [("content-type", content_type)]
    return read_cloud_event(record(json_bytes(document), headers=headers))


def test_plain_json_without_a_header_is_read_as_structured():
    assert read(SOUND).attributes == SOUND
    assert read(SOUND, b"application/json").data is None


def test_an_attribute_that_is_null_is_absent():
    assert read({**SOUND, "subject": None}).attributes == SOUND


def test_data_is_any_json_value_or_bytes():
    assert read({**SOUND, "data": [1, None]}).data == [1, None]
    assert read({**SOUND, "data_base64": "AAH/"}).data == b"\x00\x01\xff"


def test_the_structured_form_of_what_was_read_is_what_was_read():
    for document in (SOUND, {**SOUND, "data": {"a": 1}}, {**SOUND, "data_base64": "AAH/"}):
        assert read(document).document() == document


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({**SOUND, "data": 1, "data_base64": "AA=="}, "both data and data_base64"),
        ({**SOUND, "data_base64": "!"}, "not base64"),
        ({**SOUND, "data_base64": 7}, "not base64"),
        ({**SOUND, "specversion": 1.0}, "specversion 1.0 is not 1.0"),
        ({**SOUND, "id": 7}, "attribute id is missing"),
        ({**SOUND, "Id": "7"}, "not lower-case ASCII"),
        ({**SOUND, "nested": {}}, "attribute nested is a dict"),
        ([SOUND], "no object"),
        ("text", "no object"),
    ],
)
def test_what_is_not_of_the_form_is_told(document, reason):
    with pytest.raises(NotACloudEvent, match=reason):
        read(document)


def test_another_content_type_is_not_read_as_json():
    with pytest.raises(NotACloudEvent, match="avro"):
        read(SOUND, b"application/cloudevents+avro")


def test_headers_of_binary_mode_are_utf_8_and_need_the_same_attributes():
    headers = [("ce_specversion", b"1.0"), ("ce_id", b"1"), ("ce_source", b"/s"), ("ce_type", b"t")]
    assert read_cloud_event(record(b"{}", headers=headers)).data == {}
    with pytest.raises(NotACloudEvent, match="ce_id is not UTF-8"):
        read_cloud_event(record(b"{}", headers=[*headers, ("ce_id", b"\xff")]))
    with pytest.raises(NotACloudEvent, match="attribute type is missing"):
        read_cloud_event(record(b"{}", headers=headers[:-1]))
    with pytest.raises(NotACloudEvent, match="not JSON"):
        read_cloud_event(record(b"{", headers=headers))


@pytest.mark.bad_input(51)
def test_a_schema_registrys_frame_is_told_from_plain_json_by_its_first_byte():
    for frame in (b"\x00\x00\x00\x27\x0f", b"\x01" + bytes(16)):
        with pytest.raises(NotACloudEvent, match="schema registry"):
            read_cloud_event(record(frame + json_bytes(SOUND)))
    assert read_cloud_event(record(json_bytes(SOUND))).attributes == SOUND


def test_the_names_that_are_not_looked_at_are_allowed_ones():
    assert all(_NAME.fullmatch(name) for name in _USUAL)


@pytest.mark.parametrize("bad", ["\x00", "a\ud800", "\udfff"])
@pytest.mark.parametrize("name", ["subject", "agent", "traceparent"])
def test_a_nul_or_lone_surrogate_is_found_in_usual_attributes_and_in_others(name, bad):
    sound = {"specversion": "1.0", "id": "1", "source": "/s", "type": "a.b"}
    value = json_bytes({**sound, name: "x"}).replace(b'"x"', json.dumps(bad).encode())
    with pytest.raises(NotACloudEvent, match=f"attribute {name} holds a NUL or a lone surrogate"):
        read_cloud_event(record(value))
