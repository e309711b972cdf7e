"""The checkpoints projection: it is a projection like all others, and what it alone does."""

from contracts.projection_contract import ProjectionContract, place_in
from mnemolog.projections.checkpoints.projection import FAULT_POINTS, CheckpointsProjection
from mnemolog.projections.checkpoints.sqlite_index import INDEX_FILE


class TestCheckpointsProjection(ProjectionContract):
    fault_points = FAULT_POINTS
    ledger_file = INDEX_FILE

    def open(self, folder):
        return CheckpointsProjection.open(place_in(folder))
