"""The schemas that are checked in are current, valid, and true of what the codec does."""

import json
import re
from dataclasses import replace

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from mnemolog.schemas.asyncapi import TOPIC_MESSAGE_BYTES_MAX, TOPIC_PARTITIONS, envelope_schema
from mnemolog.schemas.cloudevents import read_cloud_event
from mnemolog.schemas.codec import build
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events import ALL_EVENTS
from mnemolog.schemas.generate import ASYNCAPI, FOLDER, generated
from mnemolog.schemas.values import parse_json
from mnemolog.streams.kafka_topics import MESSAGE_BYTES_MAX, TopicSettings
from support import golden
from support.events import FULL_ENVELOPE, codec, record

CURRENT = {path.name: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.json"))}
OPENAPI = "openapi.json"  # of the service, which has a test of its own
NO_SCHEMAS = {ASYNCAPI, OPENAPI}
SCHEMAS = {name: json.loads(text) for name, text in CURRENT.items() if name not in NO_SCHEMAS}
DOCUMENT = json.loads(CURRENT[ASYNCAPI])


def test_the_files_are_current():
    stale = {name for name, content in generated().items() if CURRENT.get(name) != content}
    assert not stale, "run `python -m mnemolog.schemas.generate`"


def test_no_file_is_of_a_type_that_never_was():
    types = {event.event_type: event.event_version for event in ALL_EVENTS}
    for name in SCHEMAS:
        event_type, version = re.fullmatch(r"(.+)\.(\d+)\.json", name).groups()
        assert 1 <= int(version) <= types[event_type]


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_valid_and_named_by_its_urn(name):
    schema = SCHEMAS[name]
    Draft202012Validator.check_schema(schema)
    event_type, version = name.removesuffix(".json").rsplit(".", 1)
    assert schema["$id"] == f"urn:mnemolog:schema:{event_type}:{version}"
    assert schema["additionalProperties"] is False
    assert schema["description"]


@pytest.mark.parametrize("name", golden.values())
def test_a_golden_event_is_valid_by_its_schema_and_its_message(name):
    value = parse_json(golden.values()[name])
    Draft202012Validator(SCHEMAS[f"{name}.json"]).validate(value["data"])
    assert message_validator(name).is_valid(value)
    assert not message_validator(name).is_valid({**value, "type": "mnemolog.dream.dreamt"})
    assert not message_validator(name).is_valid({**value, "data": {"never": "heard of"}})


def message_validator(name: str) -> Draft202012Validator:
    """Return what validates a whole event by the AsyncAPI document's message *name*."""
    resources = [
        (f"https://mnemolog.invalid/{n}", Resource.from_contents(s)) for n, s in SCHEMAS.items()
    ]
    document = {"$schema": "https://json-schema.org/draft/2020-12/schema", **DOCUMENT}
    resources.append(("https://mnemolog.invalid/asyncapi.json", Resource.from_contents(document)))
    place = f"https://mnemolog.invalid/asyncapi.json#/components/messages/{name}/payload/schema"
    registry = Registry().with_resources(resources)
    return Draft202012Validator({"$ref": place}, registry=registry)


@pytest.mark.parametrize(
    ("event_type", "data"),
    [
        ("task.started", {}),
        ("task.started", {"goal": ""}),
        ("task.started", {"goal": 7}),
        ("task.started", {"goal": "g", "colour": "red"}),
        ("feedback.given", {"target": "e", "score": 2}),
        ("feedback.given", {"target": "e" * 300, "score": 1}),
        ("message.exchanged", {"role": "robot", "text": "hi"}),
        ("conflict.found", {"conflict": "c", "memories": ["m1"], "question": "?"}),
        ("policy.changed", {"revision": 0, "policy": {}}),
        ("checkpoint.saved", {"checkpoint": {"id": "c1"}}),
    ],
)
def test_what_a_schema_refuses_the_codec_refuses_too(event_type, data):
    model = next(event for event in ALL_EVENTS if event.event_type == event_type)
    assert not Draft202012Validator(SCHEMAS[f"{event_type}.1.json"]).is_valid(data)
    with pytest.raises(InvalidEvent):
        build(model, data)


# AsyncAPI


def references(node):
    if isinstance(node, dict):
        yield from (value for name, value in node.items() if name == "$ref")
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from references(item)


def test_every_reference_in_the_document_leads_somewhere():
    found = set(references(DOCUMENT))
    for reference in found - SCHEMAS.keys():
        node = DOCUMENT
        for part in reference.removeprefix("#/").split("/"):
            node = node[part]
    assert found >= SCHEMAS.keys()


def test_every_event_is_a_message_of_the_one_channel():
    assert DOCUMENT["asyncapi"] == "3.0.0"
    (channel,) = DOCUMENT["channels"].values()
    names = {golden.name_of(event) for event in ALL_EVENTS}
    assert channel["messages"].keys() == DOCUMENT["components"]["messages"].keys() == names
    assert all(re.fullmatch(r"[A-Za-z0-9.\-_]+", name) for name in names)


def test_the_topic_is_described_as_it_is_made():
    binding = DOCUMENT["channels"]["events"]["bindings"]["kafka"]
    topic = TopicSettings().new_topic("t")
    assert binding["partitions"] == TOPIC_PARTITIONS == topic.num_partitions
    described = binding["topicConfiguration"]
    assert described["max.message.bytes"] == TOPIC_MESSAGE_BYTES_MAX == MESSAGE_BYTES_MAX
    for name in ("retention.ms", "retention.bytes"):
        assert str(described[name]) == topic.topic_configs[name]
    assert described["cleanup.policy"] == [topic.topic_configs["cleanup.policy"]]


def test_the_envelope_has_every_attribute_that_the_codec_writes_and_no_other():
    envelope = replace(FULL_ENVELOPE, dataref=f"blobs?/data/out={'0' * 64}.300000")
    value = parse_json(codec().encode(golden.ALL_FILLED[0], envelope).value)
    described = envelope_schema()["properties"]
    assert value.keys() - FULL_ENVELOPE.extensions.keys() == described.keys() - {"keyid"}
    Draft202012Validator.check_schema(envelope_schema())
    Draft202012Validator(envelope_schema()).validate(value)


def test_binary_mode_is_described_by_headers_that_the_codec_reads():
    trait = DOCUMENT["components"]["messageTraits"]["binary"]
    value = parse_json(codec().encode(golden.ALL_FILLED[0], FULL_ENVELOPE).value)
    said = {
        f"ce_{name}": str(one)
        for name, one in value.items()
        if name not in {"data", "datacontenttype"}
    }
    described = {
        name: text for name, text in said.items() if name in trait["headers"]["properties"]
    }
    assert set(trait["headers"]["required"]) <= described.keys()
    headers = [(name, text.encode()) for name, text in described.items()]
    event = read_cloud_event(record(b"{}", headers=headers))
    assert event.attributes["time"] == value["time"]
