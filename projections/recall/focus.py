"""What a recall looks for first: named shares of relevance, recency, importance and weight.

The four shares of a focus sum to one, so a priority stays in [0, 1].
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

RECENCY_HOURS: Final = 48.0  # after which a memory's recency has fallen to 1/e
LATEST_RECENCY_MIN: Final = 0.3  # a share of recency that makes the newest memories candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """Shares of a priority; memories of `kinds` or `tags` count as more important."""

    relevance: float
    recency: float
    importance: float
    weight: float
    kinds: Sequence[str] = ()
    tags: Sequence[str] = ()
    recency_hours: float = RECENCY_HOURS

    @property
    def wants_latest(self) -> bool:
        """Whether what happened last is looked at though no word or meaning found it."""
        return bool(self.kinds) or self.recency >= LATEST_RECENCY_MIN

    def favours(self, *, kind: str, tags: Sequence[str]) -> bool:
        """Say whether a memory of this kind or with these tags is looked for first."""
        return kind in self.kinds or not set(self.tags).isdisjoint(tags)


FOCUSES: Final[Mapping[str, Focus]] = MappingProxyType(
    {
        "balanced": Focus(relevance=0.7, recency=0.1, importance=0.1, weight=0.1),
        "goal-and-constraints": Focus(
            relevance=0.45,
            recency=0.05,
            importance=0.35,
            weight=0.15,
            kinds=("constraint", "plan", "preference", "checkpoint"),
            tags=("goal", "constraint"),
        ),
        "past-decisions": Focus(
            relevance=0.6,
            recency=0.05,
            importance=0.2,
            weight=0.15,
            kinds=("decision", "lesson"),
            tags=("decision",),
        ),
        "knowledge": Focus(
            relevance=0.75,
            recency=0.0,
            importance=0.15,
            weight=0.1,
            kinds=("concept", "fact", "skill", "lesson"),
        ),
        "recent-detail": Focus(relevance=0.4, recency=0.5, importance=0.05, weight=0.05),
        "results": Focus(
            relevance=0.55, recency=0.3, importance=0.1, weight=0.05, kinds=("result",)
        ),
        "facts": Focus(
            relevance=0.75,
            recency=0.0,
            importance=0.15,
            weight=0.1,
            kinds=("fact", "preference", "constraint"),
        ),
        "plans": Focus(
            relevance=0.5,
            recency=0.25,
            importance=0.2,
            weight=0.05,
            kinds=("plan", "checkpoint"),
            tags=("plan",),
        ),
        "errors": Focus(
            relevance=0.6,
            recency=0.15,
            importance=0.2,
            weight=0.05,
            kinds=("lesson", "error"),
            tags=("error", "failure", "lesson"),
        ),
    }
)
