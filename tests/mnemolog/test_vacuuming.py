"""Old generations leave the disk after their time; what serves, or is looked at, never."""

import os
import time
from contextlib import closing

import pytest

from mnemolog.projections.generations import SET_ASIDE
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.vacuuming import vacuum
from support.remembering import opened

LATER = 1000.0


@pytest.fixture
def memory(tmp_path):
    with closing(opened(tmp_path)) as memory:
        memory.wait_for(memory.observe("it rains", agent="ops-1").token)
        memory.rebuild("weights")
        yield memory


def names(memory):
    return memory.engine.shelf.generations("weights").names()


def swept(memory, *, after=0.0, retired_seconds=LATER):
    present = time.time() + after
    return vacuum(memory.engine, present=present, retired_seconds=retired_seconds)


def test_what_was_replaced_is_kept_for_its_time_and_then_deleted(memory):
    assert names(memory) == ["000001", "000002"]
    assert swept(memory) == []
    assert [path.name for path in swept(memory, after=LATER + 60)] == ["000001"]
    assert names(memory) == ["000002"]
    assert swept(memory, after=LATER + 60) == []
    assert memory.recall("rain").memories


def test_a_build_that_nobody_ended_is_deleted_after_its_time(memory):
    generations = memory.engine.shelf.generations("weights")
    left = generations.folder / "000003"
    left.mkdir()
    assert swept(memory) == []
    old = time.time() - LATER - 60
    os.utime(left, (old, old))
    assert swept(memory) == [left]


def test_what_was_set_aside_stays_for_who_wants_to_know_why(memory):
    generations = memory.engine.shelf.generations("weights")
    (generations.folder / "000001" / SET_ASIDE).write_text("damaged")
    assert swept(memory, after=LATER + 60) == []


def test_nothing_is_deleted_while_something_is_built(memory):
    with memory.engine.maintaining:
        assert swept(memory, after=LATER + 60) == []
    assert len(swept(memory, after=LATER + 60)) == 1


def test_who_does_not_keep_the_folder_deletes_nothing(memory, tmp_path):
    with opened(tmp_path) as other:
        assert swept(other, after=LATER + 60) == []


def test_what_can_not_be_deleted_is_told(memory, monkeypatch):
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)
    with pytest.raises(StoreUnavailable, match="can't be deleted"):
        swept(memory, after=LATER + 60)
