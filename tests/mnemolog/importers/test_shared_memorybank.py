"""MemoryBank's sample histories come in whole: counts are worked out from their JSON alone."""

import json
from collections import Counter

import pytest

from mnemolog.schemas.events.experience import MessageExchanged, SessionStarted
from support.import_log import ImportLog
from support.sources import ROOT

FOLDER = ROOT.parent / "shared" / "data" / "memorybank"


@pytest.fixture(scope="module")
def users() -> dict:
    paths = sorted(FOLDER.glob("memory_bank_*.json"))
    if not paths:
        pytest.skip(f"no files in {FOLDER}: the samples are not beside this checkout")
    return {name: user for path in paths for name, user in json.loads(path.read_bytes()).items()}


@pytest.fixture(scope="module")
def imported(users) -> tuple[ImportLog, object]:
    log = ImportLog()
    return log, log.take(FOLDER)


def test_every_day_and_message_is_there(users, imported):
    log, report = imported
    days = [pairs for user in users.values() for pairs in user["history"].values()]
    assert Counter(log.types()) == {
        "session.started": len(days),
        "message.exchanged": 2 * sum(map(len, days)),
    }
    assert report.problems == []


def test_the_words_of_each_user_are_there_in_order(users, imported):
    log, _ = imported
    told: dict[str, list[str]] = {}
    for found in log.of(MessageExchanged):
        told.setdefault(found.envelope.user, []).append(found.recorded.event.text)
    assert told == {
        name.strip(): [
            text
            for pairs in user["history"].values()
            for pair in pairs
            for text in (pair["query"], pair["response"])
        ]
        for name, user in users.items()
    }


def test_days_are_the_sources(users, imported):
    log, _ = imported
    sessions = {
        (found.envelope.user, found.envelope.occurred_at.date().isoformat())
        for found in log.of(SessionStarted)
    }
    assert sessions == {
        (name.strip(), day) for name, user in users.items() for day in user["history"]
    }
    by_day = {
        (found.envelope.session.split("/")[1], found.envelope.occurred_at.date().isoformat())
        for found in log.of(MessageExchanged)
    }
    assert all(session == day for session, day in by_day)


def test_the_questions_are_not_imported(users, imported):
    _, report = imported
    asked = sorted(path.name for path in FOLDER.glob("probing_*.jsonl"))
    skipped = {name.rpartition("/")[2] for name in report.skipped}
    assert asked
    assert set(asked) < skipped


def test_a_second_import_adds_nothing(imported):
    log, first = imported
    report = log.take(FOLDER)
    assert (report.added, report.already_there) == (0, first.added)
