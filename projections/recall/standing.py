"""Whether a memory holds at a time of the world: now, or at the time that a question names."""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum

from mnemolog.projections.memories.rows import MemoryRow


class Standing(StrEnum):
    """How a memory relates to what holds. The values are shown to callers: they never change."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    NOT_YET_VALID = "not yet valid"
    ARCHIVED = "archived"  # laid aside, but not known to be wrong

    @property
    def is_outdated(self) -> bool:
        """Whether what the memory says must not be taken as it stands."""
        return self not in {Standing.CURRENT, Standing.ARCHIVED}


def standing_now(row: MemoryRow, at: datetime) -> Standing:
    """Return how *row* stands at *at*, given all that is known."""
    if row.superseded:
        return Standing.SUPERSEDED
    held = _within_validity(row, at)
    return Standing.ARCHIVED if held is Standing.CURRENT and row.archived else held


def standing_then(
    row: MemoryRow, as_of: datetime, *, successors: Mapping[str, MemoryRow]
) -> Standing:
    """Return how *row* stood at *as_of*: what was replaced later held until then.

    A replacement took effect where its validity begins, or else when it occurred. Where neither
    it nor an end of validity is known, the replaced memory counts as superseded. Archiving is
    about attention, not truth: it doesn't reach back.
    """
    held = _within_validity(row, as_of)
    if held is not Standing.CURRENT or not row.superseded:
        return held
    if row.valid_until is not None:
        return Standing.CURRENT
    successor = successors.get(row.superseded_by or "")
    if successor is None:
        return Standing.SUPERSEDED
    began = successor.valid_from or successor.occurred_at
    return Standing.CURRENT if as_of < began else Standing.SUPERSEDED


def _within_validity(row: MemoryRow, at: datetime) -> Standing:
    if row.valid_until is not None and row.valid_until <= at:
        return Standing.SUPERSEDED if row.superseded else Standing.EXPIRED
    if row.valid_from is not None and at < row.valid_from:
        return Standing.NOT_YET_VALID
    return Standing.CURRENT
