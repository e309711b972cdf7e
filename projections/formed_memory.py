"""A memory as the write rule forms it from one event: pure data, the same for every projection."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from mnemolog.schemas.positions import Position


@dataclass(frozen=True, slots=True, kw_only=True)
class FormedMemory:
    """One memory of an event; `id` is derived from the event's identity and `ordinal`.

    `importance` and `confidence` are whole thousandths, so that digests and sums stay exact.
    `reason` says by which rule it was formed. Validity is half-open, None is open.
    """

    id: str
    ordinal: int
    kind: str
    text: str
    importance: int
    confidence: int
    stated_by: str  # user, tool, agent or inferred
    tags: Sequence[str]
    entities: Sequence[str]
    reason: str
    occurred_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    key: str
    agent: str | None
    user: str | None
    project: str | None
    session: str | None
    task: str | None
    event_id: str
    event_type: str
    identity: str  # of the event
    position: Position
    recorded_at: datetime
    from_events: Sequence[str] = ()  # ids of further events that it was drawn from
    from_memories: Sequence[str] = ()  # ids of memories that it came from


@dataclass(frozen=True, slots=True)
class Formed:
    """What the write rule makes of one event: memories, or none; `reason` says why."""

    memories: tuple[FormedMemory, ...]
    reason: str
