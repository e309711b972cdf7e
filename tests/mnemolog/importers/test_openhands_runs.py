"""OpenHands: names and times of runs, the old format, growth, and what is wrong in a file."""

import json

import pytest

from mnemolog.importers.openhands import OpenHands
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    DecisionMade,
    FeedbackGiven,
    MessageExchanged,
    SessionEnded,
    SessionStarted,
    TaskStarted,
)
from support.import_log import ImportLog, json_file, lines_file
from support.openhands import (
    EVENTS,
    OLD_EVENTS,
    SYSTEM,
    acts,
    old_run,
    run,
    says,
    shows,
)


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def told(log: ImportLog, model) -> list:
    return [found.recorded.event for found in log.of(model)]


# The old format


def test_in_the_old_format_an_observation_answers_the_action_before_it(log, tmp_path):
    assert log.take(lines_file(tmp_path, old_run())).problems == []
    started = {made.envelope.id: made.recorded.event for made in log.of(ActionStarted)}
    finished = [
        (started[f.envelope.cause].arguments, f.recorded.event.success, f.recorded.event.data)
        for f in log.of(ActionFinished)
    ]
    assert finished == [
        ({"command": "touch LICENSE"}, True, {"command": "touch LICENSE", "exit_code": 0}),
        ({"code": "write()"}, True, {"code": "write()"}),
        ({"command": "cat NOTICE"}, False, {"command": "cat NOTICE", "exit_code": 1}),
    ]
    assert [made.what for made in told(log, DecisionMade)] == ["First the file.", "And the notice?"]


def test_in_the_old_format_the_first_message_is_the_users(log, tmp_path):
    history = [*OLD_EVENTS[:1], {"action": "message", "content": "Which one?"}]
    log.take(lines_file(tmp_path, old_run(history)))
    assert [said.role for said in told(log, MessageExchanged)] == ["user", "assistant"]


def test_the_resolvers_verdict_is_feedback_with_its_reason(log, tmp_path):
    log.take(lines_file(tmp_path, old_run(success=False)))
    (given,) = told(log, FeedbackGiven)
    assert (given.score, given.given_by, given.comment) == (
        -1.0,
        "resolver",
        "The licence was added.",
    )
    (ended,) = told(log, SessionEnded)
    assert (ended.success, ended.model_use.cost_usd, ended.model_use.model) == (
        False,
        0.75,
        "unknown",
    )


def test_an_old_run_is_named_after_its_issue_and_counts_seconds(log, tmp_path):
    log.take(lines_file(tmp_path, old_run()))
    names = log.events()[0].envelope
    assert (names.task, names.project, names.agent) == (
        "house/lifts#5",
        "house/lifts",
        "openhands",
    )
    assert [e.goal for e in told(log, TaskStarted)] == ["Add a licence"]
    seconds = [f.envelope.occurred_at.second for f in log.events()]
    assert seconds == sorted(seconds)
    assert seconds[-1] == len(OLD_EVENTS) - 1
    assert all(found.envelope.assumed_utc for found in log.events())


def test_two_old_runs_of_one_issue_share_their_start_and_lose_nothing(log, tmp_path):
    other = [*OLD_EVENTS[:3], {"action": "finish", "outputs": {}, "thought": "Enough."}]
    log.take(lines_file(tmp_path, old_run(), old_run(other, success=False)))
    assert len(log.of(SessionStarted)) == len(log.of(MessageExchanged)) == 1
    assert [given.score for given in told(log, FeedbackGiven)] == [1.0, -1.0]
    assert len(log.of(SessionEnded)) == 2


def test_pairs_of_action_and_observation_are_read_in_order(log, tmp_path):
    log.take(lines_file(tmp_path, old_run()))
    pairs = [OLD_EVENTS[:1], OLD_EVENTS[1:3], OLD_EVENTS[3:5], OLD_EVENTS[5:7], OLD_EVENTS[7:]]
    assert log.take(lines_file(tmp_path, old_run(pairs))).added == 0


# Order and identity


def test_ids_that_restart_in_every_run_make_no_two_events_one(log, tmp_path):
    later = [{**e, "timestamp": e["timestamp"].replace("2025", "2026")} for e in EVENTS]
    first = log.take(lines_file(tmp_path, run()))
    second = log.take(lines_file(tmp_path, run(later)))
    assert (second.added, second.already_there) == (first.added, 0)
    assert len({found.envelope.session for found in log.events()}) == 2


def test_a_stream_whose_ids_begin_again_is_another_run(log, tmp_path):
    first = [says(0, "one"), says(3, "two", source="agent")]
    second = [says(0, "three"), says(3, "four", source="agent")]
    log.take(json_file(tmp_path, [*first, *second]))
    assert [said.text for said in told(log, MessageExchanged)] == ["one", "two", "three", "four"]
    assert len(log.of(SessionStarted)) == 2


def test_a_stream_gives_the_same_events_as_lines_and_as_an_array(log, tmp_path):
    first = log.take(json_file(tmp_path, EVENTS))
    again = log.take(lines_file(tmp_path, *EVENTS))
    assert (again.added, again.already_there) == (0, first.added)


def test_a_stream_that_has_grown_adds_its_tail(log, tmp_path):
    first = log.take(json_file(tmp_path, EVENTS[:4]))
    second = log.take(json_file(tmp_path, EVENTS, name="later.json"))
    assert second.already_there == first.added
    assert log.types()[first.added] == "action.started"


