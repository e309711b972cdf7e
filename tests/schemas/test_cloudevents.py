"""CloudEvents on Kafka: the published conformance cases, and the form's edges.

The cases are read where they lie beside the checkout; nothing of them is copied here.
"""

import base64
import itertools
import json
import re
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mnemolog.schemas.cloudevents import (
    _NAME,
    _USUAL,
    CloudEvent,
    NotACloudEvent,
    read_cloud_event,
)
from mnemolog.schemas.decoded import Guest
from mnemolog.schemas.values import json_bytes, parse_json
from support.events import codec, record
from support.sources import ROOT

CASES = ROOT.parent / "shared" / "data" / "cloudevents-conformance"
FEATURE = CASES / "features" / "kafka-protocol-binding.feature"
MINIMUM = CASES / "yaml" / "v1.0" / "v1_minimum.yaml"
FULL = CASES / "yaml" / "v1.yaml"


class Scenario(NamedTuple):
    payload: bytes
    headers: list[tuple[str, bytes]]
    attributes: dict[str, str]
    data: Any


def existing(path: Path) -> str:
    if not path.exists():
        pytest.skip("the CloudEvents conformance cases are not beside this checkout")
    return path.read_text()


# The Kafka protocol binding's feature


def scenarios(feature: str) -> list[Scenario]:
    """Return the scenarios of *feature*, an outline once for each of its examples."""
    found = []
    for part in re.split(r"Scenario(?: Outline)?:", feature)[1:]:
        payload, data = (
            textwrap.dedent(one).strip() for one in re.findall(r'"""(.*?)"""', part, re.DOTALL)
        )
        headers, attributes, *examples = tables(part)
        names, *rows = examples[0] if examples else ([], [])
        for row in rows or [[]]:
            told = [
                (key, fill(value, dict(zip(names, row, strict=True)))) for key, value in headers[1:]
            ]
            found.append(
                Scenario(
                    payload.encode(),
                    [(key, value.encode()) for key, value in told],
                    dict(attributes[1:]),
                    parse_json(data.encode()),
                )
            )
    return found


def tables(part: str) -> list[list[list[str]]]:
    lines = ((line.strip().startswith("|"), line) for line in part.splitlines())
    groups = itertools.groupby(lines, key=lambda one: one[0])
    return [
        [[cell.strip() for cell in line.strip().strip("|").split("|")] for _, line in rows]
        for is_table, rows in groups
        if is_table
    ]


def fill(value: str, example: dict[str, str]) -> str:
    for name, given in example.items():
        value = value.replace(f"<{name}>", given)
    return value


def test_the_scenarios_of_the_kafka_binding_are_read_as_they_say():
    found = scenarios(existing(FEATURE))
    assert len(found) == 3
    for one in found:
        event = read_cloud_event(record(one.payload, headers=one.headers))
        assert event.attributes == one.attributes
        assert event.data == one.data


def test_each_scenario_is_a_guest_of_our_log():
    for one in scenarios(existing(FEATURE)):
        found = codec().decode(record(one.payload, headers=one.headers))
        assert isinstance(found, Guest), found
        assert found.event_type == "com.example.someevent"
        assert found.envelope.id == "1234-1234-1234"


# The conformance events, in both modes


def events(text: str) -> list[tuple[dict[str, str], str, str]]:
    """Return (attributes, data, mode) of each event: our own reading of the little YAML it is."""
    found = []
    for part in text.split("\n---\n"):
        head, _, data = part.partition("\nData: |\n")
        mode = re.search(r"^Mode: (\w+)", head, re.MULTILINE)
        inner = head.partition("ContextAttributes:\n")[2].partition("\nTransportExtensions")[0]
        attributes = dict(re.findall(r'^ +([a-z0-9]+) ?: "?([^"|\n]+)"?$', inner, re.MULTILINE))
        for name, block in re.findall(r"^ +([a-z0-9]+) : \|\n +(.+)$", inner, re.MULTILINE):
            attributes[name] = block + "\n"
        found.append((attributes, textwrap.dedent(data), mode[1] if mode else "both"))
    return found


def binary(attributes: dict[str, str], data: bytes):
    headers = [(f"ce_{name}", value.encode()) for name, value in attributes.items()]
    renamed = [("content-type" if n == "ce_datacontenttype" else n, v) for n, v in headers]
    return record(data, headers=renamed)


def structured(attributes: dict[str, str], data: bytes, *, is_json: bool):
    body = (
        {"data": parse_json(data)} if is_json else {"data_base64": base64.b64encode(data).decode()}
    )
    return record(
        json_bytes({**attributes, **body}),
        headers=[("content-type", b"application/cloudevents+json; charset=utf-8")],
    )


@pytest.mark.parametrize("path", [MINIMUM, FULL], ids=lambda path: path.name)
def test_the_conformance_events_are_read_in_both_modes(path):
    found = events(existing(path))
    assert len(found) == {MINIMUM: 6, FULL: 2}[path]
    for attributes, text, _ in found:
        content_type = attributes.get("datacontenttype", "application/json")
        is_json, data = "json" in content_type, text.encode()
        wanted = parse_json(data) if is_json else data
        first = read_cloud_event(binary(attributes, data))
        second = read_cloud_event(structured(attributes, data, is_json=is_json))
        assert first.data == second.data == wanted
        assert {**attributes, "datacontenttype": content_type} == first.attributes
        assert second.attributes == attributes
        for one in (binary(attributes, data), structured(attributes, data, is_json=is_json)):
            assert isinstance(codec().decode(one), Guest)


# Edges of the form

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
