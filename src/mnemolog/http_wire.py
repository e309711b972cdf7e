"""What goes over the wire between a service and its clients: one form for both sides.

A value goes out by `dumped` and comes back by `loaded` to what it was. The types here stand where
`Memory` returns what JSON can't tell alone: an event's class, an error.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, Literal, TypeVar, cast

from pydantic import BaseModel, TypeAdapter, ValidationError

from mnemolog.http_problems import error_of, problem_of
from mnemolog.known import Known
from mnemolog.projections.checkpoints.resume import Resumed
from mnemolog.projections.checkpoints.stored import (
    Action,
    CheckpointWithVector,
    SavedCheckpoint,
    StoredCheckpoint,
    TimelineEntry,
)
from mnemolog.projections.memories.rows import MemoryRow
from mnemolog.projections.weights.decay import Weight
from mnemolog.schemas.blobs import texts_in, with_texts
from mnemolog.schemas.checkpoint import Checkpoint
from mnemolog.schemas.envelope import Envelope, RecordedEvent
from mnemolog.schemas.errors import Damaged, StoreUnavailable
from mnemolog.schemas.events import ALL_EVENTS
from mnemolog.schemas.positions import Position
from mnemolog.streams.publishing import Appended

M = TypeVar("M", bound=BaseModel)

PREFIX: Final = "/v1"
TOKEN_HEADER: Final = "Mnemolog-Token"  # noqa: S105 - where one has read to, no secret
CLOUD_EVENT: Final = "application/cloudevents+json"
CLOUD_EVENTS: Final = "application/cloudevents-batch+json"
JSON: Final = "application/json"
HEAD_CHARACTERS: Final = 65_536  # fits wherever a longer text stands
Kind = Literal["any", "memory", "event"]
Right = Literal["read", "append", "admin"]
RIGHTS: Final[tuple[Right, ...]] = ("read", "append", "admin")

_EVENTS: Final = {event.event_type: event for event in ALL_EVENTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedEvent:
    """An event that the log has durably taken, now or before; `copies` are a governance event's."""

    id: str
    identity: str
    event_type: str
    position: Position
    copies: Sequence[Position] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedEvents:
    """What an append did, in the order of its events; `token` covers all of them."""

    events: Sequence[AppendedEvent]
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTold:
    """An event of ours as the log keeps it: its data, what is around it, and its place."""

    type: str
    data: Mapping[str, Any]
    envelope: Envelope
    position: Position
    recorded_at: datetime
    identity: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTold:
    """A memory and its weight at the time of asking, null where it is not known."""

    row: MemoryRow
    weight: Weight | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A memory or an event: the other one is null."""

    memory: MemoryTold | None = None
    event: EventTold | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenTold:
    """A token: partition and offset, "0@7,1@2"."""

    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTold:
    """A checkpoint whole, with the words that it is found by and their vector, if there is one."""

    checkpoint: Mapping[str, Any]
    text: str
    embedding: tuple[float, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTold:
    """A checkpoint whole; `heads` has the heads of texts that stand beside the log."""

    saved: SavedCheckpoint
    checkpoint: Mapping[str, Any]
    heads: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumedTold:
    """Where a task stands, as `Resumed` says it; `damaged` are problem documents."""

    task: str
    at: datetime
    checkpoint: StoredTold | None
    damaged: Sequence[Mapping[str, Any]]
    events: Sequence[TimelineEntry]
    events_left_out: int
    pending: Sequence[Action]
    orphaned: Sequence[Action]
    ago: timedelta
    text: str


@cache
def adapter(kind: Any) -> TypeAdapter[Any]:
    """Return what writes and reads values of *kind*."""
    return TypeAdapter(kind)


def dumped(kind: Any, value: Any) -> bytes:
    """Return *value*, of *kind*, as JSON."""
    return adapter(kind).dump_json(value)


def loaded(kind: Any, content: bytes) -> Any:
    """Return the value that `dumped` wrote. Raises StoreUnavailable for anything else."""
    try:
        return in_utc(adapter(kind).validate_json(content))
    except ValidationError as error:
        reason = f"its answer is no {getattr(kind, '__name__', kind)}: {error.error_count()} faults"
        raise StoreUnavailable("the service", reason) from error


def in_utc(value: Any) -> Any:
    """Return *value* with every time in Python's own UTC, as everything else here has it."""
    match value:
        case datetime():
            return value.astimezone(UTC)
        case list():
            return [in_utc(item) for item in value]
        case tuple():
            items = [in_utc(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
        case dict():
            return {name: in_utc(item) for name, item in value.items()}
        case _ if is_dataclass(value) and not isinstance(value, type):
            changed = {one.name: in_utc(getattr(value, one.name)) for one in fields(value)}
            return replace(value, **changed)
        case _:
            return value


def appended_told(appended: Appended) -> AppendedEvent:
    """Return the wire's form of *appended*."""
    return AppendedEvent(
        id=appended.id,
        identity=appended.identity,
        event_type=appended.event_type,
        position=appended.position,
        copies=appended.copies,
    )


def appended_of(told: AppendedEvent) -> Appended:
    """Return what `appended_told` told."""
    return Appended(
        told.id, told.identity, told.event_type, told.position, copies=tuple(told.copies)
    )


def event_told(recorded: RecordedEvent) -> EventTold:
    """Return the wire's form of *recorded*."""
    return EventTold(
        type=recorded.event.event_type,
        data=_data(recorded.event),
        envelope=recorded.envelope,
        position=recorded.position,
        recorded_at=recorded.recorded_at,
        identity=recorded.identity,
        content=recorded.content,
    )


def event_of(told: EventTold) -> RecordedEvent:
    """Return what `event_told` told. Raises StoreUnavailable for a type that isn't known here."""
    model = _EVENTS.get(told.type)
    if model is None:
        raise StoreUnavailable("the service", f"{told.type} is newer than this client")
    return RecordedEvent(
        event=whole(model, told.data),
        envelope=told.envelope,
        position=told.position,
        recorded_at=told.recorded_at,
        identity=told.identity,
        content=told.content,
    )


def told(found: Known | RecordedEvent) -> Told:
    """Return the wire's form of what `Memory.get` returns."""
    if isinstance(found, RecordedEvent):
        return Told(event=event_told(found))
    return Told(memory=MemoryTold(row=found.row, weight=found.weight))


def told_of(given: Told) -> Known | RecordedEvent:
    """Return what `told` told."""
    if given.event is not None:
        return event_of(given.event)
    if given.memory is None:
        raise StoreUnavailable("the service", "its answer is neither a memory nor an event")
    return Known(given.memory.row, given.memory.weight)


def resumed_told(resumed: Resumed) -> ResumedTold:
    """Return the wire's form of *resumed*."""
    said = {one.name: getattr(resumed, one.name) for one in fields(resumed)}
    damaged, found = [problem_of(error) for error in resumed.damaged], resumed.checkpoint
    stored = None
    if found is not None:
        heads = _data(found.heads)
        stored = StoredTold(saved=found.saved, checkpoint=_data(found.checkpoint), heads=heads)
    return ResumedTold(**{**said, "damaged": damaged, "checkpoint": stored})


def resumed_of(given: ResumedTold) -> Resumed:
    """Return what `resumed_told` told."""
    said = {one.name: getattr(given, one.name) for one in fields(given)}
    for name in ("events", "pending", "orphaned"):
        said[name] = tuple(said[name])
    errors = map(error_of, given.damaged)
    damaged = tuple(error for error in errors if isinstance(error, Damaged))
    if given.checkpoint is not None:
        whole_one, heads = (whole(Checkpoint, one) for one in _of(given.checkpoint))
        said["checkpoint"] = StoredCheckpoint(given.checkpoint.saved, whole_one, heads)
    return Resumed(**{**said, "damaged": damaged})


def saved_told(saved: CheckpointWithVector) -> SavedTold:
    """Return the wire's form of *saved*."""
    checkpoint = _data(saved.checkpoint)
    return SavedTold(checkpoint=checkpoint, text=saved.text, embedding=saved.embedding)


def saved_of(given: SavedTold) -> CheckpointWithVector:
    """Return what `saved_told` told."""
    checkpoint = whole(Checkpoint, given.checkpoint)
    return CheckpointWithVector(checkpoint, given.text, given.embedding)


def whole(model: type[M], data: Mapping[str, Any]) -> M:
    """Return *data* as a *model*, whose texts may be longer than any that the log itself takes.

    Raises StoreUnavailable for what is none.
    """
    long = {pointer: text for pointer, text in texts_in(data) if len(text) > HEAD_CHARACTERS}
    heads = {pointer: text[:HEAD_CHARACTERS] for pointer, text in long.items()}
    try:
        return with_texts(model.model_validate(with_texts(cast("Any", data), heads)), long)
    except ValidationError as error:
        raise StoreUnavailable("the service", f"no {model.__name__}: {error}") from error


def _data(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(mode="json", exclude_defaults=True, warnings=False)


def _of(stored: StoredTold) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    return stored.checkpoint, stored.heads
