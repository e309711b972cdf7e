"""A memory as the recall index holds it, and what a question may filter by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from mnemolog.schemas.positions import Position


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRow:
    """A memory, as recall reads it. Importance and confidence are shares in [0, 1]."""

    id: str
    kind: str
    text: str
    levels: Mapping[int, str] = field(default_factory=dict)  # shorter texts by level, 1 and up
    importance: float
    confidence: float
    stated_by: str
    tags: Sequence[str] = ()
    entities: Sequence[str] = ()
    reason: str = ""
    occurred_at: datetime
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    superseded: bool = False
    superseded_by: str | None = None
    archived: bool = False
    agent: str | None = None
    user: str | None = None
    project: str | None = None
    session: str | None = None
    task: str | None = None
    event_id: str
    event_type: str
    identity: str
    key: str
    ordinal: int
    position: Position
    recorded_at: datetime
    from_events: Sequence[str] = ()
    from_memories: Sequence[str] = ()
    vector_key: str | None = None  # None where the text can't be embedded
    has_vector: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories a question may see; what is None or empty does not restrict.

    Times are half-open. `current` leaves out what is superseded, archived or, at `valid_at`,
    not valid.
    """

    agent: str | None = None
    user: str | None = None
    project: str | None = None
    session: str | None = None
    task: str | None = None
    kinds: Sequence[str] = ()
    tags: Sequence[str] = ()  # every one of them
    importance_min: float = 0.0
    occurred_from: datetime | None = None
    occurred_until: datetime | None = None
    current: bool = True
    valid_at: datetime | None = None
