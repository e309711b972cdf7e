"""The sample rollouts of Codex come in whole: counts are worked out from their JSON alone."""

import json
from collections import Counter

import pytest

from mnemolog.schemas.events.experience import ActionFinished, ActionStarted, MessageExchanged
from support.import_log import ImportLog
from support.sources import ROOT

FOLDER = ROOT.parent / "shared" / "data" / "codex"


@pytest.fixture(scope="module")
def payloads() -> list[dict]:
    paths = sorted(FOLDER.glob("*.jsonl"))
    if not paths:
        pytest.skip(f"no files in {FOLDER}: the samples are not beside this checkout")
    lines = [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]
    return [{"line": line["type"], **line["payload"]} for line in lines]


@pytest.fixture(scope="module")
def imported(payloads) -> tuple[ImportLog, object]:
    log = ImportLog()
    return log, log.take(FOLDER)


def kinds(payloads, ending: str) -> list[dict]:
    return [payload for payload in payloads if payload.get("type", "").endswith(ending)]


def test_every_word_call_answer_and_session_is_there(payloads, imported):
    log, _ = imported
    roles = Counter(payload.get("role") for payload in payloads)
    reused = 1  # one id has two calls, and no answer: the first of them gets none any more
    assert Counter(log.types()) == {
        "session.started": sum(payload["line"] == "session_meta" for payload in payloads),
        "message.exchanged": roles["user"] + roles["assistant"],
        "decision.made": len(kinds(payloads, "reasoning")),
        "action.started": len(kinds(payloads, "_call")),
        "action.finished": len(kinds(payloads, "_call_output")) + reused,
    }


def test_what_was_shown_is_what_was_said_and_is_told_once(payloads, imported):
    log, _ = imported
    said = Counter(part["text"] for p in payloads if "role" in p for part in p["content"])
    shown = {p["message"] for p in payloads if p["line"] == "event_msg"}
    assert len(shown) == 2
    assert shown < said.keys()
    assert Counter(found.recorded.event.text for found in log.of(MessageExchanged)) == said


def test_each_answer_is_linked_with_its_call(payloads, imported):
    log, _ = imported
    names = {payload["call_id"]: payload["name"] for payload in kinds(payloads, "_call")}
    started = {found.envelope.id: found.recorded.event.tool for found in log.of(ActionStarted)}
    finished = [found for found in log.of(ActionFinished) if not found.recorded.event.orphaned]
    assert [started[found.envelope.cause] for found in finished] == [
        names[payload["call_id"]] for payload in kinds(payloads, "_call_output")
    ]


def test_what_is_encrypted_does_not_come_in(payloads, imported):
    log, _ = imported
    (secret,) = {p["encrypted_content"] for p in payloads if "encrypted_content" in p}
    assert not any(secret in found.recorded.event.model_dump_json() for found in log.events())


def test_the_type_that_nobody_knows_is_named(imported):
    _, report = imported
    (problem,) = report.problems
    assert problem.place == "line 14"
    assert "1 line(s)" in problem.reason
    assert (report.files, report.skipped_total) == (3, 1)  # the licence


def test_a_second_import_adds_nothing(imported):
    log, first = imported
    report = log.take(FOLDER)
    assert (report.added, report.already_there) == (0, first.added)
