"""Every version of every event that was ever published is read for ever, to the same event."""

import pytest

from mnemolog.schemas.events import ALL_EVENTS
from mnemolog.schemas.values import parse_json
from support import golden


def test_each_type_has_a_golden_file_of_each_of_its_versions():
    wanted = {
        f"{event.event_type}.{n}" for event in ALL_EVENTS for n in range(1, event.event_version + 1)
    }
    assert set(golden.values()) == wanted, "write it: see tests/support/golden.py"


@pytest.mark.parametrize("name", golden.values())
def test_a_golden_event_is_read_as_it_always_was(name):
    assert golden.decoded(golden.values()[name]) == golden.expected(name)


@pytest.mark.parametrize("name", golden.values())
def test_a_golden_event_is_of_the_version_that_its_name_says(name):
    value = parse_json(golden.values()[name])
    event_type, _, version = name.rpartition(".")
    assert value["type"] == f"mnemolog.{event_type}"
    assert value["dataschema"] == f"urn:mnemolog:schema:{event_type}:{version}"


@pytest.mark.parametrize("event", golden.ALL_FILLED, ids=golden.name_of)
def test_an_event_of_a_current_version_is_still_written_as_its_golden_file(event):
    assert golden.value_of(event) == golden.values()[golden.name_of(event)]