def test_the_agent_is_the_streams_own_or_openhands(log, tmp_path):
    log.take(json_file(tmp_path, EVENTS))
    log.take(json_file(tmp_path, [says(0, "hi")]))
    assert [f.envelope.agent for f in log.of(SessionStarted)] == ["LiftAgent", "openhands"]


# Time


def test_the_times_are_the_events_own_and_flagged_as_assumed(log, tmp_path):
    log.take(json_file(tmp_path, EVENTS))
    said = log.of(MessageExchanged)[0].envelope
    assert (said.occurred_at.isoformat(), said.assumed_utc) == (
        "2025-04-30T16:32:51.500000+00:00",
        True,
    )


def test_a_time_with_a_zone_is_taken_at_its_word(log, tmp_path):
    log.take(json_file(tmp_path, [{**says(0, "hi"), "timestamp": "2025-05-12T20:27:38-04:00"}]))
    envelope = log.events()[0].envelope
    assert (envelope.occurred_at.isoformat(), envelope.assumed_utc) == (
        "2025-05-13T00:27:38+00:00",
        False,
    )


@pytest.mark.parametrize("written", ["soon", 1_757_015_076_651, 1.5, [], "9999-01-01T00:00:00"])
def test_a_time_that_can_not_be_read_is_named_and_the_one_before_it_holds(log, tmp_path, written):
    odd = {**says(1, "two"), "timestamp": written}
    report = log.take(json_file(tmp_path, [says(0, "one"), odd, says(2, "three")]))
    assert [problem.place for problem in report.problems] == ["item 2"]
    seconds = [f.envelope.occurred_at.second for f in log.of(MessageExchanged)]
    assert seconds == [50, 50, 52]


# What is wrong


@pytest.mark.parametrize("odd", [7, None, "x", {}, {"id": 1}, {"id": 1, "action": 3}])
def test_what_is_no_event_is_named_and_its_neighbours_come(log, tmp_path, odd):
    report = log.take(lines_file(tmp_path, run([SYSTEM, says(1, "one"), odd, says(2, "two")])))
    assert [problem.place for problem in report.problems] == ["line 1, event 3"]
    assert [said.text for said in told(log, MessageExchanged)] == ["one", "two"]


@pytest.mark.parametrize(
    "odd", [{"history": "none"}, {"history": 3}, {"instance_id": "../x"}, {"instance_id": "\x01"}]
)
def test_a_run_that_can_not_be_told_is_named_and_its_neighbours_come(log, tmp_path, odd):
    report = log.take(lines_file(tmp_path, old_run(), {**run(), **odd}, run()))
    assert [problem.place for problem in report.problems] == ["line 2"]
    assert len(log.of(SessionStarted)) == 2


@pytest.mark.parametrize("junk", [None, 3, "x", [], [{}], {"a": []}])
def test_odd_fields_cost_nothing_beside_them(log, tmp_path, junk):
    names = ("args", "extras", "tool_call_metadata", "llm_metrics", "cause", "source", "content")
    odd = [{**e, **dict.fromkeys(names, junk)} for e in EVENTS]
    about = dict.fromkeys(("metadata", "instance", "metrics", "test_result", "issue"), junk)
    report = log.take(lines_file(tmp_path, run([says(0, "kept"), *odd], **about)))
    assert report.problems == []
    assert "kept" in [said.text for said in told(log, MessageExchanged)]


def test_arguments_that_are_no_object_are_kept_raw(log, tmp_path):
    log.take(json_file(tmp_path, [{**acts(1, "run"), "args": ["ls"]}]))
    assert [(e.arguments, e.raw) for e in told(log, ActionStarted)] == [({}, '["ls"]')]


# Recognition


@pytest.mark.parametrize("written", [EVENTS, run(), [run()], old_run(), [says(0, "hi")]])
def test_runs_and_streams_are_recognised(written):
    assert OpenHands().recognises("x", json.dumps(written).encode())


def test_a_run_is_recognised_though_its_history_is_far_behind():
    patched = {"git_patch": "+" * 100_000}
    head = json.dumps({"instance_id": "a", "test_result": patched, "history": []}).encode()
    assert OpenHands().recognises("x", head[:65_536])


def test_an_event_is_recognised_though_its_action_is_far_behind():
    head = json.dumps([says(0, "long " * 20_000)]).encode()[:65_536]
    assert OpenHands().recognises("x", head)


@pytest.mark.parametrize(
    "other",
    [
        [{"role": "user", "content": "hi"}],
        {"id": 1, "timestamp": "t", "source": "app", "message": "started"},
        {"history": [], "trajectory": [], "info": {}},
        {"id": "a", "timestamp": "b", "source": "user", "kind": "MessageEvent", "action": {}},
        {"type": "user", "timestamp": "t", "message": {}, "uuid": "u"},
        {"instance_id": "a", "model_patch": "+"},
    ],
)
def test_other_files_are_not_taken_for_runs(other):
    assert not OpenHands().recognises("x", json.dumps(other).encode())


def test_control_characters_and_line_ends_are_kept(log, tmp_path):
    text = "\x1b[31mred\x1b[0m\r\n\ufffd"
    log.take(json_file(tmp_path, [acts(1, "run"), shows(2, "run", text, cause=1)]))
    assert [e.result for e in told(log, ActionFinished)] == [text]
