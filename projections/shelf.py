"""Where a tenant's generations stand, and how the serving one of each projection is opened."""

from dataclasses import dataclass
from pathlib import Path

import structlog

from mnemolog.projections.generations import Description, Generations, described
from mnemolog.projections.kinds import Kind
from mnemolog.projections.projection import Place, Projection
from mnemolog.schemas.errors import Damaged, InvalidSetting, LogReplaced, NeedsRebuild

_log = structlog.get_logger("mnemolog.shelf")


@dataclass(frozen=True, slots=True)
class Shelf:
    """The generations of one tenant, built from the log *topic* of *partitions*."""

    tenant_folder: Path
    tenant: str
    topic: str
    partitions: int

    def generations(self, name: str) -> Generations:
        """Return the generations of the projection *name*."""
        return Generations(self.tenant_folder / name)

    def open_serving(self, kind: Kind, *, epoch: int) -> Projection:
        """Open the serving generation for writing; begin one where none serves.

        A damaged one is set aside and the log brings its content back into a new one. Raises
        LogReplaced if it was built from another log, InvalidSetting if by another fold or embedder.
        """
        generations = self.generations(kind.name)
        serving = generations.serving()
        if serving is not None:
            try:
                self._check(kind, described(serving))
                return kind.open(self.place(serving, epoch=epoch))
            except Damaged as error:
                _log.warning("set aside; the log brings it back", error=str(error))
        folder = self.create(kind)
        generations.serve(folder)
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

    def place(self, folder: Path, *, epoch: int) -> Place:
        """Return what a projection has to know of its place in *folder*."""
        return Place(
            folder=folder,
            tenant=self.tenant,
            tenant_folder=self.tenant_folder,
            topic=self.topic,
            epoch=epoch,
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
        if found.version != kind.version:
            limit = f"this code folds version {kind.version}; run `mnemolog rebuild {kind.name}`"
            raise NeedsRebuild(f"{kind.name} version", found.version, limit)
        if found.options != dict(kind.options):
            limit = f"it was built with {found.options}; run `mnemolog rebuild {kind.name}`"
            raise InvalidSetting(kind.name, dict(kind.options), limit)
