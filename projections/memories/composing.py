"""A memory as it is served: what formed it, and what other events say of it.

Pure and order-free: the same contributions in any order give the same memory.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from mnemolog.projections.formed_memory import FormedMemory
from mnemolog.projections.memories.contributions import Contribution, ContributionKind
from mnemolog.projections.memories.moments import moment_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A memory with all that is said of it; `importance` is in thousandths."""

    formed: FormedMemory
    importance: int
    valid_until: datetime | None
    superseded: bool = False
    superseded_by: str | None = None
    archived: bool = False
    levels: Mapping[int, str] = field(default_factory=dict)


def composed(formed: FormedMemory, contributions: Collection[Contribution]) -> Composed:
    """Return *formed* with what *contributions* say of it.

    It is superseded or archived as soon as one says so, and valid until the earliest end that
    is named. Of several importances, replacements or texts of a level the `latest` counts.
    """
    superseded = _of_kind(contributions, "superseded")
    importance = latest(_of_kind(contributions, "importance"))
    named = latest(one for one in superseded if one.text is not None)
    return Composed(
        formed=formed,
        importance=formed.importance if importance is None else importance.number or 0,
        valid_until=_earliest_end(formed, superseded),
        superseded=bool(superseded),
        superseded_by=None if named is None else named.text,
        archived=bool(_of_kind(contributions, "archived")),
        levels=_levels(_of_kind(contributions, "summary")),
    )


def latest(contributions: Iterable[Contribution]) -> Contribution | None:
    """Return the contribution that counts, if there is any.

    Of one key it is the last one by position, for there is an order; of several keys the one
    that occurred last, ties by identity, for there is none.
    """
    last: dict[str, Contribution] = {}
    for one in contributions:
        if one.key not in last or last[one.key].offset < one.offset:
            last[one.key] = one
    return max(last.values(), key=lambda one: (one.occurred_at, one.cause), default=None)


def _of_kind(contributions: Collection[Contribution], kind: ContributionKind) -> list[Contribution]:
    return [one for one in contributions if one.kind == kind]


def _earliest_end(formed: FormedMemory, superseded: list[Contribution]) -> datetime | None:
    ends = [moment_of(one.number) for one in superseded if one.number is not None]
    own = [] if formed.valid_until is None else [formed.valid_until]
    return min([*own, *ends], default=None)


def _levels(summaries: list[Contribution]) -> dict[int, str]:
    found = {}
    for level in sorted({one.level for one in summaries}):
        counts = latest(one for one in summaries if one.level == level)
        assert counts is not None
        found[level] = counts.text or ""
    return found
