"""Where a tenant's generations stand, and how the serving one of each projection is opened."""

from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from mnemolog.projections.generations import Description, Generations, described
from mnemolog.projections.kinds import Kind
from mnemolog.projections.projection import Place, Projection
from mnemolog.projections.room import Room
from mnemolog.schemas.errors import (
    Damaged,
    InvalidSetting,
    LogReplaced,
    NeedsRebuild,
    NewerRelease,
)

_log = structlog.get_logger("mnemolog.shelf")


@dataclass(frozen=True, slots=True)
class Shelf:
    """The generations of one tenant, built from the log *topic* of *partitions*.

    *room* says how full the disk may be for work that can wait.
    """

    tenant_folder: Path
    tenant: str
    topic: str
    partitions: int
    room: Room = field(default_factory=Room)

    def generations(self, name: str) -> Generations:
        """Return the generations of the projection *name*."""
        return Generations(self.tenant_folder / name)

    def check(self, kind: Kind) -> None:
        """Raise if the serving generation is not this code's to write; nothing is opened.

        LogReplaced if it was built from another log, NeedsRebuild or NewerRelease if by another
        fold, InvalidSetting if with another embedder. None, or a damaged one, is no obstacle.
        """
        serving = self.generations(kind.name).serving()
        if serving is not None:
            with suppress(Damaged):
                self._check(kind, described(serving))

    def open_serving(self, kind: Kind, *, epoch: int, thorough: bool = False) -> Projection:
        """Open the serving generation for writing; begin one where none serves.

        A damaged one is set aside and the log brings its content back into a new one; *thorough*
        has it looked at closely. Raises what `check` does.
        """
        serving = self.generations(kind.name).serving()
        if serving is not None:
            try:
                self._check(kind, described(serving))
                return kind.open(self.place(serving, epoch=epoch, thorough=thorough))
            except Damaged as error:
                return self.begin_anew(kind, serving, error, epoch=epoch)
        return self._begun(kind, epoch=epoch)

    def begin_anew(self, kind: Kind, damaged: Path, error: Damaged, *, epoch: int) -> Projection:
        """Let a new, empty generation serve in place of *damaged*; the log fills it."""
        _log.warning("set aside; the log brings it back", error=str(error))
        opened = self._begun(kind, epoch=epoch)
        self.generations(kind.name).set_aside(damaged, str(error))
        return opened

    def _begun(self, kind: Kind, *, epoch: int) -> Projection:
        folder = self.create(kind)
        self.generations(kind.name).serve(folder)
        return kind.open(self.place(folder, epoch=epoch))

    def create(self, kind: Kind) -> Path:
        """Make the folder of a new generation, which does not serve yet."""
        description = Description(
            projection=kind.name,
            version=kind.version,
            topic=self.topic,
            partitions=self.partitions,
            options=dict(kind.options),
        )
        return self.generations(kind.name).create(description)

    def place(self, folder: Path, *, epoch: int, thorough: bool = False) -> Place:
        """Return what a projection has to know of its place in *folder*."""
        return Place(
            folder=folder,
            tenant=self.tenant,
            tenant_folder=self.tenant_folder,
            topic=self.topic,
            epoch=epoch,
            thorough=thorough,
            room=self.room,
        )

    def swap(self, name: str, folder: Path) -> None:
        """Let the generation in *folder* serve, and delete all older ones but the one it replaces.

        So what rebuilds that died have left goes, too, and never in place of the one that served.
        """
        generations = self.generations(name)
        former = generations.serving()
        generations.serve(folder)
        for old in generations.names():
            if old < folder.name and generations.folder / old != former:
                generations.discard(generations.folder / old)

    def _check(self, kind: Kind, found: Description) -> None:
        if (found.topic, found.partitions) != (self.topic, self.partitions):
            reason = f"{kind.name} was built from {found.topic} of {found.partitions} partitions"
            raise LogReplaced(self.topic, partition=0, offset=0, reason=reason)
        if found.version > kind.version:
            reason = f"it serves version {found.version}; this one folds {kind.version}"
            raise NewerRelease(kind.name, reason)
        if found.version != kind.version:
            limit = f"this code folds version {kind.version}; run `mnemolog rebuild {kind.name}`"
            raise NeedsRebuild(f"{kind.name} version", found.version, limit)
        if found.options != dict(kind.options):
            limit = f"it was built with {found.options}; run `mnemolog rebuild {kind.name}`"
            raise InvalidSetting(kind.name, dict(kind.options), limit)
