"""What an event adds to the weights: rows of its own, in any order with those of other keys.

Pure. What a policy has a number for is counted here, under the policy of its event, as a whole
number of thousandths. Reducing rows to a memory's standing is `reading`'s.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from mnemolog.projections.formed_memory import Formed, FormedMemory
from mnemolog.projections.said import forgotten_by, said_by
from mnemolog.projections.write_rule import FORMING
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events.experience import DecisionMade, FeedbackGiven
from mnemolog.schemas.events.memory import (
    MemoryArchived,
    MemoryForgotten,
    MemoryImportanceChanged,
    MemoryPinned,
    MemorySummarised,
    MemorySuperseded,
    MemoryUsed,
)
from mnemolog.schemas.policy import DecayPolicy
from mnemolog.schemas.text import normalised
from mnemolog.schemas.times import microseconds

AMOUNT_MAX: Final = 1e9  # a larger weight or gain counts as this, so that sums fit 64 bits

_CONTRIBUTING: Final = (
    DecisionMade,
    FeedbackGiven,
    MemoryArchived,
    MemoryForgotten,
    MemoryImportanceChanged,
    MemoryPinned,
    MemorySummarised,
    MemorySuperseded,
    MemoryUsed,
)
WANTED: Final = FORMING | {event.event_type for event in _CONTRIBUTING}

Mark = Literal["archived", "importance", "level", "pinned", "superseded"]


class MemoryRow(NamedTuple):
    """A memory as the write rule gave it; times in microseconds, shares in thousandths."""

    id: str
    kind: str
    importance: int
    initial: int
    occurred_at: int
    valid_from: int | None
    valid_until: int | None
    key: str
    agent: str | None
    event_id: str
    identity: str
    text_hash: str


class SaidRow(NamedTuple):
    """A text by which an event that formed memories is forgotten, with all of these."""

    text_hash: str
    identity: str


class UseRow(NamedTuple):
    """A use of a memory by an event; many uses by one event are one."""

    memory: str
    identity: str
    event_id: str
    key: str
    occurred_at: int


class FeedbackRow(NamedTuple):
    """A judgement; `gain` is what the policy of its event makes of the score."""

    identity: str
    event_id: str
    key: str
    target_kind: str  # memory, or event: a decision is one
    target: str
    score: int
    gain: int
    occurred_at: int


class MarkRow(NamedTuple):
    """What an event says a memory is from here on; within a key the later offset holds."""

    memory: str
    mark: Mark
    identity: str
    event_id: str
    key: str
    offset: int
    occurred_at: int
    number: int | None  # pinned: 0 or 1; importance; level; superseded: until when it was valid
    other: str | None  # superseded: by which memory


class ForgottenRow(NamedTuple):
    """What an event said to forget, for good."""

    kind: Literal["memory", "event", "text"]
    value: str  # a memory's id, an event's identity, or the hash of a text
    identity: str
    key: str


@dataclass(slots=True)
class Rows:
    """What some events add."""

    memories: list[MemoryRow] = field(default_factory=list)
    said: list[SaidRow] = field(default_factory=list)
    uses: list[UseRow] = field(default_factory=list)
    feedback: list[FeedbackRow] = field(default_factory=list)
    marks: list[MarkRow] = field(default_factory=list)
    forgotten: list[ForgottenRow] = field(default_factory=list)

    def add(self, other: "Rows") -> None:
        """Take in what *other* adds too."""
        self.memories += other.memories
        self.said += other.said
        self.uses += other.uses
        self.feedback += other.feedback
        self.marks += other.marks
        self.forgotten += other.forgotten


def rows_of(recorded: RecordedEvent, formed: Formed, decay: DecayPolicy) -> Rows:
    """Return what *recorded*, which forms *formed*, adds under *decay*, the policy where it is."""
    return Rows(
        memories=[_memory(memory, decay) for memory in formed.memories],
        said=list(_said(recorded)) if formed.memories else [],
        uses=list(_uses(recorded)),
        feedback=list(_feedback(recorded, decay)),
        marks=list(_marks(recorded)),
        forgotten=list(_forgotten(recorded)),
    )


def text_hash(text: str) -> str:
    """Return 32 hexadecimal digits: texts that a person can't tell apart share them."""
    return hashlib.sha256(normalised(text).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _memory(memory: FormedMemory, decay: DecayPolicy) -> MemoryRow:
    return MemoryRow(
        id=memory.id,
        kind=memory.kind,
        importance=memory.importance,
        initial=_thousandths(decay.weight_initial),
        occurred_at=microseconds(memory.occurred_at),
        valid_from=None if memory.valid_from is None else microseconds(memory.valid_from),
        valid_until=None if memory.valid_until is None else microseconds(memory.valid_until),
        key=memory.key,
        agent=memory.agent,
        event_id=memory.event_id,
        identity=memory.identity,
        text_hash=text_hash(memory.text),
    )


def _said(recorded: RecordedEvent) -> Iterator[SaidRow]:
    for hashed in dict.fromkeys(map(text_hash, said_by(recorded))):
        yield SaidRow(hashed, recorded.identity)


def _uses(recorded: RecordedEvent) -> Iterator[UseRow]:
    match recorded.event:
        case MemoryUsed(memories=used) | DecisionMade(because_memories=used):
            moment = microseconds(recorded.occurred_at)
            for memory in dict.fromkeys(used):
                yield UseRow(memory, recorded.identity, recorded.id, recorded.key, moment)
        case _:
            return


def _feedback(recorded: RecordedEvent, decay: DecayPolicy) -> Iterator[FeedbackRow]:
    event = recorded.event
    if isinstance(event, FeedbackGiven):
        yield FeedbackRow(
            identity=recorded.identity,
            event_id=recorded.id,
            key=recorded.key,
            target_kind="memory" if event.target_kind == "memory" else "event",
            target=event.target,
            score=_thousandths(event.score),
            gain=_thousandths(event.score * min(decay.feedback_gain, AMOUNT_MAX)),
            occurred_at=microseconds(recorded.occurred_at),
        )


def _marks(recorded: RecordedEvent) -> Iterator[MarkRow]:
    match recorded.event:
        case MemoryPinned(memory=memory, pinned=pinned):
            yield _mark(recorded, memory, "pinned", number=int(pinned))
        case MemoryImportanceChanged(memory=memory, importance=share):
            yield _mark(recorded, memory, "importance", number=_thousandths(share))
        case MemorySummarised(memory=memory, level=level):
            yield _mark(recorded, memory, "level", number=level)
        case MemorySuperseded(memory=memory, superseded_by=by, valid_until=until):
            ends = None if until is None else microseconds(until)
            yield _mark(recorded, memory, "superseded", number=ends, other=by)
        case MemoryArchived(memory=memory):
            yield _mark(recorded, memory, "archived")
        case _:
            return


def _mark(
    recorded: RecordedEvent,
    memory: str,
    mark: Mark,
    *,
    number: int | None = None,
    other: str | None = None,
) -> MarkRow:
    return MarkRow(
        memory=memory,
        mark=mark,
        identity=recorded.identity,
        event_id=recorded.id,
        key=recorded.key,
        offset=recorded.position.offset,
        occurred_at=microseconds(recorded.occurred_at),
        number=number,
        other=other,
    )


def _forgotten(recorded: RecordedEvent) -> Iterator[ForgottenRow]:
    event = recorded.event
    if not isinstance(event, MemoryForgotten):
        return
    for memory in dict.fromkeys(event.memories):
        yield ForgottenRow("memory", memory, recorded.identity, recorded.key)
    for named in dict.fromkeys(event.events):
        yield ForgottenRow("event", named, recorded.identity, recorded.key)
    for hashed in dict.fromkeys(map(text_hash, forgotten_by(recorded))):
        yield ForgottenRow("text", hashed, recorded.identity, recorded.key)


def _thousandths(amount: float) -> int:
    return round(min(max(amount, -AMOUNT_MAX), AMOUNT_MAX) * 1_000)
