"""What was seen of a tenant at one moment: what health, metrics and `status --watch` show."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mnemolog.health import Health

if TYPE_CHECKING:
    from mnemolog.streams.tally import Tally


@dataclass(frozen=True, slots=True)
class ProjectionSeen:
    """How one projection stood."""

    lag_events: int
    lag_seconds: float
    still_seconds: float
    parked: int
    foreign: int


@dataclass(frozen=True, slots=True)
class ProcessorSeen:
    """How one processor stood that ran on the folder; `waiting` are causes, `held` keys."""

    lag_events: int
    waiting: int
    held: int
    parked: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What only grows while the tenant is open: a new opening begins at 0 again."""

    appended: int = 0
    readers_replaced: int = 0  # by the client itself, where it gave nothing of what there was
    tally: "Tally | None" = None  # the dispatcher's, where this process keeps the projections

    @property
    def applied(self) -> int:
        """How many records were read and applied."""
        return 0 if self.tally is None else self.tally.records.value

    @property
    def stalls(self) -> int:
        """How many readers stood still and were replaced."""
        own = 0 if self.tally is None else self.tally.recreated.value
        return own + self.readers_replaced


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What is looked at seldom: disk, golden queries, old generations.

    `failures` are maintenance runs that failed since this process watches, by what they were;
    `in_a_row` those of the index that failed without one that succeeded.
    """

    disk_bytes: Mapping[tuple[str, str], int] = field(default_factory=dict)
    disk_used_share: float = 0.0
    failures: Mapping[str, int] = field(default_factory=dict)
    in_a_row: int = 0
    golden_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """A tenant at the moment `at_seconds` of the watching clock."""

    tenant: str
    at_seconds: float
    health: Health
    is_open: bool = False
    is_owner: bool = False
    projections: Mapping[str, ProjectionSeen] = field(default_factory=dict)
    processors: Mapping[str, ProcessorSeen] = field(default_factory=dict)
    vectors_outstanding: int = 0
    counted: Counted = field(default_factory=Counted)
    upkeep: Upkeep = field(default_factory=Upkeep)
