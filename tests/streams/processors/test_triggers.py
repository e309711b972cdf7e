"""Each trigger by hand: what saves a checkpoint, once, and what does not."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.policy import TRIGGERS, CheckpointPolicy
from mnemolog.streams.processors.checkpoints import folded
from support.histories import START, happened, opened
from support.triggering import checkpoints, in_task, reasons

STARTED = ex.TaskStarted(goal="sign the tokens")
SEEN = ex.ObservationRecorded(text="the pool is full")
FAILED = ex.ActionFinished(action="a1", tool="bash", success=False, error="exit 1")


def acted(number=1, *, tool="bash", **arguments):
    return ex.ActionStarted(action=f"a{number}", tool=tool, arguments=arguments)


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (ex.CheckpointRequested(reason="lunch"), "requested"),
        (ex.TaskBlocked(reason="no keys"), "blocked"),
        (ex.TaskPaused(), "paused"),
        (ex.SessionEnded(), "paused"),
        (ex.TaskPhaseChanged(to_phase="test"), "phase-changed"),
        (ex.PlanChanged(plan="keys first"), "plan-changed"),
        (ex.TaskProgressed(note="keys are made", node="keys", done=1.0), "node-completed"),
        (ex.TaskCompleted(outcome="live"), "node-completed"),
        (ex.TaskAbandoned(outcome="no budget"), "node-completed"),
        (FAILED, "error"),
        (ex.ObservationRecorded(text="the build broke", success=False), "error"),
        (ex.DecisionMade(what="RS256", alternatives=("HS256",)), "decision"),
        (ex.DecisionMade(what="RS256", tags=("key",)), "decision"),
        (ex.ContextMeasured(used_tokens=85, limit_tokens=100), "context"),
    ],
)
def test_an_event_that_matters_saves_the_state(event, why):
    assert reasons(STARTED, event) == {"e1": why}


@pytest.mark.parametrize(
    "event",
    [
        SEEN,
        ex.MessageExchanged(role="user", text="go on"),
        ex.TaskProgressed(note="half", node="keys", done=0.5),
        ex.DecisionMade(what="RS256"),
        ex.ActionFinished(action="a1", success=True, result="ok"),
        ex.ActionFinished(action="a1", success=False, orphaned=True),
        ex.ContextMeasured(used_tokens=84, limit_tokens=100),
        ex.ContextMeasured(used_tokens=5, limit_tokens=0),
    ],
)
def test_any_other_event_does_not(event):
    assert reasons(STARTED, event) == {}


def test_every_trigger_can_be_left_out():
    told = (STARTED, ex.TaskBlocked(reason="no keys"), ex.TaskPaused())
    others = tuple(one for one in TRIGGERS if one != "blocked")
    assert reasons(*told) == {"e1": "blocked", "e2": "paused"}
    assert reasons(*told, policy=CheckpointPolicy(triggers=others)) == {"e2": "paused"}
    assert reasons(*told, policy=CheckpointPolicy(enabled=False)) == {}


def test_an_event_of_several_triggers_saves_one_checkpoint_for_the_first():
    policy = CheckpointPolicy(events_max=1, minutes_max=0.0)
    assert reasons(STARTED, ex.TaskPaused(), policy=policy) == {"e0": "minutes", "e1": "paused"}


def test_what_was_asked_for_with_nothing_new_to_tell_is_not_saved_again():
    asked = ex.CheckpointRequested()
    assert reasons(asked) == {}
    assert reasons(STARTED, asked, asked, SEEN, asked) == {"e1": "requested", "e4": "requested"}


def test_errors_and_decisions_that_follow_a_checkpoint_are_quiet_for_a_while():
    policy = CheckpointPolicy(quiet_events=4)
    assert reasons(*[FAILED] * 9, policy=policy) == {"e0": "error", "e4": "error", "e8": "error"}


def test_so_many_events_save_the_state():
    policy = CheckpointPolicy(events_max=3)
    assert reasons(*[SEEN] * 7, policy=policy) == {"e2": "events", "e5": "events"}


def test_so_many_minutes_since_the_first_new_event_save_the_state():
    policy = CheckpointPolicy(minutes_max=3.0)
    assert reasons(*[SEEN] * 8, policy=policy) == {"e3": "minutes", "e7": "minutes"}


def test_a_time_that_goes_back_is_no_time_that_passed():
    policy = CheckpointPolicy(minutes_max=3.0)
    back = in_task(SEEN, at=START - timedelta(days=9))
    assert reasons(SEEN, back, SEEN, policy=policy) == {}


def test_the_context_saves_once_each_time_that_it_fills():
    def used(tokens):
        return ex.ContextMeasured(used_tokens=tokens, limit_tokens=100)

    told = [STARTED, used(90), SEEN, used(95), used(20), used(99)]
    assert reasons(*told) == {"e1": "context", "e5": "context"}


# The dead loop


def test_the_same_action_again_and_again_is_a_dead_loop_told_once():
    policy = CheckpointPolicy(loop_actions=3)
    told = [acted(n, cmd="pytest") for n in range(7)]
    assert reasons(*told, policy=policy) == {"e2": "loop"}
    (saved,) = checkpoints(*told, policy=policy).values()
    assert saved.self_reflection == "The same action was started 3 times in a row: bash"


@pytest.mark.parametrize("other", [acted(9, cmd="ls"), acted(9, tool="sh", cmd="pytest"), acted(9)])
def test_another_action_in_between_breaks_the_loop(other):
    policy = CheckpointPolicy(loop_actions=3)
    told = [acted(1, cmd="pytest"), acted(2, cmd="pytest"), other, acted(3, cmd="pytest")]
    assert reasons(*told, policy=policy) == {}


def test_what_comes_between_two_actions_breaks_no_loop():
    policy = CheckpointPolicy(loop_actions=2, triggers=("loop",))
    assert reasons(acted(1, cmd="x"), FAILED, SEEN, acted(2, cmd="x"), policy=policy) == {
        "e3": "loop"
    }


def test_the_order_of_arguments_makes_no_other_action():
    policy = CheckpointPolicy(loop_actions=2)
    told = [acted(1, a=1, b=2), acted(2, b=2, a=1)]
    assert reasons(*told, policy=policy) == {"e1": "loop"}


# The end of the working day


def seen_at(day, hour, minute=0):
    return in_task(SEEN, at=datetime(2030, 1, day, hour, minute, tzinfo=UTC))


@pytest.mark.parametrize(
    ("offset", "hours", "ends"),
    [
        (0, [(1, 17, 59), (1, 18, 0)], True),
        (0, [(1, 17, 0), (1, 17, 59)], False),
        (0, [(1, 18, 0), (2, 17, 59)], False),
        (480, [(1, 9, 59), (1, 10, 0)], True),  # 18:00 in Shanghai
        (480, [(1, 17, 59), (1, 18, 0)], False),
        (-300, [(1, 22, 59), (1, 23, 0)], True),
    ],
)
def test_the_working_day_ends_where_the_policys_zone_says(offset, hours, ends):
    policy = CheckpointPolicy(day_offset_minutes=offset, triggers=("day-ended",))
    found = reasons(*(seen_at(*hour) for hour in hours), policy=policy)
    assert found == ({"e1": "day-ended"} if ends else {})


# Whose it is


def test_each_task_is_judged_by_itself():
    policy = CheckpointPolicy(events_max=2)
    told = [happened(SEEN, task=task) for task in ("a", "b", "a", None, "b", None)]
    assert reasons(*told, policy=policy) == {"e2": "events", "e4": "events", "e5": "events"}


def test_events_of_no_agent_save_nothing():
    assert reasons(in_task(STARTED, agent=None), in_task(ex.TaskPaused(), agent=None)) == {}


def test_what_an_importer_brought_in_saves_nothing_unless_the_policy_says_so():
    for imported, saves in ((False, False), (True, True)):
        policy, state, found = CheckpointPolicy(imported=imported), None, []
        for recorded in opened(in_task(STARTED), in_task(ex.TaskPaused())):
            source = replace(recorded.envelope, source="/mnemolog/import/codex")
            step = folded(state, replace(recorded, envelope=source), policy)
            state = step.state
            found.append(step.found)
        assert any(found) is saves
