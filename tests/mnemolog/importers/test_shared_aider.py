"""The sample history of Aider comes in whole: counts are worked out from its lines alone."""

import re
from collections import Counter
from itertools import pairwise

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    CheckpointSaved,
    FeedbackGiven,
    MessageExchanged,
    ObservationRecorded,
    SessionStarted,
)
from support.import_log import ImportLog
from support.sources import ROOT

FOLDER = ROOT.parent / "shared" / "data" / "aider"


@pytest.fixture(scope="module")
def lines() -> list[str]:
    paths = sorted(FOLDER.glob("*.md"))
    if not paths:
        pytest.skip(f"no files in {FOLDER}: the samples are not beside this checkout")
    return [line for path in paths for line in path.read_bytes().decode().split("\n")]


@pytest.fixture(scope="module")
def imported(lines) -> tuple[ImportLog, object]:
    log = ImportLog()
    return log, log.take(FOLDER)


def beginning(lines, mark: str) -> list[str]:
    return [line for line in lines if re.match(mark, line)]


def prompts_in(lines) -> list[str]:
    """Return the prompts: lines with "#### " before and two spaces behind, up to any other."""
    found, is_inside = [], False
    for line in lines:
        is_prompt = line.startswith("####") and line.endswith("  ")
        if is_prompt and is_inside:
            found[-1] += "\n" + line[5:-2]
        elif is_prompt:
            found.append(line[5:-2])
        is_inside = is_prompt
    return found


def models_of_requests(lines) -> list[str | None]:
    """Return for each request the model that was named last since its session's start."""
    found, model = [], None
    for line in lines:
        if line.startswith("# aider chat started at 2"):
            model = None
        elif re.match(r"> Models?: \S+ with ", line):
            model = line.split()[2]
        elif line.startswith("> Tokens: "):
            found.append(model)
    return found


def told(imported, model: type) -> list:
    return [found.recorded.event for found in imported[0].of(model)]


def test_every_session_is_there_with_the_end_of_the_one_before(lines, imported):
    starts = beginning(lines, r"# aider chat started at \d")
    sessions = [found.envelope.session for found in imported[0].of(SessionStarted)]
    assert len(starts) == 544
    assert sessions[0].startswith("earlier-")
    # Some were left with a command while an answer was on its way: they start again.
    assert list(dict.fromkeys(sessions[1:])) == [
        line.removeprefix("# aider chat started at ").replace(" ", "T") for line in starts
    ]


def test_every_prompt_is_there_in_order(lines, imported):
    asked = [text.strip() for text in prompts_in(lines)]
    repeats = [
        later
        for before, later in pairwise(asked)
        if before.startswith("/") and before.partition(" ")[2].strip() == later
    ]
    said = [
        event.text.strip()
        for event in told(imported, MessageExchanged)
        if event.role != "assistant"
    ]
    assert len(said) == len(asked) - len(repeats)
    left = iter(asked)
    assert all(text in left for text in said)


def test_every_edit_is_there_with_what_it_puts_in(lines, imported):
    started = told(imported, ActionStarted)
    assert len(started) == len(beginning(lines, r">{5,9} REPLACE\s*$"))
    text = "\n".join(lines)
    assert all(event.arguments["replace"] in text for event in started)
    assert all(event.arguments["path"] for event in started)


def test_edits_ended_as_the_lines_say(lines, imported):
    ends = Counter((e.success, e.orphaned) for e in told(imported, ActionFinished))
    missed = beginning(lines, "> ## SearchReplaceNoExactMatch")
    assert ends[False, False] == len(missed)
    open_ones = len(told(imported, ActionStarted)) - sum(ends.values())
    assert open_ones == 3  # in the last answer, at whose end the file ends
    finished = Counter(
        found.recorded.event.result
        for found in imported[0].of(ActionFinished)
        if found.recorded.event.success
    )
    applied = {line[2:-2] for line in beginning(lines, "> Applied edit to ")}
    assert {text for text in finished if text.startswith("Applied")} <= applied


def test_every_commit_is_a_checkpoint(lines, imported):
    hashes = [line.split()[2] for line in beginning(lines, r"> Commit [0-9a-f]{7}\b")]
    saved = [e.checkpoint.intermediate_results["commit"] for e in told(imported, CheckpointSaved)]
    assert saved == hashes


def test_every_request_that_cost_something_says_so(lines, imported):
    spent = [
        re.findall(r"([\d,]+) (?:sent|received)", line) for line in beginning(lines, "> Tokens: ")
    ]
    uses = [found.recorded.event.model_use for found in imported[0].events()]
    assert [(use.tokens_in, use.tokens_out) for use in uses if use] == [
        tuple(int(number.replace(",", "")) for number in pair) for pair in spent
    ]
    # Some sessions have no line that names their model: another process started in between.
    unknown = [use.model == "unknown" for use in uses if use]
    assert unknown == [model is None for model in models_of_requests(lines)]


def test_what_was_taken_back_or_broken_is_feedback(lines, imported):
    labels = Counter(event.label for event in told(imported, FeedbackGiven))
    assert labels == {
        "undone": len(beginning(lines, r"> Removed: [0-9a-f]{7}\b")),
        "lint errors": len(beginning(lines, "> Attempt to fix lint errors")),
        "test errors": len(beginning(lines, "> Attempt to fix test errors")),
    }


def test_nothing_that_was_printed_is_lost(lines, imported):
    texts = "\n".join(
        [event.text for event in told(imported, ObservationRecorded)]
        + [event.error or event.result or "" for event in told(imported, ActionFinished)]
    )
    for mark in (r"> Traceback \(most", "> FAILED ", r"> Scraping http", "> badness"):
        printed = beginning(lines, mark)
        assert printed
        assert texts.count(printed[0][2:].strip()) >= 1


def test_there_are_no_problems_and_a_second_import_adds_nothing(imported):
    log, first = imported
    assert first.problems == []
    report = log.take(FOLDER)
    assert (report.added, report.already_there) == (0, first.added)
