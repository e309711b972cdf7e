"""Histories of one agent folded by hand into the checkpoints that the rule saves."""

from typing import Any

from mnemolog.schemas.checkpoint import Checkpoint
from mnemolog.schemas.events import Event
from mnemolog.schemas.policy import CheckpointPolicy
from mnemolog.streams.processors.checkpoints import folded
from support.histories import Happened, happened, opened

TASK = "t1"
DEFAULT = CheckpointPolicy()


def in_task(event: Event, **more: Any) -> Happened:
    """Return *event* as it happened in the task of these tests."""
    return happened(event, **{"task": TASK, **more})


def checkpoints(
    *events: Event | Happened, policy: CheckpointPolicy = DEFAULT
) -> dict[str, Checkpoint]:
    """Return what is saved, by the id of the event that triggers it; bare events are in the task.

    The n-th event is "e<n>" and occurs n minutes after the start.
    """
    told = [one if isinstance(one, Happened) else in_task(one) for one in events]
    states: dict[str, Any] = {}
    found = {}
    for recorded in opened(*told):
        step = folded(states.get(recorded.key), recorded, policy)
        states[recorded.key] = step.state
        if step.found is not None:
            found[recorded.id] = Checkpoint(**step.found["checkpoint"])
    return found


def reasons(*events: Event | Happened, policy: CheckpointPolicy = DEFAULT) -> dict[str, str]:
    """Return why each event that triggers does."""
    saved = checkpoints(*events, policy=policy)
    return {event: one.intermediate_results["trigger"] for event, one in saved.items()}
