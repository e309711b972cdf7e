"""From a memory or a decision to the events it came from, as a tree; each event with its place.

What was forgotten is no longer told: the log keeps its bytes, its place says so much.

Walks carry what they have visited: a cycle of causes ends where it closes, and says so.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from mnemolog.projections.checkpoints.stored import TimelineEntry
from mnemolog.projections.memories.reading import MemoryReader
from mnemolog.projections.memories.rows import MemoryRow
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.envelope import RecordedEvent, key_of
from mnemolog.schemas.errors import NotFound
from mnemolog.schemas.events.experience import DecisionMade, FeedbackGiven
from mnemolog.schemas.events.memory import KnowledgeConsolidated, MemoryFormed
from mnemolog.schemas.positions import Position
from mnemolog.schemas.text import cut, one_line
from mnemolog.streams.log import Log

DEPTH_MAX: Final = 12
NODES_MAX: Final = 200
TITLE_CHARACTERS_MAX: Final = 120

FORGOTTEN: Final = "(forgotten)"
FindEvent = Callable[[str], Sequence[TimelineEntry]]  # the events with an id


@dataclass(frozen=True, slots=True)
class Node:
    """A memory or an event, and what it came from. `role` says how it led to the node above."""

    kind: str  # memory or event
    id: str
    role: str
    title: str
    event_type: str | None = None
    topic: str | None = None
    position: Position | None = None
    occurred_at: datetime | None = None
    causes: tuple["Node", ...] = field(default=())

    def lines(self, *, indent: int = 0) -> Iterator[str]:
        """Yield the tree as lines for a person."""
        at = f" {self.topic} {self.position}" if self.position else ""
        when = f" {self.occurred_at:%Y-%m-%d %H:%M}" if self.occurred_at else ""
        what = self.event_type or self.kind
        yield f"{'  ' * indent}{self.role}: [{what}]{when} {self.title} ({self.id}{at})"
        for cause in self.causes:
            yield from cause.lines(indent=indent + 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as JSON values."""
        return {
            "kind": self.kind,
            "id": self.id,
            "role": self.role,
            "title": self.title,
            "event_type": self.event_type,
            "topic": self.topic,
            "partition": self.position.partition if self.position else None,
            "offset": self.position.offset if self.position else None,
            "occurred_at": self.occurred_at.isoformat() if self.occurred_at else None,
            "causes": [cause.to_dict() for cause in self.causes],
        }

    def __str__(self) -> str:
        return "\n".join(self.lines())


class Lineage:
    """Answers `why` from the log, with the read models as indexes into it."""

    def __init__(
        self, *, log: Log, codec: Codec, find: FindEvent, memories: MemoryReader | None
    ) -> None:
        self._log = log
        self._codec = codec
        self._find = find
        self._memories = memories

    def why(self, name: str, *, identity: str | None = None) -> Node:
        """Return the tree of what the memory or event *name* came from.

        Of several agents' events of one id the one of *identity* is meant. Raises NotFound if
        neither is known.
        """
        walk = _Walk(self)
        entries = [] if identity is None else self._find(name)
        key = next((entry.key for entry in entries if entry.identity == identity), None)
        node = walk.memory(name, "asked", 0) or walk.event(name, "asked", 0, key=key)
        if node is None:
            raise NotFound("memory or event", name)
        return node

    def event(
        self, event_id: str, *, key: str | None = None, identity: str | None = None
    ) -> RecordedEvent | None:
        """Return an event of ours with *event_id*, or None; a forgotten one stays so.

        Of several agents' events of one id only the one of *identity* is meant, or else the one
        under *key* if there is one.
        """
        entries = self._entries(event_id, key)
        for entry in [e for e in entries if identity in {None, e.identity}]:
            record = None if entry.text is None else self._log.at(entry.position)
            decoded = None if record is None else self._codec.decode(record)
            if isinstance(decoded, Ours):
                return decoded.recorded
        return None

    def forgotten(self, event_id: str, *, key: str | None) -> TimelineEntry | None:
        """Return the place of an event whose words are forgotten, or None."""
        return next((e for e in self._entries(event_id, key) if e.text is None), None)

    def _entries(self, event_id: str, key: str | None) -> Sequence[TimelineEntry]:
        found = self._find(event_id)
        return [entry for entry in found if entry.key == key] or found

    def row(self, memory: str) -> MemoryRow | None:
        """Return a memory's row, or None."""
        return None if self._memories is None else self._memories.rows([memory]).get(memory)

    @property
    def topic(self) -> str:
        """The log's name."""
        return self._log.topic


