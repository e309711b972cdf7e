"""The rows of the index, and the fold that makes them. Pure: events in, rows out.

Each row belongs to one event and stands under its position; nothing is counted or joined here.
What several events make together (is an action finished?) is worked out when it is asked.
"""

from dataclasses import dataclass, field, replace
from typing import Literal

from mnemolog.projections.checkpoints.file_format import Snapshot, snapshot
from mnemolog.projections.checkpoints.words import memory_handle, summary, text_handle
from mnemolog.projections.said import forgotten_by, said_by
from mnemolog.projections.write_rule.drafts import MEMORY_CHARACTERS_MAX, Nothing
from mnemolog.projections.write_rule.events import drafts
from mnemolog.schemas.decoded import Guest, Ours
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.experience import ActionFinished, ActionStarted, CheckpointSaved
from mnemolog.schemas.events.memory import MemoryForgotten
from mnemolog.schemas.ids import memory_id
from mnemolog.schemas.policy import WritePolicy
from mnemolog.schemas.positions import Position
from mnemolog.schemas.text import cut

ActionPart = Literal["started", "finished", "orphaned"]


@dataclass(frozen=True, slots=True)
class EventRow:
    """An event on the timeline; by any of its `handles` its words are forgotten."""

    item: Ours | Guest
    text: str | None  # None where it is forgotten
    handles: tuple[bytes, ...] = ()

    @property
    def position(self) -> Position:
        """Where the event stands."""
        return self.item.record.position


@dataclass(frozen=True, slots=True)
class ActionRow:
    """What one event adds to an action."""

    position: Position
    key: str
    action: str
    part: ActionPart
    tool: str | None
    success: bool | None = None
    costly: bool = False


@dataclass(frozen=True, slots=True)
class CheckpointRow:
    """A saved checkpoint, and the file that holds it."""

    position: Position
    key: str
    id: str
    agent: str
    task: str | None
    parent: str | None
    tags: tuple[str, ...]
    snapshot: Snapshot


@dataclass
class Rows:
    """What some events add to the index. Forgetting is a set that only grows."""

    events: list[EventRow] = field(default_factory=list)
    actions: list[ActionRow] = field(default_factory=list)
    checkpoints: list[CheckpointRow] = field(default_factory=list)
    forgotten_events: set[str] = field(default_factory=set)  # identities
    forgotten_handles: set[bytes] = field(default_factory=set)  # of texts and of memories

    def add(self, other: "Rows") -> None:
        """Take in what *other* holds."""
        self.events += other.events
        self.actions += other.actions
        self.checkpoints += other.checkpoints
        self.forgotten_events |= other.forgotten_events
        self.forgotten_handles |= other.forgotten_handles

    def without(self, forgotten: set[Position]) -> "Rows":
        """Return these rows without what the events at *forgotten* said."""
        return Rows(
            [_forgotten(row) if row.position in forgotten else row for row in self.events],
            [replace(a, tool=None) if a.position in forgotten else a for a in self.actions],
            [row for row in self.checkpoints if row.position not in forgotten],
            self.forgotten_events,
            self.forgotten_handles,
        )


def _forgotten(row: EventRow) -> EventRow:
    return replace(row, text=None, handles=())


def fold(item: Ours | Guest, write: WritePolicy) -> Rows:
    """Return what *item* adds to the index, where the policy *write* is in force.

    Raises where an event of ours can't be kept.
    """
    if isinstance(item, Guest):
        return Rows([EventRow(item, "")])
    event = item.recorded.event
    rows = Rows([EventRow(item, summary(event), _handles(item, event, write))])
    match event:
        case ActionStarted() | ActionFinished():
            rows.actions = [_action(item, event)]
        case CheckpointSaved():
            rows.checkpoints = [_checkpoint(item, event)]
        case MemoryForgotten():
            rows.forgotten_events = set(event.events)
            rows.forgotten_handles = {
                *map(text_handle, forgotten_by(item.recorded)),
                *map(memory_handle, event.memories),
            }
    return rows


def _handles(item: Ours, event: Event, write: WritePolicy) -> tuple[bytes, ...]:
    """Return the handles of what *event* says, as it says it and as its memories do.

    The first memory holds the whole event, so to forget it by its id is to forget the event's
    words; a later one holds a sentence of it.
    """
    said, whole = list(said_by(item.recorded)), []
    memories = drafts(event, write)  # the words of its memories; their entities would cost more
    if not isinstance(memories, Nothing):
        said += [cut(memory.text, characters_max=MEMORY_CHARACTERS_MAX) for memory in memories]
        whole = [memory_handle(memory_id(item.identity, 0))]
    return tuple(dict.fromkeys([*map(text_handle, dict.fromkeys(said)), *whole]))


def _action(item: Ours, event: ActionStarted | ActionFinished) -> ActionRow:
    if isinstance(event, ActionStarted):
        part: ActionPart = "started"
    else:
        part = "orphaned" if event.orphaned else "finished"
    return ActionRow(
        position=item.record.position,
        key=item.key,
        action=event.action,
        part=part,
        tool=event.tool,
        success=None if isinstance(event, ActionStarted) else event.success,
        costly=isinstance(event, ActionStarted) and event.costly,
    )


def _checkpoint(item: Ours, event: CheckpointSaved) -> CheckpointRow:
    saved, state = event.checkpoint, event.checkpoint.task_state
    return CheckpointRow(
        position=item.record.position,
        key=item.key,
        id=saved.id,
        agent=saved.agent,
        task=item.envelope.task or (state.task_id if state else None),
        parent=saved.parent,
        tags=saved.tags,
        snapshot=snapshot(saved, dataref=item.envelope.dataref),
    )
