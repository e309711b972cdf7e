"""A sound folder, made once, and a copy of it for each test that spoils one."""

import shutil

import pytest

from mnemolog.projections.kinds import NAMES
from support.remembering import opened

SAID = ("the pool of auth is exhausted", "lunch is at noon", "db-7 refuses connections")


@pytest.fixture(scope="session")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    with opened(folder, agent="ops-1", task="t-1") as mem:
        for text in SAID:
            mem.observe(text)
        mem.decide("restart auth", why="its pool is exhausted")
        mem.checkpoint(current_goal="auth answers", plan_summary="restart it")
        mem.wait_for(mem.end(), projections=NAMES)
    return folder


@pytest.fixture
def data(sound, tmp_path):
    """A folder of a tenant whose history has been projected and published, nobody's to spoil."""
    return shutil.copytree(sound, tmp_path / "data")
