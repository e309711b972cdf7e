"""An answer: the recalled memories with their sources and scores, and what is missing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, overload

from mnemolog.projections.memories.rows import MemoryRow
from mnemolog.projections.recall.standing import Standing
from mnemolog.schemas.times import written


@dataclass(frozen=True, slots=True)
class Provenance:
    """The event that a memory comes from, by place and by id, and what else it was drawn from."""

    topic: str
    partition: int
    offset: int
    event_id: str
    event_type: str
    from_events: tuple[str, ...] = ()
    from_memories: tuple[str, ...] = ()

    @classmethod
    def of(cls, row: MemoryRow, *, topic: str) -> "Provenance":
        """Return where *row* comes from in the log *topic*."""
        return cls(
            topic,
            *row.position,
            row.event_id,
            row.event_type,
            tuple(row.from_events),
            tuple(row.from_memories),
        )

    def __str__(self) -> str:
        return f"{self.topic} {self.partition}@{self.offset} {self.event_id}"


class SignalScore(NamedTuple):
    """What a signal said of a memory: its rank there, 1 is best, and the signal's own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMemory:
    """A memory of an answer. `row` is all that is known of it; `text` is what the answer shows.

    `level` is 0 for the whole text, more for a shorter one, -1 for one that was cut to fit.
    `score` is the priority, `scores` its terms and the signals' shares, all in [0, 1];
    `signals` has each signal's rank and own score when the question asked to explain. `weight`
    is None where it is not known. `repeats` are ids of memories that say the same.
    """

    row: MemoryRow
    text: str
    block: str
    level: int
    tokens: int
    score: float
    scores: Mapping[str, float]
    signals: Mapping[str, SignalScore] = field(default_factory=dict)
    weight: float | None
    standing: Standing
    provenance: Provenance
    repeats: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.row.id

    @property
    def identity(self) -> str:
        """The identity of the event that formed it."""
        return self.row.identity

    @property
    def kind(self) -> str:
        """What the memory is: fact, decision, episode ..."""
        return self.row.kind

    @property
    def occurred_at(self) -> datetime:
        """When it happened in the world."""
        return self.row.occurred_at

    @property
    def recorded_at(self) -> datetime:
        """When the log took it."""
        return self.row.recorded_at

    @property
    def importance(self) -> float:
        """How much it matters, a share."""
        return self.row.importance

    @property
    def agent(self) -> str | None:
        """Whose memory it is."""
        return self.row.agent

    @property
    def is_outdated(self) -> bool:
        """Whether it no longer holds, or not yet."""
        return self.standing.is_outdated

    def to_dict(self) -> dict[str, Any]:
        """Return the memory as JSON values; what is unknown or empty is left out."""
        row = self.row
        values = {
            "id": row.id,
            "text": self.text,
            "kind": row.kind,
            "score": self.score,
            "scores": dict(self.scores),
            "signals": {name: one._asdict() for name, one in self.signals.items()},
            "weight": self.weight,
            "importance": row.importance,
            "confidence": row.confidence,
            "stated_by": row.stated_by,
            "standing": self.standing.value,
            "superseded_by": row.superseded_by,
            "level": self.level,
            "tokens": self.tokens,
            "tags": list(row.tags),
            "entities": list(row.entities),
            "reason": row.reason,
            **_times(row),
            **{name: getattr(row, name) for name in _SCOPES},
            "provenance": _provenance(self.provenance),
            "repeats": list(self.repeats),
        }
        return {key: value for key, value in values.items() if value not in _NOTHING}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """An answer, best memory first. `text` is ready for a prompt and has `tokens` tokens.

    `missing` names each signal that had no say, with the reason. `left_out` counts the memories
    that were found and would have had a place, but did not fit the budget.
    """

    question: str
    at: datetime
    focus: str
    memories: tuple[RecalledMemory, ...]
    missing: tuple[str, ...]
    text: str
    tokens: int
    left_out: int = 0

    def __iter__(self) -> Iterator[RecalledMemory]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)

    @overload
    def __getitem__(self, place: int) -> RecalledMemory: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[RecalledMemory, ...]: ...
    def __getitem__(self, place: int | slice) -> RecalledMemory | tuple[RecalledMemory, ...]:
        return self.memories[place]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        return {
            "question": self.question,
            "at": written(self.at),
            "focus": self.focus,
            "memories": [memory.to_dict() for memory in self.memories],
            "missing": list(self.missing),
            "left_out": self.left_out,
            "tokens": self.tokens,
            "text": self.text,
        }


_SCOPES = ("agent", "user", "project", "session", "task")
_NOTHING: tuple[Any, ...] = (None, "", [], {})


def _times(row: MemoryRow) -> dict[str, str | None]:
    names = ("occurred_at", "recorded_at", "valid_from", "valid_until")
    times = {name: getattr(row, name) for name in names}
    return {name: None if time is None else written(time) for name, time in times.items()}


def _provenance(provenance: Provenance) -> dict[str, Any]:
    values = {
        "topic": provenance.topic,
        "partition": provenance.partition,
        "offset": provenance.offset,
        "event_id": provenance.event_id,
        "event_type": provenance.event_type,
        "from_events": list(provenance.from_events),
        "from_memories": list(provenance.from_memories),
    }
    return {key: value for key, value in values.items() if value not in _NOTHING}
