"""What the rules of single events give: drafts of memories, or the reason for none.

Numbers that are not the policy's stand here, by name: they are part of the rule's version.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final

from mnemolog.schemas.policy import WritePolicy

MEMORY_CHARACTERS_MAX: Final = 20_000  # of a memory's text; the log keeps the whole

# How sure a memory is, in thousandths, by who stated it.
CONFIDENCE: Final[Mapping[str, int]] = MappingProxyType(
    {"user": 900, "tool": 900, "agent": 700, "inferred": 600}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory without what the envelope says; `importance` and `confidence` in thousandths."""

    kind: str
    text: str
    importance: int
    stated_by: str
    reason: str
    confidence: int | None = None  # None: by who stated it
    tags: Sequence[str] = ()
    entities: Sequence[str] = ()  # beside those found in its words
    names_in: str | None = None  # its words without our labels, where they differ from the text
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    from_events: Sequence[str] = ()
    from_memories: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Nothing:
    """No memory, and why."""

    reason: str


Drafts = Sequence[Draft] | Nothing


def thousandths(share: float) -> int:
    """Return *share*, a number in [0, 1], as whole thousandths."""
    return round(share * 1_000)


def importance_of(
    kind: str, write: WritePolicy, *, success: bool | None = False, praised: bool = False
) -> int:
    """Return how important a memory of *kind* is at first, in thousandths, at most 1,000.

    A kind that has a number of its own has that; the others begin at `importance`.
    """
    share = _of_kind(kind, write)
    share += write.importance_success if success else 0
    share += write.importance_positive_feedback if praised else 0
    return min(1_000, thousandths(share))


def _of_kind(kind: str, write: WritePolicy) -> float:
    match kind:
        case "preference":
            return write.importance_preference
        case "concept":
            return write.importance_concept
        case "fact":
            return write.importance_fact
        case "constraint":
            return max(write.importance, write.importance_constraint_min)
        case "lesson" | "skill":  # both were learned
            return write.importance + write.importance_lesson
        case _:
            return write.importance


def binding_importance(kind: str, write: WritePolicy) -> int:
    """Return the importance of what was said outright: a decision binds as a constraint does."""
    return importance_of("constraint" if kind == "decision" else kind, write)
