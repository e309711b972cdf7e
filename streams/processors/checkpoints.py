"""The processor of checkpoints: an agent's state is saved when the policy says so, by rules.

Its fold keeps a view of each task of a key, and fills the checkpoint of an event that triggers one
from the events since the last. Nothing is asked but the key's events and the policy in force.
"""

from collections.abc import Sequence
from typing import Final

from pydantic import TypeAdapter

from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.policy import CheckpointPolicy, Policy
from mnemolog.streams.processing import Cause, Context, Folded, Output, output_id
from mnemolog.streams.processors.filling import checkpoint_of
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
        """Return each cause's checkpoint, which the fold has filled."""
        del context
        return [
            Output(cause, CheckpointSaved, {"checkpoint": cause.found}, MAKER) for cause in causes
        ]


def folded(state: AgentState | None, recorded: RecordedEvent, policy: CheckpointPolicy) -> Folded:
    """Return the state after *recorded*, and the fields of a checkpoint where one is to be saved.

    Events of no agent change nothing: a checkpoint is somebody's.
    """
    known = state or AgentState()
    agent = recorded.envelope.agent
    if agent is None:
        return Folded(known)
    before = known.view(task_of(recorded))
    after = evolved(before, recorded)
    trigger = triggered(before, after, recorded, policy) if _may(recorded, policy) else None
    after = after.model_copy(update={"is_full": is_full(after, policy)})
    if trigger is None:
        return Folded(known.with_view(after))
    checkpoint_id = output_id(CHECKPOINTS, recorded.identity)
    found = checkpoint_of(
        after, trigger, checkpoint_id=checkpoint_id, agent=agent, at=recorded.occurred_at
    )
    return Folded(known.with_view(saved(after, checkpoint_id)), found)


def _may(recorded: RecordedEvent, policy: CheckpointPolicy) -> bool:
    """Say whether the event may trigger anything at all."""
    is_imported = recorded.envelope.source.startswith(IMPORT_PREFIX)
    return policy.enabled and (policy.imported or not is_imported)
