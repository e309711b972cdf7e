"""What every projection does, whatever it keeps: one suite, which each projection runs.

    class TestWeights(ProjectionContract):
        fault_points = FAULT_POINTS

        def open(self, folder):
            return WeightsProjection.open(place_in(folder))

The history in it has an event of most kinds. How it is delivered must not matter: that is what the
content digest is for.
"""

from contracts.projecting import Died, changed, place_in, settle
from contracts.projection_delivery import DeliveryContract
from contracts.projection_parking import ParkingContract

__all__ = ["Died", "ProjectionContract", "changed", "place_in", "settle"]


class ProjectionContract(DeliveryContract, ParkingContract):
    """What every projection does. Subclass it, say how to open one and name its fault points."""
