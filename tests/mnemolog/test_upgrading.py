"""A release whose fold changed: appending goes on, and a rebuild brings the rest back."""

import pytest

from mnemolog.projections.weights.projection import WeightsProjection
from mnemolog.schemas.errors import NeedsRebuild
from support.remembering import opened, texts


@pytest.fixture
def folder(tmp_path, monkeypatch):
    with opened(tmp_path, agent="ops-1") as mem:
        mem.wait_for(mem.observe("the pool of auth").token)
    monkeypatch.setattr(WeightsProjection, "version", WeightsProjection.version + 1)
    return tmp_path


def test_appending_goes_on_and_who_waits_hears_what_to_do(folder):
    with opened(folder, agent="ops-1") as mem:
        assert not mem.engine.is_owner
        token = mem.observe("the pool of order").token
        with pytest.raises(NeedsRebuild, match="mnemolog rebuild weights"):
            mem.wait_for(token)


def test_a_rebuild_brings_back_what_was_appended_meanwhile(folder):
    with opened(folder, agent="ops-1") as mem:
        mem.observe("the pool of order")
    with opened(folder, rebuilding=["weights"]) as mem:
        mem.rebuild("weights")
    with opened(folder) as mem:
        mem.wait_for(mem.end())
        assert set(texts(mem.recall("pool"))) == {"the pool of auth", "the pool of order"}
