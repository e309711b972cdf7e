"""Logs of model calls: what each adds, what becomes of their parts, what is wrong in them."""

import json

import pytest

from mnemolog.importers.base import HEAD_BYTES
from mnemolog.importers.llm_logs import LLMLogs
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    ContextMeasured,
    DecisionMade,
    MessageExchanged,
    ObservationRecorded,
    SessionStarted,
)
from support.call_logs import (
    MODEL,
    STARTED,
    SYSTEM,
    TURNS,
    answered,
    call_log,
    call_logs,
)
from support.chats import answer, asks, call, says, user
from support.import_log import ImportLog, json_file, lines_file


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def told(log: ImportLog, model) -> list:
    return [found.recorded.event for found in log.of(model)]


# What becomes what


def test_a_log_tells_what_was_asked_what_was_answered_and_what_it_took(log, tmp_path):
    assert log.take(json_file(tmp_path, call_logs()[0])).problems == []
    assert log.types() == [
        "session.started",
        "message.exchanged",
        "message.exchanged",
        "action.started",
        "context.measured",
    ]
    started, asked, said, acted, measured = (found.recorded.event for found in log.events())
    assert started.instructions == "You mend lifts."
    assert (asked.role, asked.text) == ("user", "The lift in hall B hangs.")
    assert (said.role, said.text) == ("assistant", "Let me look at it.")
    assert (acted.tool, acted.arguments) == ("look", {"hall": "B"})
    assert (measured.used_tokens, measured.limit_tokens) == (107, 8_000)
    use = measured.model_use
    assert (use.model, use.tokens_in, use.tokens_out, use.cost_usd) == (MODEL, 100, 7, 0.25)


def test_no_message_carries_what_only_one_log_knows(log, tmp_path):
    log.take(lines_file(tmp_path, *call_logs()))
    used = [found for found in log.events() if found.recorded.event.model_use]
    assert {found.event_type for found in used} == {"context.measured"}
    assert [event.model_use.tokens_in for event in told(log, ContextMeasured)] == [100, 101, 102]


def test_each_event_is_caused_by_the_one_that_it_answers(log, tmp_path):
    log.take(lines_file(tmp_path, *call_logs()))
    places = {found.envelope.id: number for number, found in enumerate(log.events())}
    causes = [places.get(found.envelope.cause) for found in log.events()]
    #  session, asked, said, look, measured, ajar, said, shut, measured, done, said, measured
    assert causes == [None, 0, 1, 2, 3, 3, 5, 6, 7, 7, 9, 10]


def test_a_thought_is_a_decision_beside_the_answer_that_it_led_to(log, tmp_path):
    thinking = {**says("Yes."), "reasoning_content": "It is ajar.\nSo it can be shut."}
    log.take(json_file(tmp_path, call_log([user("Can it be shut?")], answered(thinking))))
    (thought,) = log.of(DecisionMade)
    asked, said = log.of(MessageExchanged)
    event = thought.recorded.event
    assert (event.what, event.why) == ("It is ajar.", "So it can be shut.")
    assert thought.envelope.cause == said.envelope.cause == asked.envelope.id


def test_of_texts_with_calls_written_into_them_the_conversation_before_is_told(log, tmp_path):
    written = [{"role": "user", "content": "EXAMPLE ... The lift in hall B hangs."}]
    logs = [
        {**found, "messages": written, "raw_messages": found["messages"]} for found in call_logs()
    ]
    log.take(lines_file(tmp_path, *logs))
    assert "EXAMPLE" not in " ".join(event.text for event in told(log, MessageExchanged))
    assert log.take(lines_file(tmp_path, *call_logs())).added == 0


def test_without_a_window_the_use_stands_on_an_observation_that_says_nothing(log, tmp_path):
    log.take(json_file(tmp_path, call_logs(context_window=None)[0]))
    assert log.of(ContextMeasured) == []
    (event,) = told(log, ObservationRecorded)
    assert (event.text, event.model_use.cost_usd) == ("", 0.25)


@pytest.mark.parametrize("usage", [None, {}, [], {"prompt_tokens": -1}, {"prompt_tokens": "7"}])
def test_a_use_that_is_not_told_is_none(log, tmp_path, usage):
    bare = call_log([user("hi")], answered(says("hello"), usage=usage), cost=None)
    assert log.take(json_file(tmp_path, bare)).problems == []
    assert log.types() == ["session.started", "message.exchanged", "message.exchanged"]


def test_a_call_that_failed_tells_what_was_asked(log, tmp_path):
    failed = {**call_log(TURNS[:2], None), "error": {"type": "Timeout"}, "cost": 0.0}
    assert log.take(json_file(tmp_path, failed)).problems == []
    assert log.types() == ["session.started", "message.exchanged"]


def test_a_call_that_history_passed_without_an_answer_is_orphaned(log, tmp_path):
    turns = [*TURNS[:3], user("Never mind."), says("Very well.")]
    log.take(lines_file(tmp_path, *call_logs(turns)))
    ((started,), (finished,)) = (log.of(ActionStarted), told(log, ActionFinished))
    assert (finished.action, finished.orphaned) == (started.envelope.id, True)


def test_a_call_at_the_end_stays_open_until_its_answer_comes(log, tmp_path):
    log.take(json_file(tmp_path, call_logs()[0]))
    assert log.of(ActionFinished) == []
    log.take(json_file(tmp_path, call_logs()[1]))
    assert [event.orphaned for event in told(log, ActionFinished)] == [False]


