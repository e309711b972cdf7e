"""What happens to memories: formed, recalled, used, linked, replaced, forgotten."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, StrictInt, model_validator

from mnemolog.schemas.events.base import (
    Event,
    Flag,
    Id,
    Identities,
    Ids,
    Instant,
    Name,
    Part,
    Said,
    Score,
    Share,
    Text,
    Texts,
)

LinkKind = Literal["entity", "similar", "causes", "supersedes", "summarises", "part-of"]


class MemoryFormed(Event):
    """A memory said outright, or formed by a processor from the events that it names.

    `kind` is one of the policy's kinds (fact, preference, constraint, ...). Without an
    importance the write rule gives one.
    """

    event_type: ClassVar[str] = "memory.formed"
    text: Said
    kind: Name = "fact"
    importance: Share | None = None
    confidence: Share | None = None
    stated_by: Literal["user", "tool", "agent", "inferred"] = "user"
    entities: Texts = ()
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    from_events: Ids = ()


class RecalledMemory(Part):
    """One line of an answer."""

    memory: Id
    score: Score


class MemoryRecalled(Event):
    """A question was answered with these memories, best first. Nothing is reinforced by it."""

    event_type: ClassVar[str] = "memory.recalled"
    question: Text
    memories: tuple[RecalledMemory, ...] = ()
    missing: Texts = ()
    tokens: Annotated[StrictInt, Field(ge=0)] = 0


class MemoryUsed(Event):
    """Memories helped; this is what reinforces them."""

    event_type: ClassVar[str] = "memory.used"
    memories: Annotated[Ids, Field(min_length=1)]
    purpose: Text | None = None


class MemoryLinked(Event):
    """Two memories belong together."""

    event_type: ClassVar[str] = "memory.linked"
    from_memory: Id
    to_memory: Id
    kind: LinkKind
    score: Share = 1.0
    reason: Text | None = None


class MemorySummarised(Event):
    """A shorter level of a memory: the higher the level, the shorter the text."""

    event_type: ClassVar[str] = "memory.summarised"
    memory: Id
    level: Annotated[StrictInt, Field(ge=1, le=9)]
    text: Said


class MemorySuperseded(Event):
    """A memory is outdated, and another holds in its place if one is named."""

    event_type: ClassVar[str] = "memory.superseded"
    memory: Id
    superseded_by: Id | None = None
    reason: Text | None = None
    valid_until: Instant | None = None


class MemoryPinned(Event):
    """A memory must not fade, or may fade again."""

    event_type: ClassVar[str] = "memory.pinned"
    memory: Id
    pinned: Flag = True


class MemoryImportanceChanged(Event):
    """A memory matters more or less than was thought."""

    event_type: ClassVar[str] = "memory.importance-changed"
    memory: Id
    importance: Share
    reason: Text | None = None


class ConflictFound(Event):
    """Memories contradict one another, and a question could settle it."""

    event_type: ClassVar[str] = "conflict.found"
    conflict: Id
    memories: Annotated[Ids, Field(min_length=2)]
    question: Said
    reason: Text | None = None


class ConflictSettled(Event):
    """A conflict is settled: this memory holds, or none does."""

    event_type: ClassVar[str] = "conflict.settled"
    conflict: Id
    holds: Id | None = None
    reason: Text | None = None


class KnowledgeConsolidated(Event):
    """Several memories were drawn together into one."""

    event_type: ClassVar[str] = "knowledge.consolidated"
    text: Said
    kind: Name = "concept"
    memories: Annotated[Ids, Field(min_length=1)]
    confidence: Share | None = None


class MemoryArchived(Event):
    """A memory is out of the way: kept, but not in the default answer."""

    event_type: ClassVar[str] = "memory.archived"
    memory: Id
    reason: Text | None = None


class MemoryForgotten(Event):
    """Memories are forgotten for good: by id, by the event that formed them, or by their text.

    An event is named by its identity: two agents' events may have one id.
    """

    event_type: ClassVar[str] = "memory.forgotten"
    memories: Ids = ()
    events: Identities = ()  # `RecordedEvent.identity`
    texts: Texts = ()
    reason: Text | None = None

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if not (self.memories or self.events or self.texts):
            raise ValueError("names no memory, event or text")
        return self


class SkillLearned(Event):
    """An agent can now do something, and how."""

    event_type: ClassVar[str] = "skill.learned"
    name: Said
    description: Said
    steps: Texts = ()
    when: Text | None = None


MEMORY: tuple[type[Event], ...] = (
    MemoryFormed,
    MemoryRecalled,
    MemoryUsed,
    MemoryLinked,
    MemorySummarised,
    MemorySuperseded,
    MemoryPinned,
    MemoryImportanceChanged,
    ConflictFound,
    ConflictSettled,
    KnowledgeConsolidated,
    MemoryArchived,
    MemoryForgotten,
    SkillLearned,
)
