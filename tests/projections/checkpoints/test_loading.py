"""A damaged file is written anew by who keeps the projections, and only while it is known."""

import pytest

from contracts.projecting import place_in, settle
from mnemolog.projections.checkpoints.file_format import Kept, snapshot
from mnemolog.projections.checkpoints.loading import Sources
from mnemolog.projections.checkpoints.projection import CheckpointsProjection
from mnemolog.projections.checkpoints.reading import CheckpointReader
from mnemolog.schemas.events.memory import MemoryForgotten
from support.checkpoints import checkpoint, files, saved
from support.histories import batches, identity, recorded

EVENTS = [saved("c1"), MemoryForgotten(events=[identity("saved-ops-1-c1")])]
MADE = snapshot(checkpoint("c1"))


@pytest.fixture
def kept(tmp_path):
    """Return the projection with a damaged file, and the batch that forgets it."""
    projection = CheckpointsProjection.open(place_in(tmp_path))
    first, second = batches(recorded(*EVENTS), records_max=1)
    projection.apply(first)
    settle(projection)
    (place_in(tmp_path).folder / "files" / MADE.name).write_bytes(MADE.content[:-1])
    yield projection, second
    projection.close()


def opened(tmp_path, logged, *, mends):
    sources = Sources(logged=logged, mends=lambda: mends)
    return CheckpointReader.open(place_in(tmp_path).folder, sources=sources)


@pytest.mark.parametrize("mends", [True, False])
def test_the_keeper_writes_a_damaged_file_anew_and_a_reader_leaves_it(tmp_path, kept, mends):
    asked = opened(tmp_path, lambda _: Kept(checkpoint("c1")), mends=mends)
    assert asked.get("c1").checkpoint == checkpoint("c1")
    content = (place_in(tmp_path).folder / "files" / MADE.name).read_bytes()
    assert (content == MADE.content) is mends
    asked.close()


def test_what_is_forgotten_while_it_is_read_from_the_log_is_not_written_anew(tmp_path, kept):
    projection, forgetting = kept

    def forgotten_meanwhile(_):
        projection.apply(forgetting)
        return Kept(checkpoint("c1"))

    asked = opened(tmp_path, forgotten_meanwhile, mends=True)
    asked.get("c1")
    assert files(place_in(tmp_path).folder) == []
    asked.close()
