"""The four projections keep one contract."""

from contracts.projection_contract import ProjectionContract, place_in, settle
from mnemolog.projections.analytics import projection as analytics
from mnemolog.projections.checkpoints import projection as checkpoints
from mnemolog.projections.checkpoints.sqlite_index import INDEX_FILE
from mnemolog.projections.memories import projection as memories
from mnemolog.projections.memories.embedding import CheckedEmbedder
from mnemolog.projections.memories.hashing_embedder import HashingModel
from mnemolog.projections.memories.sqlite_vector_cache import SQLiteVectorCache
from mnemolog.projections.memories.state_schema import STATE_FILE
from mnemolog.projections.weights import projection as weights
from mnemolog.projections.weights.sqlite_rows import FILE


class TestCheckpoints(ProjectionContract):
    fault_points = checkpoints.FAULT_POINTS
    ledger_file = INDEX_FILE

    def open(self, folder):
        return checkpoints.CheckpointsProjection.open(place_in(folder))


class TestWeights(ProjectionContract):
    fault_points = weights.FAULT_POINTS
    ledger_file = FILE

    def open(self, folder):
        return weights.WeightsProjection.open(place_in(folder))


class TestMemories(ProjectionContract):
    fault_points = memories.FAULT_POINTS
    ledger_file = STATE_FILE

    def open(self, folder):
        cache = SQLiteVectorCache(folder / "vectors.db")
        embedder = CheckedEmbedder(HashingModel())
        return memories.MemoriesProjection.open(place_in(folder), embedder=embedder, cache=cache)


class TestAnalytics(ProjectionContract):
    fault_points = analytics.FAULT_POINTS

    def open(self, folder):
        return analytics.AnalyticsProjection.open(place_in(folder))

    def finish(self, projection, folder):
        settle(projection)
        projection.publish(folder / "published")
