"""How far a projection has come. Numbers say "last applied"; one property says "next to apply"."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one projection has durably applied one partition.

    `fingerprint` is that of the last applied record, so that resuming can tell whether the log
    is still the same; it is empty before the first.
    """

    partition: int
    last_applied: int = -1
    fingerprint: str = ""

    @property
    def next_to_apply(self) -> int:
        """The offset at which reading resumes."""
        return self.last_applied + 1


class Arrival(Enum):
    """How a record relates to what a projection has applied."""

    NEXT = "next"
    ALREADY_APPLIED = "already applied"


def arrival(progress: Progress, offset: int) -> Arrival:
    """Say how *offset* relates to *progress*. Offsets may have holes, so a gap is no event."""
    return Arrival.NEXT if offset >= progress.next_to_apply else Arrival.ALREADY_APPLIED
