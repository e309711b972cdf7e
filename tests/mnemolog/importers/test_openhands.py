"""OpenHands: what becomes of a run, of its actions and observations, and of its end."""

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    CheckpointRequested,
    CheckpointSaved,
    DecisionMade,
    FeedbackGiven,
    MessageExchanged,
    ObservationRecorded,
    SessionEnded,
    SessionStarted,
    TaskAbandoned,
    TaskCompleted,
    TaskStarted,
)
from support.import_log import ImportLog, json_file, lines_file
from support.openhands import EVENTS, SYSTEM, acts, event, run, says, shows


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def told(log: ImportLog, model) -> list:
    return [found.recorded.event for found in log.of(model)]


# A run


def test_a_run_is_told_from_its_start_to_what_came_of_it(log, tmp_path):
    assert log.take(lines_file(tmp_path, run())).problems == []
    assert log.types() == [
        "session.started",
        "task.started",
        "message.exchanged",
        "decision.made",
        "action.started",
        "action.finished",
        "action.started",
        "action.finished",
        "decision.made",
        "decision.made",
        "task.completed",
        "observation.recorded",
        "session.ended",
    ]


def test_everything_is_said_once_and_whole(log, tmp_path):
    log.take(lines_file(tmp_path, run()))
    (started,), (task,), (said,) = (
        told(log, model) for model in (SessionStarted, TaskStarted, MessageExchanged)
    )
    assert (started.instructions, task.goal) == ("You mend lifts.", "Lift B hangs")
    assert (said.role, said.text) == ("user", "The lift in hall B hangs.")
    assert [(made.what, made.why) for made in told(log, DecisionMade)] == [
        ("Let me look.", "It may be a door."),
        ("The path is wrong.", None),
        ("All is done.", None),
    ]
    looked, edited = told(log, ActionStarted)
    assert (looked.tool, looked.arguments) == ("run", {"command": "look B"})
    assert (edited.tool, edited.arguments) == ("edit", {"path": "/doors", "new_str": "shut"})
    (completed,), (patch,) = told(log, TaskCompleted), told(log, ObservationRecorded)
    assert (completed.outcome, completed.success) == ("It runs.", True)
    assert (patch.text, patch.stated_by) == ("diff --git a/doors b/doors\n+shut", "tool")


def test_an_answer_is_a_result_or_an_error_with_all_that_came_with_it(log, tmp_path):
    log.take(lines_file(tmp_path, run()))
    seen, failed = told(log, ActionFinished)
    assert (seen.success, seen.result, seen.data) == (True, "door 3 is ajar", {"command": "look B"})
    assert (failed.success, failed.result, failed.error) == (False, None, "ERROR:\nNo such file")


def test_each_event_is_caused_by_the_one_that_it_answers(log, tmp_path):
    log.take(lines_file(tmp_path, run()))
    places = {found.envelope.id: number for number, found in enumerate(log.events())}
    causes = [places.get(found.envelope.cause) for found in log.events()]
    assert causes == [None, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]


def test_answers_are_linked_by_the_id_of_their_action_in_whatever_order_they_come(log, tmp_path):
    history = [
        SYSTEM,
        acts(1, "delegate", agent="other"),
        acts(2, "run", command="a"),
        shows(3, "run", "of 2", cause=2),
        shows(4, "delegate", "of 1", cause=1),
    ]
    log.take(lines_file(tmp_path, run(history)))
    started = {made.envelope.id: made.recorded.event.tool for made in log.of(ActionStarted)}
    finished = [
        (started[f.envelope.cause], f.recorded.event.result) for f in log.of(ActionFinished)
    ]
    assert finished == [("run", "of 2"), ("delegate", "of 1")]


def test_the_names_are_those_of_the_run(log, tmp_path):
    log.take(lines_file(tmp_path, run()), user="kari")
    for found in log.events():
        names = found.envelope
        assert (names.agent, names.user, names.project) == ("LiftAgent", "kari", "house/lifts")
        assert names.task == "lift-7"
        assert names.session.startswith("lift-7-")
    log.take(lines_file(tmp_path, run()), agent="mender", project="p")
    assert {f.envelope.project for f in log.events() if f.key == "mender"} == {"p"}


# Actions and observations


def test_a_message_is_its_speakers(log, tmp_path):
    history = [
        says(0, "hi"),
        says(1, "hello", source="agent"),
        says(2, "9:00", source="environment"),
    ]
    history[0]["args"]["image_urls"] = ["https://example.invalid/a.png", 7]
    log.take(json_file(tmp_path, history))
    said = told(log, MessageExchanged)
    assert [(s.role, s.text) for s in said] == [
        ("user", "hi"),
        ("assistant", "hello"),
        ("system", "9:00"),
    ]
    assert [(p.kind, p.reference) for p in said[0].parts] == [
        ("image", "https://example.invalid/a.png")
    ]


@pytest.mark.parametrize(
    "silent",
    [
        event(5, "environment", action="change_agent_state", args={"agent_state": "init"}),
        shows(5, "agent_state_changed", "", cause=None),
        shows(5, "null", "", cause=1),
        event(5, action="null", args={}),
    ],
)
def test_what_only_says_how_the_program_stands_is_not_told(log, tmp_path, silent):
    report = log.take(json_file(tmp_path, [says(1, "hi"), silent]))
    assert (report.added, report.problems) == (3, [])


def test_what_is_shown_without_an_action_is_an_observation(log, tmp_path):
    shown = shows(2, "error", "No such tool.", cause=None)
    of_unknown = shows(3, "run", "late", cause=99, extras={"exit_code": 0})
    log.take(json_file(tmp_path, [says(1, "hi"), shown, of_unknown]))
    first, second = told(log, ObservationRecorded)
    assert (first.text, first.success, first.stated_by) == ("No such tool.", False, "tool")
    assert (second.text, second.success, second.data) == ("late", True, {"exit_code": 0})
    assert log.of(ActionFinished) == []


