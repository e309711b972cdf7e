"""How a memory's weight falls with age and rises with use: closed formulas, and nothing kept.

S = base(kind) x (1 + 4 importance) x (1 + ln(1 + uses)), R = exp(-age / S), weight = clamp(initial
x R + gains), and in ranking clamp(sqrt(weight), 0.3, 1.5) / 1.5; most numbers are the policy's. It
is Ebbinghaus's forgetting curve with a time constant that grows by use (as in MemoryBank, Zhong et
al. 2023), and a floor in ranking: a decay without one made a recall zero after 242 days.
All are total: they raise for no number that a policy or an event may hold.
"""

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from mnemolog.schemas.policy import DecayPolicy

RANKING_ROOT_MIN: Final = 0.3
RANKING_ROOT_MAX: Final = 1.5
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a memory's weight follows from at any time: what its rows say, reduced.

    Whole thousandths where an event gave a share or a score. `importance` and validity are those
    in force; `feedback` is the sum of all scores, the gains what policies made of them.
    """

    kind: str
    importance: int
    initial: int
    occurred_at: datetime
    uses: int = 0
    last_used_at: datetime | None = None
    feedback: int = 0
    relevance_gain: int = 0  # from feedback on the memory itself
    utility_gain: int = 0  # from feedback on what rested on it
    pinned: bool = False
    level: int = 0  # the shortest text that there is, 0 is the memory's own
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    superseded: bool = False
    superseded_by: str | None = None
    archived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Weight:
    """A memory's weight at a time, and everything that it follows from."""

    initial: float
    importance: float
    uses: int
    feedback: float
    relevance_gain: float
    utility_gain: float
    last_reinforcement: datetime | None
    pinned: bool
    age_days: float
    time_constant_days: float  # S; half-life = S ln 2
    retention: float  # R
    weight: float
    ranking_term: float
    standing: Standing


def weight_of(standing: Standing, *, at: datetime, decay: DecayPolicy) -> Weight:
    """Return the weight of *standing* at the time *at* by the numbers of *decay*."""
    importance = standing.importance / 1_000
    age = age_days(at, since=standing.last_used_at or standing.occurred_at)
    constant = time_constant_days(
        standing.kind, importance=importance, uses=standing.uses, decay=decay
    )
    kept = 1.0 if standing.pinned else retention(age, time_constant_days=constant)
    gain = (standing.relevance_gain + standing.utility_gain) / 1_000
    weight = clamped(
        standing.initial / 1_000 * kept + gain, at_least=decay.weight_min, at_most=decay.weight_max
    )
    return Weight(
        initial=standing.initial / 1_000,
        importance=importance,
        uses=standing.uses,
        feedback=standing.feedback / 1_000,
        relevance_gain=standing.relevance_gain / 1_000,
        utility_gain=standing.utility_gain / 1_000,
        last_reinforcement=standing.last_used_at,
        pinned=standing.pinned,
        age_days=age,
        time_constant_days=constant,
        retention=kept,
        weight=weight,
        ranking_term=ranking_term(weight),
        standing=standing,
    )


def age_days(at: datetime, *, since: datetime) -> float:
    """Return how many days *since* is before *at*; a stamp from the future has the age 0."""
    return max(0.0, (at - since) / _DAY)


def time_constant_days(kind: str, *, importance: float, uses: int, decay: DecayPolicy) -> float:
    """Return S: base(kind) x (1 + stretch x importance) x (1 + ln(1 + uses))."""
    base = decay.time_constant_days.get(kind, decay.time_constant_days_other)
    return base * (1 + decay.importance_stretch * importance) * (1 + math.log1p(uses))


def retention(age: float, *, time_constant_days: float) -> float:
    """Return R = exp(-age / S), in [0, 1]; what has no time to last is gone after its moment.

    >>> retention(0, time_constant_days=30), retention(1, time_constant_days=0)
    (1.0, 0.0)
    """
    if time_constant_days <= 0:
        return 0.0 if age > 0 else 1.0
    return math.exp(-age / time_constant_days)


def ranking_term(weight: float) -> float:
    """Return *weight* as ranking sees it: clamp(sqrt(weight), 0.3, 1.5) / 1.5, in [0.2, 1].

    >>> ranking_term(0.01), ranking_term(10)
    (0.19999999999999998, 1.0)
    """
    root = math.sqrt(max(0.0, weight))
    return clamped(root, at_least=RANKING_ROOT_MIN, at_most=RANKING_ROOT_MAX) / RANKING_ROOT_MAX


def clamped(value: float, *, at_least: float, at_most: float) -> float:
    """Return *value* between two bounds; where they cross, the upper one holds."""
    return min(max(value, at_least), at_most)
