"""The tables of docs/cli.md say what the code says."""

import re

import mnemolog.cli.main as cli
from mnemolog.projections.recall.focus import FOCUSES
from support import markdown
from support.sources import ROOT

PAGE = (ROOT / "docs" / "cli.md").read_text()


def table(*head):
    return next(rows[1:] for rows in markdown.tables(PAGE) if rows[0][: len(head)] == list(head))


def test_every_focus_stands_on_the_page_with_its_shares_and_kinds():
    written = {
        row[0].strip("`"): ([float(share) for share in row[1:5]], row[5])
        for row in table("focus", "relevance", "recency", "importance", "weight")
    }
    assert written == {
        name: ([f.relevance, f.recency, f.importance, f.weight], ", ".join(f.kinds))
        for name, f in FOCUSES.items()
    }


def test_the_exit_codes_on_the_page_are_those_of_the_code():
    written = {int(row[0]) for row in table("code", "means")}
    told = {int(code) for code in re.findall(r"\b(\d) [a-z]", cli.__doc__)}
    assert written == told | {cli.INTERRUPTED}


def test_each_command_of_the_overview_has_its_own_heading():
    named = {name for row in table("to", "use") for name in re.findall(r"`([^`]+)`", row[1])}
    headings = {
        name for title in markdown.sections(PAGE) for name in re.findall(r"`([^`]+)`", title)
    }
    assert named == headings
