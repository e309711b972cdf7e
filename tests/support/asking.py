"""What tests of recall ask with: one question at a fixed time, and three memories to find."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from mnemolog.projections.memories.embedders import embedder_named
from mnemolog.projections.recall.recall import Question, Recalled, recall
from mnemolog.schemas.policy import BUILT_IN, DecayPolicy
from mnemolog.schemas.positions import Position
from support.in_memory_reader import embedded, memory_row

NOW = datetime(2030, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)
HASHING = embedder_named("hashing")

POOL = memory_row(
    "the connection pool was exhausted at noon", event_id="e-7", position=Position(2, 41)
)
TEAM = memory_row("Ana owns the payment service")
FRIDAY = memory_row("never deploy on Friday", kind="constraint", importance=0.9)
READER = embedded([POOL, TEAM, FRIDAY], HASHING)


def ask(
    text: str, reader: Any, *, weights: Any = None, embedder: Any = HASHING, **changes: Any
) -> Recalled:
    """Return the answer to *text* at `NOW`; without weights unless *changes* says otherwise."""
    question = Question(**{"text": text, "at": NOW, "without": ["weight"], **changes})
    return recall(question, reader=reader, weights=weights, embedder=embedder, topic="log")


def ids(answer: Recalled) -> list[str]:
    """Return the ids of an answer, best first."""
    return [memory.id for memory in answer]


@dataclass(frozen=True)
class FixedWeight:
    """A weight as a reader of weights gives it."""

    weight: float
    ranking_term: float


class FixedWeights:
    """Weights by memory id, for tests of what recall makes of them."""

    def __init__(self, by_id: Mapping[str, FixedWeight]) -> None:
        self._by_id = by_id
        self.asked_at: datetime | None = None

    def decay_policy(self) -> DecayPolicy:
        """Return the built-in numbers."""
        return BUILT_IN.decay

    def weights(
        self, ids: Sequence[str], *, at: datetime, decay: DecayPolicy
    ) -> Mapping[str, FixedWeight]:
        """Return those that were given."""
        assert decay == BUILT_IN.decay
        self.asked_at = at
        return {id_: self._by_id[id_] for id_ in ids if id_ in self._by_id}


class Hanging:
    """An embedder, or a store, whose every call waits until the test is over."""

    model_id = HASHING.model_id
    dimensions = HASHING.dimensions

    def __init__(self, gate: threading.Event) -> None:
        self._gate = gate

    def __getattr__(self, name: str) -> Any:
        return lambda *_args, **_kwargs: self._gate.wait()
