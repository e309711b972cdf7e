"""A session's teller links answers with calls, and remembers no more of them than it may."""

from datetime import datetime
from io import BufferedReader, BytesIO

import pytest

from mnemolog.importers.base import Scope, Source, Telling
from mnemolog.importers.chat_messages import Call
from mnemolog.importers.teller import OPEN_CALLS_MAX, Teller
from mnemolog.schemas.events.experience import MessageExchanged


@pytest.fixture
def teller() -> Teller:
    source = Source("in.json", b"", BufferedReader(BytesIO()))
    teller = Teller(Telling("tests", Scope(agent="a"), seed=("s",)), source)
    teller.at("line 1", datetime(2030, 1, 1), item="1", key="1")  # noqa: DTZ001 - as sources have it
    return teller


def test_the_first_event_is_caused_by_nothing_and_the_next_by_the_first(teller):
    fields = {"role": "user", "text": "hi"}
    first = teller.tell(MessageExchanged, fields)
    second = teller.tell(MessageExchanged, fields, number=1)
    assert (first.draft.cause, second.draft.cause) == (None, first.draft.id)


def test_an_answer_is_caused_by_its_call_and_one_of_an_unknown_call_by_nothing(teller):
    called = teller.act("c", "look", {})
    assert teller.answer("c", "seen", success=True).draft.cause == called.draft.id
    assert teller.answer("c", "again", success=True).draft.cause is None


def test_what_stands_aside_is_no_cause_of_what_follows(teller):
    called = teller.act("c", "look", {})
    (orphaned,) = teller.orphan()
    assert orphaned.draft.cause == called.draft.id
    assert teller.previous == called.draft.id
    assert list(teller.orphan()) == []  # it is said once
    assert teller.answer("c", "late", success=True).draft.fields["action"] == called.draft.id


def test_calls_made_at_once_have_one_cause_and_the_first_that_can_be_read_has_the_use(teller):
    said = teller.tell(MessageExchanged, {"role": "assistant", "text": "I look twice."})
    calls = [Call("c1", "look", {}, None), Call("c2", "look", {"at": "lift"}, None)]
    keyed = [(0, "a call of no name"), *enumerate(calls, start=1)]
    problem, first, second = teller.act_at_once(keyed, use={"model": "small-1"})
    assert problem.reason == "a call of no name"
    assert first.draft.cause == second.draft.cause == said.draft.id
    assert first.draft.fields["model_use"] == {"model": "small-1"}
    assert "model_use" not in second.draft.fields
    assert first.draft.id != second.draft.id
    assert teller.answer(1, "seen", success=True).draft.cause == first.draft.id


def test_a_call_id_that_a_source_may_not_give_is_left_out(teller):
    placed = teller.act("c", "look", {}, call="\x00" * 300)
    assert "sourcecall" not in placed.draft.extensions


def test_of_open_calls_the_oldest_are_forgotten(teller):
    for number in range(OPEN_CALLS_MAX + 1):
        teller.act(number, "look", {}, number=number)
    assert not teller.waits_for(0)
    assert teller.waits_for(1)
    assert len(list(teller.orphan())) == OPEN_CALLS_MAX
