"""Real call logs come in, each message once: counts are worked out from their JSON alone.

The five logs are of two conversations, one with each model, of three and of two calls.
"""

import json
from collections import Counter
from itertools import permutations

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    ContextMeasured,
    MessageExchanged,
    SessionStarted,
)
from support.import_log import ImportLog
from support.sources import ROOT

FOLDER = ROOT.parent / "shared" / "data" / "openhands-llm-logs"


def text_of(message: dict) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "\n".join(part["text"] for part in content)


def newest(logs: list[dict]) -> list[list[dict]]:
    """Return the whole of each conversation: the messages of its longest log, and the answer."""
    longest: dict[str, list[dict]] = {}
    for log in logs:
        messages = [*(log.get("raw_messages") or log["messages"])]
        messages.append(log["response"]["choices"][0]["message"])
        kept = longest.setdefault(log["response"]["model"], messages)
        if len(messages) > len(kept):
            longest[log["response"]["model"]] = messages
    return list(longest.values())


@pytest.fixture(scope="module")
def paths():
    found = sorted(FOLDER.glob("*.json"))
    if not found:
        pytest.skip(f"no logs in {FOLDER}: the samples are not beside this checkout")
    return found


@pytest.fixture(scope="module")
def logs(paths):
    return [json.loads(path.read_bytes()) for path in paths]


@pytest.fixture(scope="module")
def taken(paths):
    log = ImportLog()
    report = log.take(FOLDER)
    assert (report.problems, report.files) == ([], len(paths))
    return log


def test_each_message_call_and_answer_is_there_once(logs, taken):
    whole = newest(logs)
    said = Counter(message["role"] for messages in whole for message in messages)
    calls = sum(len(m.get("tool_calls") or []) for messages in whole for m in messages)
    assert Counter(taken.types()) == {
        "session.started": len(whole),
        "message.exchanged": said["user"] + said["assistant"],
        "action.started": calls,
        "action.finished": said["tool"],
        "context.measured": len(logs),
    }
    assert (len(whole), len(logs)) == (2, 5)


def test_the_words_are_there_in_order(logs, taken):
    told: dict[str, list[str]] = {}
    for found in taken.of(MessageExchanged):
        told.setdefault(found.envelope.session, []).append(found.recorded.event.text)
    expected = [
        [text_of(m) for m in messages if m["role"] in {"user", "assistant"}]
        for messages in newest(logs)
    ]
    assert sorted(told.values()) == sorted(expected)
    instructions = {started.recorded.event.instructions for started in taken.of(SessionStarted)}
    assert instructions == {text_of(messages[0]) for messages in newest(logs)}


def test_every_answer_is_linked_with_its_call_and_none_is_orphaned(taken):
    calls = {made.envelope.extensions["sourcecall"]: made for made in taken.of(ActionStarted)}
    finished = taken.of(ActionFinished)
    assert len(finished) == 3
    for found in finished:
        asked = calls[found.envelope.extensions["sourcecall"]]
        assert found.envelope.cause == found.recorded.event.action == asked.envelope.id
        assert not found.recorded.event.orphaned


def test_costs_tokens_windows_and_times_are_those_of_the_logs(logs, taken):
    measured = [(found, found.recorded.event) for found in taken.of(ContextMeasured)]
    assert [
        (
            event.model_use.model,
            event.model_use.tokens_in,
            event.model_use.tokens_out,
            event.model_use.cost_usd,
            event.limit_tokens,
            found.envelope.occurred_at.timestamp(),
        )
        for found, event in measured
    ] == [
        (
            log["response"]["model"],
            log["response"]["usage"]["prompt_tokens"],
            log["response"]["usage"]["completion_tokens"],
            log["cost"],
            log["context_window"],
            pytest.approx(log["timestamp"], abs=1e-6),
        )
        for log in logs
    ]


def test_any_order_gives_the_same_events(paths, taken):
    expected = {(f.envelope.id, f.recorded.content, f.envelope.cause) for f in taken.events()}
    for order in list(permutations(paths))[::7]:
        log = ImportLog()
        log.take(*order)
        assert {
            (f.envelope.id, f.recorded.content, f.envelope.cause) for f in log.events()
        } == expected


def test_a_second_import_adds_nothing(taken):
    there = taken.size()
    assert taken.take(FOLDER).added == 0
    assert taken.size() == there
