"""From an event to its memories: the drafts of the rules, completed by what the envelope says."""

from collections.abc import Sequence
from typing import Final

from mnemolog.projections.batch import Batch
from mnemolog.projections.choosing import Step
from mnemolog.projections.formed_memory import Formed, FormedMemory
from mnemolog.projections.memories.entities import entities
from mnemolog.projections.write_rule.drafts import (
    CONFIDENCE,
    MEMORY_CHARACTERS_MAX,
    Draft,
    Nothing,
)
from mnemolog.projections.write_rule.events import RULES, drafts
from mnemolog.schemas.decoded import Guest
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.ids import memory_id
from mnemolog.schemas.policy import Policy
from mnemolog.schemas.text import cut

FORMING: Final = frozenset(event.event_type for event in RULES)
_GUEST: Final = Formed((), "an event of others: it forms no memory")


def form(recorded: RecordedEvent, policy: Policy) -> Formed:
    """Return the memories of *recorded* under *policy*, the one in force where it stands.

    Pure: the same event and policy give the same memories, whose ids follow from the event's
    identity and their order. Never raises for an event that the codec let in.
    """
    made = drafts(recorded.event, policy.write)
    if isinstance(made, Nothing):
        return Formed((), made.reason)
    memories = tuple(_formed(recorded, ordinal, draft) for ordinal, draft in enumerate(made))
    return Formed(memories, memories[0].reason)


def formed_in(batch: Batch, step: Step) -> Formed:
    """Return what `form` makes of *step*'s event, made once for all projections of *batch*."""
    item = step.item
    if isinstance(item, Guest):
        return _GUEST
    name = ("formed", item.record.position, step.in_force.revision)
    return batch.shared(name, lambda: form(item.recorded, step.in_force.policy))


def _formed(recorded: RecordedEvent, ordinal: int, draft: Draft) -> FormedMemory:
    envelope = recorded.envelope
    words = draft.text if draft.names_in is None else draft.names_in
    confidence = CONFIDENCE[draft.stated_by] if draft.confidence is None else draft.confidence
    return FormedMemory(
        id=memory_id(recorded.identity, ordinal),
        ordinal=ordinal,
        kind=draft.kind,
        text=cut(draft.text, characters_max=MEMORY_CHARACTERS_MAX),
        importance=draft.importance,
        confidence=confidence,
        stated_by=draft.stated_by,
        tags=_each_once(recorded.event.tags, draft.tags),
        entities=_each_once(draft.entities, entities(words)),
        reason=draft.reason,
        occurred_at=recorded.occurred_at,
        valid_from=draft.valid_from,
        valid_until=draft.valid_until,
        key=recorded.key,
        agent=envelope.agent,
        user=envelope.user,
        project=envelope.project,
        session=envelope.session,
        task=envelope.task,
        event_id=recorded.id,
        event_type=recorded.event.event_type,
        identity=recorded.identity,
        position=recorded.position,
        recorded_at=recorded.recorded_at,
        from_events=draft.from_events,
        from_memories=draft.from_memories,
    )


def _each_once(*lists: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item for items in lists for item in items))
