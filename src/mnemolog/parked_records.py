"""How what is parked and what is foreign is told of, and how one says which is meant."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any, Self

from mnemolog.maintaining import checked
from mnemolog.projections.ledger import ForeignRecord
from mnemolog.schemas.envelope import key_of
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord


@dataclass(frozen=True, slots=True)
class ParkedEvent:
    """An event that *projection* could not apply; its agent's later ones wait behind it.

    `behind` says that it is one of those. `newer`: later code can apply it. `waiting` counts those
    behind it.
    """

    projection: str
    position: Position
    key: str  # the agent, or what else orders it
    identity: str
    event_type: str
    recorded_at: datetime | None
    reason: str
    newer: bool
    behind: bool
    waiting: int

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {**asdict(self), "position": str(self.position)}


@dataclass(frozen=True, slots=True)
class ParkedPage:
    """Some of what is parked; `next` continues the list, None at its end."""

    events: tuple[ParkedEvent, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class ParkedWhole:
    """A parked event with its bytes, which are None where neither ledger nor log has them."""

    event: ParkedEvent
    record: LogRecord | None
    followers: tuple[Position, ...]  # the first that wait behind it
    advice: str


@dataclass(frozen=True, slots=True)
class ForeignPage:
    """Some of the records that are no events of this log; `next` continues the list."""

    records: tuple[ForeignRecord, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Retried:
    """What became of one key's parked events: how many went on, and how many still wait."""

    projection: str
    key: str
    went_on: int
    left: int
    reason: str | None = None  # why the first of those still waits

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        said = f"{self.projection}, {self.key}: {self.went_on} went on"
        return f"{said}, {self.left} still parked: {self.reason}" if self.left else said


@dataclass(frozen=True, slots=True)
class Which:
    """Which parked events are meant: those of *projections*, of a key, at a place."""

    projections: Iterable[str] = ()
    key: str | None = None
    position: Position | None = None
    names: tuple[str, ...] = field(init=False)

    @classmethod
    def of(
        cls, position: str | None, *, projections: Iterable[str] = (), agent: str | None = None
    ) -> Self:
        """Return what a person's words mean. Raises InvalidSetting."""
        place = None if position is None else position_of(position)
        return cls(projections, None if agent is None else key_of(agent), place)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(checked(self.projections)))

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        place = None if self.position is None else str(self.position)
        return {"projections": list(self.names), "key": self.key, "position": place}


def position_of(text: str) -> Position:
    """Return the place that *text* names, as lists print it. Raises InvalidSetting."""
    partition, _, offset = text.partition("@")
    if not (partition.isdecimal() and offset.isdecimal()):
        raise InvalidSetting("position", text, "a place is PARTITION@OFFSET, such as 0@17")
    return Position(int(partition), int(offset))
