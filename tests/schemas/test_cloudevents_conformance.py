"""CloudEvents' published conformance cases: sound ones are read as they say, others are foreign."""

import pytest

from mnemolog.schemas.cloudevents import read_cloud_event
from mnemolog.schemas.decoded import Foreign, Guest
from mnemolog.schemas.values import parse_json
from support.conformance import (
    FULL,
    KAFKA,
    MINIMUM,
    binary,
    events,
    existing,
    scenarios,
    structured,
    structured_document,
)
from support.events import codec, record
from support.import_log import ImportLog, json_file, lines_file
from support.moving import items_of


def test_the_scenarios_of_the_kafka_binding_are_read_as_they_say():
    found = scenarios(existing(KAFKA))
    assert len(found) == 3
    for one in found:
        event = read_cloud_event(record(one.payload, headers=one.headers))
        assert event.attributes == one.attributes
        assert event.data == one.data


def test_each_scenario_is_a_guest_of_our_log():
    for one in scenarios(existing(KAFKA)):
        found = codec().decode(record(one.payload, headers=one.headers))
        assert isinstance(found, Guest), found
        assert found.event_type == "com.example.someevent"
        assert found.envelope.id == "1234-1234-1234"


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


# What is not of the form


def every_event():
    return [one for path in (MINIMUM, FULL) for one in events(existing(path))]


def without(attributes, name):
    return {key: value for key, value in attributes.items() if key != name}


@pytest.mark.parametrize(
    "spoil",
    [
        *(lambda told, name=name: without(told, name) for name in ("id", "source", "type")),
        *(lambda told, name=name: {**told, name: ""} for name in ("id", "source", "type")),
        lambda told: without(told, "specversion"),
        lambda told: {**told, "specversion": "0.3"},
        lambda told: {**told, "some_name": "x"},
        lambda told: {**told, "Name": "x"},
        lambda told: {**told, "time": "a moment ago"},
    ],
)
def test_an_event_that_lacks_or_breaks_an_attribute_is_foreign_in_both_modes(spoil):
    for attributes, text, _ in every_event():
        told, data = spoil(attributes), text.encode()
        is_json = "json" in attributes.get("datacontenttype", "application/json")
        for one in (binary(told, data), structured(told, data, is_json=is_json)):
            found = codec().decode(one)
            assert isinstance(found, Foreign), found
            assert found.reason
            assert found.record == one


@pytest.mark.parametrize(
    "content_type",
    ["application/cloudevents-batch+json", "application/cloudevents+avro", "text/xml"],
)
def test_a_record_of_another_format_is_foreign(content_type):
    for one in scenarios(existing(KAFKA)):
        if all(name != "ce_id" for name, _ in one.headers):
            other = record(one.payload, headers=[("content-type", content_type.encode())])
            assert isinstance(codec().decode(other), Foreign)


# In files


@pytest.fixture
def documents():
    return [structured_document(attributes, text.encode()) for attributes, text, _ in every_event()]


@pytest.mark.parametrize("as_lines", [True, False])
def test_the_conformance_events_come_in_from_lines_and_from_a_batch(documents, as_lines, tmp_path):
    log = ImportLog()
    path = lines_file(tmp_path, *documents) if as_lines else json_file(tmp_path, documents)
    report = log.take(path, agent="ops-1")
    assert report.problems == []
    assert report.added == len({(one["source"], one["id"]) for one in documents}) == 7
    assert log.take(path, agent="ops-1").added == 0
    came = {item.envelope.id: item for item in items_of(log.log, log.publisher.codec)}
    assert all(isinstance(item, Guest) and item.key == "ops-1" for item in came.values())
    for told in documents:
        assert told.items() <= parse_json(came[told["id"]].canonical).items()


def test_each_one_comes_in_as_a_document_of_its_own_and_a_spoilt_one_is_a_problem(
    documents, tmp_path
):
    log = ImportLog()
    for number, told in enumerate(documents):
        json_file(tmp_path, told, name=f"{number}.json")
        json_file(tmp_path, without(told, "source"), name=f"{number}-spoilt.json")
    report = log.take(tmp_path)
    assert report.files == 2 * len(documents)
    assert report.events == report.problems_total == len(documents)
    assert {problem.reason.rpartition(": ")[2] for problem in report.problems} == {
        "attribute source is missing"
    }
