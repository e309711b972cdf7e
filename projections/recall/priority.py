"""What comes first under a budget: a relevance + b recency + c importance + d weight.

Each term lies in [0, 1] and the focus's four shares sum to one, so a priority does too; it rises
with every term. Decay enters once, through the weight's term. Pure functions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from mnemolog.projections.recall.focus import Focus

WEIGHT_TERM_UNKNOWN: Final = 1 / 1.5  # of a weight of 1, as a memory has when it is formed
FAVOURED_GAIN: Final = 0.5  # of what a favoured memory lacks to full importance
OUTDATED_SHARE: Final = 0.5  # of its priority keeps a memory that no longer holds

_HOUR: Final = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The terms of one memory's priority, each in [0, 1]."""

    relevance: float
    recency: float
    importance: float
    weight: float

    def priority(self, focus: Focus) -> float:
        """Return the priority under *focus*.

        >>> from mnemolog.projections.recall.focus import FOCUSES
        >>> most = Terms(relevance=1.0, recency=1.0, importance=1.0, weight=1.0)
        >>> round(most.priority(FOCUSES["balanced"]), 9)
        1.0
        """
        total = (
            focus.relevance * self.relevance
            + focus.recency * self.recency
            + focus.importance * self.importance
            + focus.weight * self.weight
        )
        return min(1.0, total)

    def named(self) -> dict[str, float]:
        """Return the terms by name."""
        return {
            "relevance": self.relevance,
            "recency": self.recency,
            "importance": self.importance,
            "weight": self.weight,
        }


def recency(occurred_at: datetime, *, at: datetime, hours: float) -> float:
    """Return exp(-age / hours); what lies in the future has no age.

    >>> from datetime import UTC
    >>> now = datetime(2030, 1, 3, tzinfo=UTC)
    >>> recency(datetime(2030, 1, 9, tzinfo=UTC), at=now, hours=48)
    1.0
    """
    age_hours = max(0.0, (at - occurred_at) / _HOUR)
    return math.exp(-age_hours / hours)


def importance_term(importance: float, *, kind: str, tags: Sequence[str], focus: Focus) -> float:
    """Return *importance*, raised half the way to 1 where *focus* favours the memory."""
    if focus.favours(kind=kind, tags=tags):
        return importance + FAVOURED_GAIN * (1 - importance)
    return importance
