"""The four projections, by name: how each is opened, and what shapes its content beside the log."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemolog.projections.projection import Place, Projection

if TYPE_CHECKING:
    from mnemolog.projections.memories.embedding import Embedder

MEMORIES: Final = "memories"
ANALYTICS: Final = "analytics"
CHECKPOINTS: Final = "checkpoints"
WEIGHTS: Final = "weights"
NAMES: Final = (MEMORIES, ANALYTICS, CHECKPOINTS, WEIGHTS)
# Of each fold: raised when the same events give other content. Readers compare with it, too.
VERSIONS: Final[Mapping[str, int]] = {MEMORIES: 2, ANALYTICS: 4, CHECKPOINTS: 2, WEIGHTS: 3}
VECTORS_FILE: Final = "vectors.db"  # of a tenant's folder; it only saves work


@dataclass(frozen=True, slots=True)
class Kind:
    """A projection that can be opened: `version` is its fold's, `options` shape its content."""

    name: str
    version: int
    open: Callable[[Place], Projection]
    options: Mapping[str, Any]


def kinds(*, embedder: "Embedder", tenant_folder: Path) -> dict[str, Kind]:
    """Return all projections; the memories' vectors come from *embedder* and the tenant's cache."""
    # Drivers are heavy: a command that projects nothing must not load them.
    from mnemolog.projections.analytics.projection import AnalyticsProjection  # noqa: PLC0415
    from mnemolog.projections.checkpoints.projection import CheckpointsProjection  # noqa: PLC0415
    from mnemolog.projections.memories.projection import MemoriesProjection  # noqa: PLC0415
    from mnemolog.projections.memories.sqlite_vector_cache import (  # noqa: PLC0415
        SQLiteVectorCache,
    )
    from mnemolog.projections.weights.projection import WeightsProjection  # noqa: PLC0415

    def open_memories(place: Place) -> Projection:
        cache = SQLiteVectorCache(tenant_folder / VECTORS_FILE)
        try:
            return MemoriesProjection.open(place, embedder=embedder, cache=cache)
        except BaseException:
            cache.close()
            raise

    made_of = {"embedder": embedder.model_id, "dimensions": embedder.dimensions}
    every = (
        Kind(MEMORIES, MemoriesProjection.version, open_memories, made_of),
        Kind(ANALYTICS, AnalyticsProjection.version, AnalyticsProjection.open, {}),
        Kind(CHECKPOINTS, CheckpointsProjection.version, CheckpointsProjection.open, {}),
        Kind(WEIGHTS, WeightsProjection.version, WeightsProjection.open, {}),
    )
    return {kind.name: kind for kind in every}
