"""The port of a projection: code that keeps one read model in step with the log."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from mnemolog.projections.batch import Batch
from mnemolog.projections.digests import ContentRow
from mnemolog.projections.ledger import ParkedRecord
from mnemolog.projections.progress import Progress
from mnemolog.projections.room import Room


class Projection(Protocol):
    """One generation of a read model, open for writing. One thread at a time uses it.

    `version` is that of the fold: raise it when the same events give other content.
    """

    @property
    def name(self) -> str:
        """The projection's name, which names its folder and progress for ever."""
        ...

    @property
    def version(self) -> int:
        """The fold's version."""
        ...

    def progress(self) -> Mapping[int, Progress]:
        """Return how far each partition has been applied; those never seen are absent."""
        ...

    def apply(self, batch: Batch) -> None:
        """Fold what is new in *batch*: rows and progress together, repeats without effect.

        An event that can't be applied is parked, its key's later ones behind it. Raises
        StoreUnavailable when the store failed: nothing moved, and the same batch may come again.
        """
        ...

    def follow_up(self, *, seconds_max: float) -> bool:
        """Do some of what comes after the rows (vectors, publishing); say whether more is left."""
        ...

    def settled(self) -> Mapping[int, int]:
        """Return the last offset of each partition up to which rows and follow-up are done."""
        ...

    def content(self) -> Iterator[ContentRow]:
        """Yield every row that the content digest covers, as it is served, in any order."""
        ...

    def parked(self) -> Sequence[ParkedRecord]:
        """Return the parked records in the order of their keys and positions."""
        ...

    def close(self) -> None:
        """Let go of the store. Harmless twice."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where a generation lives, and what stands beside it."""

    folder: Path  # the generation's own
    tenant: str
    tenant_folder: Path  # holds the vector cache and what is published
    topic: str
    epoch: int = 0  # of the lease: a later owner's rows win over a former one's
    thorough: bool = False  # the last owner may have left damage: look closely
    room: Room = field(default_factory=Room)
