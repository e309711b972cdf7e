"""Scenario 1, on the default embedder: what an agent recalls before it does JWT."""

from datetime import UTC, datetime

import pytest

from mnemolog import Memory
from mnemolog.demo import auth
from mnemolog.demo.auth_part import ask_auth
from mnemolog.demo.stage import RECALL_SECONDS, events_of
from mnemolog.demo.telling import tell

NOW = datetime(2026, 3, 20, 10, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def memory():
    names = {"agent": auth.AGENT, "project": auth.PROJECT}
    with Memory(":memory:", embedder="auto", record_recalls=False, **names) as opened:
        tell(opened, auth.AUTH, start=NOW)
        yield opened


@pytest.mark.parametrize("question", [auth.QUESTION, auth.QUESTION_IN_ENGLISH])
def test_the_user_schema_and_the_token_fault_come_first_in_either_language(memory, question):
    answer = ask_auth(memory, now=NOW, question=question)
    assert answer.missing == ()
    assert set(events_of(answer[:2])) == {auth.SCHEMA, auth.FAULT}


def test_what_happened_before_the_window_is_left_out_and_found_without_it(memory):
    assert auth.PROTOTYPE not in events_of(ask_auth(memory, now=NOW))
    everything = memory.recall(
        auth.QUESTION, at=NOW, kinds=auth.KINDS, timeout_seconds=RECALL_SECONDS
    )
    assert auth.PROTOTYPE in events_of(everything)


def test_the_fault_taught_a_lesson_that_weighs_more_than_the_rest(memory):
    first = ask_auth(memory, now=NOW)[0]
    assert (first.provenance.event_id, first.kind, first.importance) == (auth.FAULT, "lesson", 1.0)


def test_confirmations_form_no_memory(memory):
    confirmations = {"w-02", "w-05", "w-09", "w-13", "w-20", "w-28", "w-32", "w-39"}
    said = {told.id for told in auth.AUTH.events}
    formed = {row[0] for row in memory.sql("SELECT event_id FROM memories").rows}
    assert confirmations <= said
    assert not confirmations & formed


def test_the_history_spans_two_months_with_the_three_events_at_their_days(memory):
    ages = {told.id: -told.when.days for told in auth.AUTH.events}
    assert (ages[auth.SCHEMA], ages[auth.FAULT], ages[auth.RESET]) == (60, 55, 50)
    assert sum(0 < age < 60 for age in ages.values()) > 40


def test_the_questions_share_no_phrase_with_what_they_find():
    texts = [
        str(value)
        for told in auth.AUTH.events
        if told.id in {auth.SCHEMA, auth.FAULT}
        for value in told.fields.values()
    ]
    english = auth.QUESTION_IN_ENGLISH.lower().split()
    phrases = {" ".join(english[i : i + 3]) for i in range(len(english) - 2)}
    phrases |= {auth.QUESTION[i : i + 5] for i in range(len(auth.QUESTION) - 4)}
    assert not [phrase for phrase in phrases if any(phrase in text.lower() for text in texts)]
