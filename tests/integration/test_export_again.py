"""An export or an import that dies is run again; old versions, long chains of logs, own logs."""

import json
import subprocess
import sys
from functools import partial

import pytest

from mnemolog.importers.importing import import_paths
from mnemolog.memory import Memory
from mnemolog.schemas import codec
from mnemolog.schemas.events.experience import ObservationRecorded
from support.log_engines import MemoryEngine
from support.moved_history import account, fill
from support.remembering import opened

DIES = """
import os, sys
from mnemolog.importers.importing import import_paths
from mnemolog.memory import Memory
with Memory(sys.argv[1], partitions=4, projects=False) as memory:
    engine, batches = memory.engine, []
    def tell(_):
        batches.append(_)
        if len(batches) == 3:
            os.kill(os.getpid(), 9)
    import_paths([sys.argv[2]], publisher=engine.publisher, log=engine.log, blobs=engine.blobs,
                 batch=5, on_progress=tell)
"""


def taken(memory: Memory, path, **how):
    engine = memory.engine
    return import_paths(
        [path], publisher=engine.publisher, log=engine.log, blobs=engine.blobs, **how
    )


def filled(path, *, partitions=1):
    """Export a history to *path*, and return its account."""
    with opened(partitions=partitions) as memory:
        fill(memory, partial(MemoryEngine().put_raw, memory.engine.log))
        memory.export(path)
        return account(memory)


def said(path):
    """Return the lines of an export, its log's number of partitions left out."""
    return sorted(path.read_text().splitlines()[1:])


def test_an_import_that_is_killed_is_completed_by_the_next_one(tmp_path):
    path, folder = tmp_path / "x.jsonl", tmp_path / "data"
    expected = filled(path)
    killed = subprocess.run([sys.executable, "-c", DIES, folder, path], check=False, timeout=100)
    assert killed.returncode == -9
    with opened(folder) as memory:
        there = memory.engine.log.ends()
        assert 0 < sum(there.values()) < len(path.read_text().splitlines())
        assert taken(memory, path).already_there > 0
        assert account(memory) == expected


def test_a_history_may_go_on_from_log_to_log(tmp_path):
    paths = [tmp_path / f"{number}.jsonl" for number in range(4)]
    expected = filled(paths[0])
    for before, after, partitions in zip(paths, paths[1:], (4, 3, 1), strict=False):
        with opened(partitions=partitions) as memory:
            assert taken(memory, before).problems == []
            assert account(memory) == expected
            memory.export(after)
        assert said(after) == said(before)


def test_an_export_adds_nothing_to_its_own_log_but_what_the_log_did_not_know(tmp_path):
    path = tmp_path / "x.jsonl"
    with opened(partitions=4) as memory:
        fill(memory, partial(MemoryEngine().put_raw, memory.engine.log))
        memory.export(path)
        before = account(memory)
        first, second = taken(memory, path), taken(memory, path)
        after = account(memory)
    assert (second.added, second.foreign) == (0, 0)
    # What was put there by hand the log has under no identity: three guests, three that are parked
    # and what is foreign. Half a set is made whole.
    assert (first.added, first.foreign) == (3 + 3 + 1, 10)
    assert after["digests"] == before["digests"]


@pytest.fixture
def newer(monkeypatch):
    """Make this code one whose observations have a second version."""

    def lift(data):
        return {**data, "text": f"{data['text']} (lifted)"}

    monkeypatch.setattr(ObservationRecorded, "event_version", 2)
    monkeypatch.setattr(codec, "STEPS", {("observation.recorded", 1): lift})


@pytest.fixture
def old(tmp_path):
    """A log that older code has written."""
    with opened(tmp_path / "old", agent="ops-1", projects=False) as memory:
        memory.observe("the pool is full", data={"n": 1})
        memory.observe("long " * 100_000)
        memory.decide("raise the pool")
    return tmp_path / "old"


def test_events_of_an_older_version_travel_as_they_are_and_are_lifted_there(old, newer, tmp_path):
    path = tmp_path / "x.jsonl"
    with opened(old) as memory:
        expected = account(memory)
        memory.observe("of today", agent="ops-2", id="new")
        memory.export(path, agent="ops-1")
        assert taken(memory, path).added == 0
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    seen = [line for line in lines if line["type"] == "mnemolog.observation.recorded"]
    assert [line["dataschema"].rpartition(":")[2] for line in seen] == ["1", "1"]
    assert seen[0]["data"]["text"] == "the pool is full"
    with opened(partitions=4) as memory:
        assert taken(memory, path).problems == []
        assert account(memory) == expected
        texts = {entry.text for entry in memory.timeline(after=memory.end())}
        assert "the pool is full (lifted)" in texts
