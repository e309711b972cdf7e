"""The processor of checkpoints: an agent's state is saved when the policy says so, by rules.

Its fold keeps a view of each task of a key, and fills the checkpoint of an event that triggers one
from the events since the last. Nothing is asked but the key's events and the policy in force.
"""

from collections.abc import Sequence
from typing import Final

from pydantic import TypeAdapter

from mnemolog.schemas.checkpoint import is_automatic
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.events.memory import MemoryForgotten
from mnemolog.schemas.ids import identity_of
from mnemolog.schemas.policy import CheckpointPolicy, Policy
from mnemolog.streams.processing import Cause, Context, Folded, Output, output_id, source_of
from mnemolog.streams.processors.filling import checkpoint_of
from mnemolog.streams.processors.forgetting import with_recent, without
from mnemolog.streams.processors.triggers import is_full, triggered
from mnemolog.streams.processors.work_fold import INPUTS, evolved, saved, task_of
from mnemolog.streams.processors.work_state import STATES, AgentState

CHECKPOINTS: Final = "checkpoints"
MAKER: Final = "rules checkpoints/1"
IMPORT_PREFIX: Final = "/mnemolog/import/"  # of the sources of importers


class CheckpointProcessor:
    """Saves checkpoints by policy. It holds nothing."""

    name: Final = CHECKPOINTS
    version: Final = 1
    inputs: Final = INPUTS
    states: Final[TypeAdapter[AgentState]] = STATES
    rules: Final = None

    def fold(self, state: AgentState | None, recorded: RecordedEvent, policy: Policy) -> Folded:
        """Return the agent's state after *recorded*, and the checkpoint that it saves, if any."""
        return folded(state, recorded, policy.checkpoints)

    async def process(self, causes: Sequence[Cause], context: Context) -> Sequence[Output]:
        """Return what the fold has filled: a checkpoint, or that some are forgotten."""
        del context
        return [_output(cause) for cause in causes]


def _output(cause: Cause) -> Output:
    if "forgotten" in cause.found:
        told = {
            "events": cause.found["forgotten"],
            "reason": "it was filled with what is forgotten",
        }
        return Output(cause, MemoryForgotten, told, MAKER)
    return Output(cause, CheckpointSaved, cause.found, MAKER)


def folded(state: AgentState | None, recorded: RecordedEvent, policy: CheckpointPolicy) -> Folded:
    """Return the state after *recorded*, and the fields of a checkpoint where one is to be saved.

    Events of no agent change nothing: a checkpoint is somebody's.
    """
    known = state or AgentState()
    agent = recorded.envelope.agent
    if agent is None:
        return Folded(known)
    if isinstance(recorded.event, MemoryForgotten):
        return _forgotten(known, recorded)
    before = known.view(task_of(recorded))
    after = evolved(before, recorded)
    if isinstance(recorded.event, CheckpointSaved) and is_automatic(recorded.event.checkpoint):
        after = with_recent(after, recorded.identity, before.sources)
    trigger = triggered(before, after, recorded, policy) if _may(recorded, policy) else None
    after = after.model_copy(update={"is_full": is_full(after, policy)})
    if trigger is None:
        return Folded(known.with_view(after))
    checkpoint_id = output_id(CHECKPOINTS, recorded.identity)
    found = checkpoint_of(
        after, trigger, checkpoint_id=checkpoint_id, agent=agent, at=recorded.occurred_at
    )
    identity = identity_of(key=agent, source=source_of(CHECKPOINTS), event_id=checkpoint_id)
    after = saved(with_recent(after, identity, after.sources), checkpoint_id)
    return Folded(known.with_view(after), {"checkpoint": found})


def _forgotten(known: AgentState, recorded: RecordedEvent) -> Folded:
    """Return the agent's state without what *recorded* forgets, in any of its tasks.

    Checkpoints that were filled with it before, and may be saved later, are to be forgotten, too.
    """
    views, events = [], list[str]()
    for view in known.views:
        kept, saved_with_it = without(view, recorded)
        views.append(kept)
        events += saved_with_it
    state = known.model_copy(update={"views": tuple(views)})
    return Folded(state, {"forgotten": events} if events else None)


def _may(recorded: RecordedEvent, policy: CheckpointPolicy) -> bool:
    """Say whether the event may trigger anything at all."""
    is_imported = recorded.envelope.source.startswith(IMPORT_PREFIX)
    return policy.enabled and (policy.imported or not is_imported)
