"""An owner of a folder whose generation serves, with a clock that stands still."""

import pytest

from contracts.projection_contract import place_in
from mnemolog.projections.analytics.projection import AnalyticsProjection
from mnemolog.projections.analytics.publisher import Publisher
from mnemolog.projections.generations import Generations


class Clock:
    def __init__(self):
        self.seconds = 1_000.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def owner(tmp_path, clock):
    place = place_in(tmp_path)
    Generations(place.folder.parent).serve(place.folder)
    projection = AnalyticsProjection.open(place)
    projection._publisher = Publisher(projection._connection, place, now=clock)
    yield projection
    projection.close()
