"""The analysts' tables keep the one contract of projections."""

from contracts.projection_contract import ProjectionContract, place_in
from mnemolog.projections.analytics import projection as analytics
from mnemolog.projections.generations import Generations


class TestAnalytics(ProjectionContract):
    fault_points = analytics.FAULT_POINTS

    def open(self, folder):
        place = place_in(folder)
        Generations(place.folder.parent).serve(place.folder)  # so that it publishes
        return analytics.AnalyticsProjection.open(place)
