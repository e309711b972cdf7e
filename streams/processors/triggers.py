"""Which event saves a checkpoint, and why: pure, by the policy in force where the event stands."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Final

from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.policy import TRIGGERS, CheckpointPolicy, Trigger
from mnemolog.streams.processors.work_fold import DONE
from mnemolog.streams.processors.work_state import View

KEY_TAG: Final = "key"  # marks a decision as a key one
_DAY: Final = timedelta(days=1)
_BEGINNING: Final = datetime.fromisoformat("1899-12-30T00:00:00+00:00")


def triggered(
    before: View, after: View, recorded: RecordedEvent, policy: CheckpointPolicy
) -> Trigger | None:
    """Return why the event that led from *before* to *after* saves a checkpoint, if it does."""
    if not after.events:
        return None  # nothing was told since the last one
    found = {
        *_by_event(after, recorded, policy),
        *_by_measure(before, after, recorded, policy),
        *_by_time(before, after, recorded, policy),
    }
    return next((one for one in TRIGGERS if one in found and one in policy.triggers), None)


_OF_TYPE: Final[Mapping[type[Event], Trigger]] = MappingProxyType(
    {
        ex.CheckpointRequested: "requested",
        ex.TaskBlocked: "blocked",
        ex.TaskPaused: "paused",
        ex.SessionEnded: "paused",
        ex.TaskPhaseChanged: "phase-changed",
        ex.PlanChanged: "plan-changed",
        ex.TaskCompleted: "node-completed",
        ex.TaskAbandoned: "node-completed",
    }
)


def _by_event(after: View, recorded: RecordedEvent, policy: CheckpointPolicy) -> set[Trigger]:
    event = recorded.event
    always = _OF_TYPE.get(type(event))
    if always is not None:
        return {always}
    if isinstance(event, ex.TaskProgressed):
        return {"node-completed"} if event.done == DONE else set()
    if after.parent is not None and after.events < policy.quiet_events:
        return set()
    if is_failure(event):
        return {"error"}
    return {"decision"} if isinstance(event, ex.DecisionMade) and _is_key(event, policy) else set()


def is_failure(event: Event) -> bool:
    """Say whether *event* tells that something went wrong; an orphaned action tells nothing."""
    if isinstance(event, ex.ActionFinished):
        return not (event.success or event.orphaned)
    return isinstance(event, ex.ObservationRecorded) and event.success is False


def _is_key(event: ex.DecisionMade, policy: CheckpointPolicy) -> bool:
    return KEY_TAG in event.tags or len(event.alternatives) >= policy.decision_alternatives_min


def _by_measure(
    before: View, after: View, recorded: RecordedEvent, policy: CheckpointPolicy
) -> set[Trigger]:
    event = recorded.event
    found: set[Trigger] = set()
    if isinstance(event, ex.ActionStarted) and after.repeats == policy.loop_actions:
        found.add("loop")
    if is_full(after, policy) and not before.is_full:
        found.add("context")
    if after.events >= policy.events_max:
        found.add("events")
    return found


def is_full(view: View, policy: CheckpointPolicy) -> bool:
    """Say whether the context window is nearly full, as it was measured last."""
    return bool(view.limit_tokens) and view.used_tokens >= policy.context_share * (
        view.limit_tokens or 0
    )


def _by_time(
    before: View, after: View, recorded: RecordedEvent, policy: CheckpointPolicy
) -> set[Trigger]:
    found: set[Trigger] = set()
    at = recorded.occurred_at
    if after.since is not None and at - after.since >= timedelta(minutes=policy.minutes_max):
        found.add("minutes")
    if before.latest is not None and _day(at, policy) > _day(before.latest, policy):
        found.add("day-ended")
    return found


def _day(at: datetime, policy: CheckpointPolicy) -> int:
    """Return the number of the working day that *at* is in, from one end of a day to the next."""
    passed = at - _BEGINNING + timedelta(minutes=policy.day_offset_minutes)
    return (passed - timedelta(minutes=policy.day_ends_at_minute)) // _DAY
