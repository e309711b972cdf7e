"""A format is recognised or named, and its name lasts."""

import pytest

from mnemolog.importers.formats import IMPORTERS, named, names, recognised
from mnemolog.schemas.errors import InvalidSetting
from support import markdown
from support.sources import ROOT

PAGE = ROOT / "docs" / "importing.md"
NAMES = {
    "aider",
    "claude-code",
    "cloudevents",
    "codex",
    "inspect",
    "langfuse",
    "locomo",
    "memorybank",
    "mini-swe-agent",
    "openai-chat",
    "openhands",
    "openhands-llm-logs",
    "otel",
    "swe-agent",
    "toolbench",
}


def test_the_names_are_part_of_every_id_and_so_are_these_for_ever():
    assert len(names()) == len(set(names()))
    assert set(names()) == NAMES


@pytest.mark.parametrize("name", names())
def test_a_name_gives_its_importer(name):
    assert named(name).name == name


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(InvalidSetting, match=r"known formats: .*locomo, .*openai-chat"):
        named("csv")


def test_what_nobody_knows_is_nobodys():
    assert recognised("x.json", b'{"a": 1}') is None


def test_each_format_has_a_section_and_a_table_on_the_page():
    sections = markdown.sections(PAGE.read_text())
    for importer in IMPORTERS:
        (heading,) = (heading for heading in sections if f"`{importer.name}`" in heading)
        rows = [row[0] for table in markdown.tables(sections[heading]) for row in table]
        for rule in ("time", "order", "identity", "causes"):
            assert rule in rows, f"{importer.name} has no rule for {rule}"