def in_order(events: Sequence[RecordedEvent]) -> list[RecordedEvent]:
    """Return *events* by position within a key, and by when they occurred between keys."""
    last: dict[str, datetime] = {}  # of a key, so that a clock that went back changes no order
    moments: dict[str, datetime] = {}
    for event in sorted(events, key=lambda event: event.position):
        last[event.key] = max(event.occurred_at, last.get(event.key, event.occurred_at))
        moments[event.identity] = last[event.key]
    return sorted(events, key=lambda event: (moments[event.identity], event.key, event.position))


class _Walk:
    """One walk: bounded in depth and nodes, each place visited once."""

    def __init__(self, lineage: Lineage) -> None:
        self._lineage = lineage
        self._visited: set[str] = set()

    def memory(self, name: str, role: str, depth: int) -> Node | None:
        row = self._lineage.row(name)
        if row is None or not self._may_visit(name, depth):
            return None
        sources = [("formed by", row.event_id), *(("drawn from", e) for e in row.from_events)]
        key = key_of(row.agent)
        causes = [self.event(event, how, depth + 1, key=key) for how, event in sources]
        causes += [self.memory(m, "drawn from", depth + 1) for m in row.from_memories]
        return Node(
            kind="memory",
            id=name,
            role=role,
            title=f"{_title(row.text)} [{row.kind}; {row.reason}]",
            occurred_at=row.occurred_at,
            causes=tuple(cause for cause in causes if cause),
        )

    def event(self, name: str, role: str, depth: int, *, key: str | None) -> Node | None:
        recorded = self._lineage.event(name, key=key)
        if recorded is None:
            return self._forgotten(name, role, key)
        if recorded.identity in self._visited:
            return self._node(recorded, f"{role} (shown above)", ())
        if not self._may_visit(recorded.identity, depth):
            return self._node(recorded, f"{role} (not followed further)", ())
        named = [
            self._named(kind, ref, how, depth + 1, key=recorded.key)
            for kind, ref, how in _causes(recorded)
        ]
        return self._node(recorded, role, tuple(cause for cause in named if cause))

    def _forgotten(self, name: str, role: str, key: str | None) -> Node | None:
        entry = self._lineage.forgotten(name, key=key)
        if entry is None:
            return None
        return Node(
            kind="event",
            id=name,
            role=role,
            title=FORGOTTEN,
            event_type=entry.type,
            topic=self._lineage.topic,
            position=entry.position,
            occurred_at=entry.occurred_at,
        )

    def _named(self, kind: str, name: str, role: str, depth: int, *, key: str) -> Node | None:
        if kind == "memory":
            return self.memory(name, role, depth)
        return self.event(name, role, depth, key=key)

    def _node(self, recorded: RecordedEvent, role: str, causes: tuple[Node, ...]) -> Node:
        return Node(
            kind="event",
            id=recorded.id,
            role=role,
            title=_title(_words(recorded)),
            event_type=recorded.event.event_type,
            topic=self._lineage.topic,
            position=recorded.position,
            occurred_at=recorded.occurred_at,
            causes=causes,
        )

    def _may_visit(self, name: str, depth: int) -> bool:
        if name in self._visited or depth > DEPTH_MAX or len(self._visited) >= NODES_MAX:
            return False
        self._visited.add(name)
        return True


def _causes(recorded: RecordedEvent) -> Iterator[tuple[str, str, str]]:
    """Yield what an event names as its causes: kind, id and role."""
    event = recorded.event
    if recorded.envelope.cause is not None:
        yield "event", recorded.envelope.cause, "caused by"
    match event:
        case DecisionMade():
            yield from (("event", name, "because of") for name in event.because_events)
            yield from (("memory", name, "because of") for name in event.because_memories)
        case MemoryFormed():
            yield from (("event", name, "drawn from") for name in event.from_events)
        case KnowledgeConsolidated():
            yield from (("memory", name, "drawn from") for name in event.memories)
        case FeedbackGiven():
            kind = "memory" if event.target_kind == "memory" else "event"
            yield kind, event.target, "about"
        case _:
            return


def _words(recorded: RecordedEvent) -> str:
    """Return the words of an event that tell a person most."""
    event = recorded.event
    for name in ("text", "what", "plan", "goal", "outcome", "result", "error", "note", "reason"):
        value = getattr(event, name, None)
        if isinstance(value, str) and value.strip():
            return value
    return str(getattr(event, "tool", event.event_type))


def _title(text: str) -> str:
    return cut(one_line(text), characters_max=TITLE_CHARACTERS_MAX)