def test_the_names_are_given_or_the_formats_own(log, tmp_path):
    log.take(json_file(tmp_path, call_logs()[0]), user="kari", project="lifts")
    (started,) = log.of(SessionStarted)
    names = started.envelope
    assert (names.agent, names.user, names.project) == ("openhands", "kari", "lifts")
    assert names.session.startswith("llm-")
    kwargs = {"extra_body": {"metadata": {"session_id": "conv-7"}}}
    log.take(json_file(tmp_path, call_logs(kwargs=kwargs)[0]), agent="mender")
    assert [s.envelope.session for s in log.of(SessionStarted)][1:] == ["conv-7"]


# What is wrong


@pytest.mark.parametrize("value", [{}, {"messages": "none"}, [1], 3, None])
def test_what_is_no_log_is_named_and_its_neighbours_come(log, tmp_path, value):
    report = log.take(
        lines_file(tmp_path, call_logs()[0], [value], call_log([user("hi")], None)),
        format="openhands-llm-logs",
    )
    assert [problem.place for problem in report.problems] == ["line 2"]
    assert len(log.of(SessionStarted)) == 2


def test_a_message_that_can_not_be_read_is_named_and_its_neighbours_come(log, tmp_path):
    log_ = call_log([user("one"), {"role": "robot"}, user("two")], answered(says("three")))
    report = log.take(json_file(tmp_path, log_))
    assert [problem.place for problem in report.problems] == ["line 1, message 2"]
    assert [event.text for event in told(log, MessageExchanged)] == ["one", "two", "three"]


@pytest.mark.parametrize(
    "response", [{}, {"choices": []}, {"choices": [{}]}, {"choices": [{"message": 3}]}, 3, []]
)
def test_a_response_without_a_message_is_named_and_what_was_asked_comes(log, tmp_path, response):
    report = log.take(json_file(tmp_path, call_log([user("hi")], response)))
    assert [problem.place for problem in report.problems] == ["line 1, response"]
    assert [event.text for event in told(log, MessageExchanged)] == ["hi"]


# Time


def seconds_of(log: ImportLog) -> list[float]:
    return [found.envelope.occurred_at.timestamp() for found in log.events()]


def test_what_was_asked_has_the_requests_time_and_the_answer_its_own(log, tmp_path):
    log.take(json_file(tmp_path, call_logs()[0]))
    asked = STARTED - 2.5
    assert seconds_of(log) == [asked, asked, STARTED, STARTED, STARTED]
    assert not any(found.envelope.assumed_utc for found in log.events())


@pytest.mark.parametrize("latency", [None, -1, 1e9, "2", float(10**300)])
def test_a_latency_that_can_not_be_is_none(log, tmp_path, latency):
    log.take(json_file(tmp_path, call_logs(latency_sec=latency)[0]))
    assert set(seconds_of(log)) == {STARTED}


@pytest.mark.parametrize("unit", [1_000, 1_000_000, 1_000_000_000])
def test_a_time_in_another_unit_is_refused_and_the_responses_own_is_taken(log, tmp_path, unit):
    written = int(STARTED * unit)
    report = log.take(json_file(tmp_path, call_logs(timestamp=written)[0]))
    (problem,) = report.problems
    assert str(written) in problem.reason
    assert "seconds since 1970" in problem.reason
    assert max(seconds_of(log)) == int(STARTED)  # `created`
    assert report.added == 5


@pytest.mark.parametrize("written", [1_757_015_076_651, "now", True, -1e300, [], {"s": 1}])
def test_without_any_time_of_its_own_a_log_counts_seconds_and_says_so(log, tmp_path, written):
    bare = call_log(TURNS[:2], answered(TURNS[2], created=written), timestamp=written)
    report = log.take(json_file(tmp_path, bare))
    assert [p.reason.partition(":")[0] for p in report.problems] == ["timestamp", "created"]
    assert {found.envelope.occurred_at.year for found in log.events()} == {2024}
    assert all(found.envelope.assumed_utc for found in log.events())


def test_a_whole_number_of_seconds_is_a_time(log, tmp_path):
    log.take(json_file(tmp_path, call_logs(timestamp=int(STARTED))[0]))
    assert max(seconds_of(log)) == int(STARTED)


# Recognition


def test_logs_are_recognised_before_their_messages_are_taken_for_a_chat(log, tmp_path):
    log.take(json_file(tmp_path, call_logs()[0]))
    assert {found.envelope.source for found in log.events()} == {
        "/mnemolog/import/openhands-llm-logs"
    }


def test_messages_alone_are_no_log():
    others = {"messages": TURNS, "cost": 1, "response": "hi", "timestamp": 1}
    for other in ({"messages": TURNS}, TURNS, others):
        assert not LLMLogs().recognises("x-1757015020.500.json", json.dumps(other).encode())


def test_of_a_log_whose_messages_fill_the_head_the_name_tells():
    long = call_log([SYSTEM, user("long " * HEAD_BYTES)], answered(says("yes")))
    head = json.dumps(long).encode()[:HEAD_BYTES]
    assert LLMLogs().recognises("logs/lab__small-1-1757015020.500-09af.json", head)
    assert not LLMLogs().recognises("logs/chat.json", head)


def test_an_answer_to_a_call_of_another_id_has_no_cause(log, tmp_path):
    asked = [user("hi"), asks(call("look", call_id="a")), answer("seen", call_id="b")]
    log.take(json_file(tmp_path, call_log(asked, None)))
    found = [f for f in log.of(ActionFinished) if not f.recorded.event.orphaned]
    assert [f.envelope.cause for f in found] == [None]
