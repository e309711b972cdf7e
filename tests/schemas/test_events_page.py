"""docs/events.md names each event's fields, what it forms and the envelope as the code has them."""

import re

import pytest

from mnemolog.projections.write_rule import FORMING
from mnemolog.schemas.asyncapi import envelope_schema
from mnemolog.schemas.events import EXPERIENCE, GOVERNANCE, MEMORY
from support import markdown
from support.sources import ROOT

PAGE = (ROOT / "docs" / "events.md").read_text(encoding="utf-8")
TABLES = list(markdown.tables(PAGE))
GROUPS = dict(
    zip(("Experience", "Memory", "Governance"), (EXPERIENCE, MEMORY, GOVERNANCE), strict=True)
)
EVENTS = [event for group in GROUPS.values() for event in group]
ROWS = {row[0].strip("`"): row for table in TABLES if table[0][0] == "event" for row in table[1:]}


@pytest.mark.parametrize("heading", GROUPS)
def test_the_groups_are_those_of_the_code_in_its_order(heading):
    found = re.findall(r"^\| `([a-z.-]+)`", markdown.sections(PAGE)[heading], re.MULTILINE)
    assert found == [event.event_type for event in GROUPS[heading]]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.event_type)
def test_an_events_line_has_its_fields_the_needed_ones_in_bold(event):
    told = [field.strip() for field in ROWS[event.event_type][2].split(",")]
    fields = {n: f for n, f in event.model_fields.items() if n not in {"tags", "model_use"}}
    assert {field.strip("*") for field in told} == fields.keys()
    assert {f.strip("*") for f in told if f.startswith("**")} == {
        name for name, field in fields.items() if field.is_required()
    }


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.event_type)
def test_an_events_line_says_whether_it_forms_memories(event):
    assert ROWS[event.event_type][3].startswith("none") is (event.event_type not in FORMING)


def test_the_envelopes_attributes_are_all_there_the_needed_ones_in_bold():
    table = next(table for table in TABLES if table[0][0] == "attribute")
    told = [name.strip() for row in table[1:] for name in row[0].split(",")]
    assert {name.strip("*") for name in told} == envelope_schema()["properties"].keys()
    bold = {name.strip("*") for name in told if name.startswith("**")}
    assert bold == set(envelope_schema()["required"])
