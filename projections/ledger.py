"""What a generation knows beside its rows: progress, what was seen, what waits, what is foreign.

A ledger lives in the generation's own store where that has transactions, so that rows and
progress move together; else in a SQLite file beside it, written after the rows.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Protocol, Self

from mnemolog.projections.progress import Progress
from mnemolog.schemas.policy import Policy
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord

OFFSET_MAX: Final = 2**63 - 1  # beyond any end of a log


@dataclass(frozen=True, slots=True)
class ParkedRecord:
    """An event that waits, whole; `behind` tells that an earlier one of its key is the reason."""

    record: LogRecord
    key: str
    identity: str
    event_type: str
    reason: str
    newer: bool = False
    behind: bool = False


@dataclass(frozen=True, slots=True)
class ParkedSummary:
    """What is told of a parked event, without its bytes.

    `waiting` are the later ones of its key that wait behind it. It and `recorded_at` are told
    where lists are made.
    """

    position: Position
    key: str
    identity: str
    event_type: str
    reason: str
    newer: bool
    behind: bool
    recorded_at: datetime | None = None
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """A record that is no event of this log, whole."""

    record: LogRecord
    reason: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """A second event of an identity that says something else than the first."""

    identity: str
    position: Position
    content: str


@dataclass(frozen=True, slots=True)
class PolicyInForce:
    """A partition's policy, its revision and the offset it holds from; 0 is the built-in one."""

    revision: int
    policy: Policy
    since: int = -1

    @classmethod
    def read(cls, row: Sequence[Any]) -> Self:
        """Return what a store holds as revision, JSON and offset."""
        revision, policy, since = row
        return cls(revision, Policy.model_validate_json(policy), since)


@dataclass
class Entries:
    """What one batch adds to a ledger."""

    progress: dict[int, Progress] = field(default_factory=dict)
    firsts: dict[int, Progress] = field(default_factory=dict)  # each partition's first record
    seen: dict[str, str] = field(default_factory=dict)  # identity -> content
    repeats: list[Repeat] = field(default_factory=list)
    foreign: list[ForeignRecord] = field(default_factory=list)
    released: list[Position] = field(default_factory=list)  # no longer parked
    parked: list[ParkedRecord] = field(default_factory=list)
    policies: list[tuple[int, PolicyInForce]] = field(default_factory=list)  # of partitions
    skips: set[str] = field(default_factory=set)  # identities to drop instead of parking them


class Ledger(Protocol):
    """The bookkeeping of one generation."""

    def progress(self) -> dict[int, Progress]:
        """Return how far each partition has been applied."""
        ...

    def firsts(self) -> dict[int, Progress]:
        """Return the first record that was applied of each partition."""
        ...

    def seen(self, identities: Sequence[str]) -> dict[str, str]:
        """Return the contents of those *identities* that were applied before."""
        ...

    def policies(self) -> dict[int, PolicyInForce]:
        """Return the policy in force at the end of each partition that has seen one."""
        ...

    def policy_at(self, position: Position) -> PolicyInForce | None:
        """Return the policy in force at *position*, or None where none was seen up to there.

        Of those that hold from it or before, it is the one of the highest revision; of two of
        one revision the earlier one.
        """
        ...

    def skips(self, identities: Iterable[str]) -> set[str]:
        """Return those *identities* that are to be dropped where they would have to be parked."""
        ...

    def parked_keys(self) -> set[str]:
        """Return the keys that have a parked event."""
        ...

    def parked(self) -> list[ParkedRecord]:
        """Return what is parked, by partition and offset."""
        ...

    def foreign(self, *, records_max: int) -> list[ForeignRecord]:
        """Return the first foreign records, by partition and offset."""
        ...

    def repeats(self, *, repeats_max: int) -> list[Repeat]:
        """Return the first repeats with other content, by partition and offset."""
        ...

    def record(self, entries: Entries) -> None:
        """Write *entries*: in the transaction of the rows, or durably by itself after them."""
        ...

    def counts(self) -> Mapping[str, int]:
        """Return how many records are parked, foreign and repeats, by these words."""
        ...
