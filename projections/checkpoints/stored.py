"""What the index gives to those who ask: events on a timeline, saved checkpoints, actions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Final

from mnemolog.schemas.checkpoint import Checkpoint, embedding_text
from mnemolog.schemas.errors import Damaged
from mnemolog.schemas.positions import Position

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

VectorOf = Callable[[str], Sequence[float] | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineEntry:
    """An event in one line; `text` is None where it was forgotten, empty where there is none.

    `type` has no prefix for ours and is whole for a guest's.
    """

    position: Position
    identity: str
    recorded_at: datetime
    occurred_at: datetime
    key: str
    agent: str | None
    user: str | None
    project: str | None
    session: str | None
    task: str | None
    type: str
    guest: bool
    event_id: str
    cause: str | None
    text: str | None

    @property
    def id(self) -> str:
        """The event's id, as its agent gave it."""
        return self.event_id


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedCheckpoint:
    """A checkpoint's line in the index; `event` saved it, `file` holds it."""

    id: str
    agent: str
    task: str | None
    parent: str | None
    tags: tuple[str, ...]
    file: str
    event: TimelineEntry

    @property
    def identity(self) -> str:
        """The identity of the event that saved it."""
        return self.event.identity


@dataclass(frozen=True, slots=True)
class StoredCheckpoint:
    """A checkpoint, read from its file and found whole.

    `heads` is the checkpoint as the log has it: with the heads of texts that stand beside it.
    """

    saved: SavedCheckpoint
    checkpoint: Checkpoint
    heads: Checkpoint


@dataclass(frozen=True, slots=True)
class CheckpointWithVector:
    """A checkpoint and the vector of its words; None where the cache has none yet.

    The event's own `embedding` is always null: a vector is derived, and comes from the cache.
    """

    checkpoint: Checkpoint
    text: str
    embedding: tuple[float, ...] | None


def with_vector(stored: StoredCheckpoint, *, vector_of: VectorOf) -> CheckpointWithVector:
    """Return a checkpoint with what *vector_of*, a look into a vector cache, has for its words.

    Those are the words that it is found by: of a text beside the log, the head's.
    """
    text = embedding_text(stored.heads)
    vector = vector_of(text)
    return CheckpointWithVector(stored.checkpoint, text, None if vector is None else tuple(vector))


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest sound checkpoint, or None, and those newer ones that are damaged."""

    found: StoredCheckpoint | None
    damaged: tuple[Damaged, ...] = ()


@dataclass(frozen=True, slots=True)
class Ancestry:
    """A checkpoint and its ancestors, the checkpoint first; `missing` is a parent not known."""

    saved: tuple[SavedCheckpoint, ...]
    missing: str | None = None


@dataclass(frozen=True, slots=True)
class Following:
    """Events in order, the last ones; `left_out` is how many came before them."""

    events: tuple[TimelineEntry, ...]
    left_out: int = 0


class ActionStatus(Enum):
    """How a started action stands: orphaned is one whose session or task ended without it.

    So is one of which it was said that no answer will come.
    """

    PENDING = "pending"
    FINISHED = "finished"
    ORPHANED = "orphaned"


@dataclass(frozen=True, slots=True)
class Action:
    """A started action; `started` is the event, `tool` is None where it was forgotten."""

    action: str
    tool: str | None
    costly: bool
    status: ActionStatus
    started: TimelineEntry


def moment(microseconds: int) -> datetime:
    """Return the time of whole *microseconds* since 1970."""
    return _EPOCH + timedelta(microseconds=microseconds)