def test_a_call_that_the_agent_passed_is_orphaned_and_one_at_the_end_stays_open(log, tmp_path):
    history = [says(0, "hi"), acts(1, "run", command="a"), acts(2, "run", command="b")]
    log.take(json_file(tmp_path, history))
    passed, _ = log.of(ActionStarted)
    assert [(f.action, f.orphaned) for f in told(log, ActionFinished)] == [
        (passed.envelope.id, True)
    ]
    log.take(json_file(tmp_path, [*history, shows(3, "run", "late", cause=1)]))
    assert [(f.action, f.result) for f in told(log, ActionFinished) if not f.orphaned] == [
        (passed.envelope.id, "late")
    ]


def test_what_the_user_says_meanwhile_orphans_nothing(log, tmp_path):
    history = [acts(1, "run", command="a"), says(2, "Well?"), shows(3, "run", "b", cause=1)]
    log.take(json_file(tmp_path, history))
    assert [(f.result, f.orphaned) for f in told(log, ActionFinished)] == [("b", False)]


def test_a_summary_in_the_place_of_events_is_a_checkpoint_with_the_one_before_it(log, tmp_path):
    def condenses(number: int, summary: str | None) -> dict:
        args = {"forgotten_event_ids": [3, 4], "summary": summary, "summary_offset": 1}
        return event(number, action="condensation", args=args)

    request = event(2, action="condensation_request", args={})
    history = [says(1, "Mend B."), request, condenses(5, "Half done."), condenses(6, None)]
    log.take(json_file(tmp_path, [*history, condenses(7, "Nearly done.")]))
    first, second = (saved.checkpoint for saved in told(log, CheckpointSaved))
    assert (first.current_goal, first.plan_summary) == ("Mend B.", "Half done.")
    assert first.intermediate_results == {"forgotten_event_ids": [3, 4]}
    assert (first.parent, second.parent) == (None, first.id)
    assert len(log.of(CheckpointRequested)) == 1


# The end


@pytest.mark.parametrize(
    ("completed", "success"), [("true", True), ("partial", False), ("false", False)]
)
def test_the_agent_says_itself_whether_it_succeeded(log, tmp_path, completed, success):
    log.take(json_file(tmp_path, [says(0, "hi"), acts(1, "finish", task_completed=completed)]))
    (event_,) = told(log, TaskCompleted)
    assert (event_.outcome, event_.success) == ("Finished: hi", success)


def test_a_thought_that_is_the_last_word_is_the_outcome_and_no_decision(log, tmp_path):
    log.take(json_file(tmp_path, [says(0, "hi"), acts(1, "finish", thought="Done.")]))
    assert [e.outcome for e in told(log, TaskCompleted)] == ["Done."]
    assert log.of(DecisionMade) == []


def test_a_run_that_broke_off_is_abandoned_with_its_error_once(log, tmp_path):
    log.take(lines_file(tmp_path, run(EVENTS[:4], error="RuntimeError: too many steps")))
    ((given_up,), (ended,)) = (told(log, TaskAbandoned), told(log, SessionEnded))
    assert given_up.outcome == "RuntimeError: too many steps"
    assert (ended.outcome, ended.success) == (None, False)


def test_an_error_after_the_end_of_the_task_is_the_sessions(log, tmp_path):
    log.take(lines_file(tmp_path, run(error="OSError: no space")))
    assert [e.outcome for e in told(log, SessionEnded)] == ["OSError: no space"]
    assert log.of(TaskAbandoned) == []


def test_an_action_of_rejection_gives_the_task_up(log, tmp_path):
    refuses = acts(1, "reject", outputs={"reason": "No such lift."})
    log.take(json_file(tmp_path, [says(0, "hi"), refuses]))
    assert [e.outcome for e in told(log, TaskAbandoned)] == ["No such lift."]


@pytest.mark.parametrize("resolved", [True, False])
def test_what_the_tests_said_of_a_run_is_feedback_on_its_tasks_end(log, tmp_path, resolved):
    result = {"git_patch": "", "report": {"resolved": resolved}}
    log.take(lines_file(tmp_path, run(test_result=result)))
    ((feedback,), (completed,)) = (log.of(FeedbackGiven), log.of(TaskCompleted))
    given = feedback.recorded.event
    assert given.target == feedback.envelope.cause == completed.envelope.id
    assert (given.score, given.given_by) == (1.0 if resolved else -1.0, "evaluation")
    assert [e.success for e in told(log, SessionEnded)] == [resolved]
    assert log.of(ObservationRecorded) == []  # an empty patch


def test_a_judged_run_that_did_not_say_that_it_ended_ends_with_the_judgement(log, tmp_path):
    result = {"report": {"resolved": False}}
    log.take(lines_file(tmp_path, run(EVENTS[:4], test_result=result)))
    (completed,) = told(log, TaskCompleted)
    assert (completed.outcome, completed.success) == ("Not resolved: Lift B hangs", False)


def test_a_run_without_events_is_told_by_its_start_and_its_error(log, tmp_path):
    log.take(lines_file(tmp_path, run([], error="The container died.", test_result={})))
    assert log.types() == ["session.started", "task.started", "task.abandoned", "session.ended"]
    assert {str(f.envelope.occurred_at) for f in log.events()} == {"2025-04-30 16:31:22+00:00"}


def test_a_stream_of_events_has_no_end_of_its_own(log, tmp_path):
    log.take(json_file(tmp_path, EVENTS))
    assert log.types()[-1] == "task.completed"
    assert log.of(SessionEnded) == []
