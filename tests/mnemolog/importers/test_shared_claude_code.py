"""The sample sessions of Claude Code come in whole: counts are worked out from their JSON alone."""

import json
from collections import Counter

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    MessageExchanged,
    SessionEnded,
)
from support.import_log import ImportLog
from support.sources import ROOT

FOLDER = ROOT.parent / "shared" / "data" / "claude-code"


@pytest.fixture(scope="module")
def lines() -> list:
    paths = sorted(FOLDER.glob("*.jsonl"))
    if not paths:
        pytest.skip(f"no files in {FOLDER}: the samples are not beside this checkout")
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


@pytest.fixture(scope="module")
def imported(lines) -> tuple[ImportLog, object]:
    log = ImportLog()
    return log, log.take(FOLDER)


def said_in(line) -> list:
    """Return the content of a line of somebody, or nothing where it has none."""
    message = line.get("message") if isinstance(line, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def parts_of(lines, kind: str) -> list[dict]:
    parts = [part for line in lines for part in said_in(line)]
    return [part for part in parts if isinstance(part, dict) and part["type"] == kind]


def test_every_word_call_answer_and_session_is_there(lines, imported):
    log, _ = imported
    bare = [part for line in lines for part in said_in(line) if isinstance(part, str)]
    calls, results = parts_of(lines, "tool_use"), parts_of(lines, "tool_result")
    # One call has no result, for its line is misspelt, and its session went on; another has none
    # at the end of its session, and stays open.
    orphans = 1
    assert len(calls) == len(results) + orphans + 1
    assert Counter(log.types()) == {
        "session.started": len({line["sessionId"] for line in lines if said_in(line)}),
        "session.ended": 1,  # of two summaries one stands behind the last line of its session
        "message.exchanged": len(parts_of(lines, "text")) + len(bare),
        "action.started": len(calls),
        "action.finished": len(results) + orphans,
    }


def test_the_words_are_those_of_the_lines_in_order(lines, imported):
    log, _ = imported
    texts = [
        part if isinstance(part, str) else part["text"]
        for line in lines
        for part in said_in(line)
        if isinstance(part, str) or part["type"] == "text"
    ]
    assert [found.recorded.event.text for found in log.of(MessageExchanged)] == texts


def test_what_the_model_used_is_what_its_messages_say(lines, imported):
    log, _ = imported
    messages = [line["message"] for line in lines if said_in(line) and line["type"] == "assistant"]
    spent = sum(message["usage"]["output_tokens"] for message in messages)
    uses = [found.recorded.event.model_use for found in log.events()]
    assert sum(use.tokens_out for use in uses if use) == spent
    assert sum(bool(use) for use in uses) == len(messages)


def test_each_answer_is_linked_with_its_call(lines, imported):
    log, _ = imported
    tools = {part["id"]: part["name"] for part in parts_of(lines, "tool_use")}
    started = {found.envelope.id: found.recorded.event.tool for found in log.of(ActionStarted)}
    finished = [found for found in log.of(ActionFinished) if not found.recorded.event.orphaned]
    assert [started[found.envelope.cause] for found in finished] == [
        tools[part["tool_use_id"]] for part in parts_of(lines, "tool_result")
    ]
    failed = [part.get("is_error") is True for part in parts_of(lines, "tool_result")]
    assert [not found.recorded.event.success for found in finished] == failed


def test_the_lines_that_are_none_are_named(lines, imported):
    _, report = imported
    summaries = [line for line in lines if isinstance(line, dict) and "summary" in line]
    assert report.problems_total == sum(not said_in(line) for line in lines) - len(summaries)
    assert (report.files, report.skipped_total) == (2, 1)  # the licence


def test_the_summary_of_a_whole_session_is_its_outcome(lines, imported):
    log, _ = imported
    (ended,) = log.of(SessionEnded)
    last = [line for line in lines if said_in(line) and line["sessionId"] == "test_session"][-1]
    (summary,) = [
        line["summary"]
        for line in lines
        if isinstance(line, dict) and line.get("leafUuid") == last["uuid"]
    ]
    assert ended.recorded.event.outcome == summary


def test_a_second_import_adds_nothing(imported):
    log, first = imported
    report = log.take(FOLDER)
    assert (report.added, report.already_there) == (0, first.added)
