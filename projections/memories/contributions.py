"""What an event says about memories: which it forms, and what it adds to those of other events.

Pure. What joins several keys is order-free: a contribution is a row of its own under the
identity of its event, may come before the memory that it is about, and is reduced in
`composing`. Forgetting is a set that only grows.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from mnemolog.projections.formed_memory import Formed, FormedMemory
from mnemolog.projections.said import forgotten_by, said_by
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events.memory import (
    KnowledgeConsolidated,
    MemoryArchived,
    MemoryForgotten,
    MemoryImportanceChanged,
    MemoryLinked,
    MemorySummarised,
    MemorySuperseded,
)
from mnemolog.schemas.text import normalised
from mnemolog.schemas.times import microseconds

ContributionKind = Literal["superseded", "archived", "importance", "summary"]
ForgottenKind = Literal["memory", "event", "text"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contribution:
    """What an event adds to the memory *target*.

    `number` is an importance in thousandths, or the microseconds at which validity ends; `text`
    is what supersedes the memory, or its shorter text at `level`.
    """

    target: str
    kind: ContributionKind
    level: int = 0
    cause: str  # the event's identity
    key: str
    offset: int
    occurred_at: int  # microseconds
    number: int | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What is forgotten for good: a memory's id, an event's identity, or the hash of a text."""

    kind: ForgottenKind
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewLink:
    """A tie that an event makes between two memories; the score is in thousandths."""

    from_memory: str
    to_memory: str
    kind: str
    score: int
    cause: str  # the event's identity
    event_id: str
    key: str


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A formed memory, the id of the event that caused its event, and what its event says.

    `said` are hashes of texts: to forget one of them is to forget all that the event formed.
    """

    formed: FormedMemory
    cause_event: str | None
    said: Sequence[str] = ()


@dataclass(slots=True)
class Changes:
    """What some events change, in any order."""

    memories: list[NewMemory] = field(default_factory=list)
    contributions: list[Contribution] = field(default_factory=list)
    forgotten: list[Forgotten] = field(default_factory=list)
    links: list[NewLink] = field(default_factory=list)

    def add(self, other: "Changes") -> None:
        """Take in what *other* changes too."""
        self.memories += other.memories
        self.contributions += other.contributions
        self.forgotten += other.forgotten
        self.links += other.links

    def __bool__(self) -> bool:
        return bool(self.memories or self.contributions or self.forgotten or self.links)


def changes_of(recorded: RecordedEvent, formed: Formed) -> Changes:
    """Return what *recorded*, which forms *formed*, changes; most events change nothing else."""
    said = tuple(map(text_hash, said_by(recorded))) if formed.memories else ()
    cause = recorded.envelope.cause
    return Changes(
        memories=[NewMemory(memory, cause, said) for memory in formed.memories],
        contributions=[*_contributions(recorded)],
        forgotten=[*_forgotten(recorded)],
        links=[*_links(recorded), *_drawing(recorded, formed)],
    )


def text_hash(text: str) -> str:
    """Return 64 hexadecimal digits: texts that a person can't tell apart share them."""
    return hashlib.sha256(normalised(text).encode("utf-8", "surrogatepass")).hexdigest()


def thousandths(share: float) -> int:
    """Return *share* as whole thousandths."""
    return round(share * 1000)


def _contributions(recorded: RecordedEvent) -> Iterator[Contribution]:
    match recorded.event:
        case MemorySuperseded(memory=memory, superseded_by=by, valid_until=until):
            ends = None if until is None else microseconds(until)
            yield _contribution(recorded, memory, "superseded", number=ends, text=by)
        case MemoryArchived(memory=memory):
            yield _contribution(recorded, memory, "archived")
        case MemoryImportanceChanged(memory=memory, importance=share):
            yield _contribution(recorded, memory, "importance", number=thousandths(share))
        case MemorySummarised(memory=memory, level=level, text=text):
            yield _contribution(recorded, memory, "summary", level=level, text=text)
        case _:
            return


def _contribution(
    recorded: RecordedEvent,
    target: str,
    kind: ContributionKind,
    *,
    level: int = 0,
    number: int | None = None,
    text: str | None = None,
) -> Contribution:
    return Contribution(
        target=target,
        kind=kind,
        level=level,
        cause=recorded.identity,
        key=recorded.key,
        offset=recorded.position.offset,
        occurred_at=microseconds(recorded.occurred_at),
        number=number,
        text=text,
    )


def _forgotten(recorded: RecordedEvent) -> Iterator[Forgotten]:
    if isinstance(recorded.event, MemoryForgotten):
        yield from (Forgotten("memory", memory) for memory in recorded.event.memories)
        yield from (Forgotten("event", event) for event in recorded.event.events)
        yield from (Forgotten("text", text_hash(text)) for text in forgotten_by(recorded))


def _links(recorded: RecordedEvent) -> Iterator[NewLink]:
    match recorded.event:
        case MemoryLinked(from_memory=one, to_memory=other, kind=kind, score=share):
            yield _link(recorded, one, other, kind, score=thousandths(share))
        case MemorySuperseded(memory=older, superseded_by=str() as newer):
            yield _link(recorded, newer, older, "supersedes")
        case _:
            return


def _drawing(recorded: RecordedEvent, formed: Formed) -> Iterator[NewLink]:
    """Yield the links between what is formed and the memories that it came from.

    What consolidates memories summarises them; a decision or a comment was caused by them.
    """
    summarises = isinstance(recorded.event, KnowledgeConsolidated)
    for memory in formed.memories:
        for drawn in memory.from_memories:
            if summarises:
                yield _link(recorded, memory.id, drawn, "summarises")
            else:
                yield _link(recorded, drawn, memory.id, "causes")


def _link(
    recorded: RecordedEvent, one: str, other: str, kind: str, *, score: int = 1000
) -> NewLink:
    return NewLink(
        from_memory=one,
        to_memory=other,
        kind=kind,
        score=score,
        cause=recorded.identity,
        event_id=recorded.id,
        key=recorded.key,
    )
