"""Workers of two releases on one log: the newer one's folds are of another version."""

import json
import uuid

import pytest

from mnemolog import Memory
from mnemolog.projections.generations import Generations, described
from mnemolog.projections.kinds import ANALYTICS, MEMORIES, VERSIONS, WEIGHTS
from mnemolog.schemas.errors import NewerRelease
from mnemolog.schemas.records import NewRecord
from support.polling import eventually
from support.workers import worker

pytestmark = pytest.mark.kafka

CHANGED = (MEMORIES, WEIGHTS)

# A release whose folds of some projections are one version on. It builds no further than it may:
# in the folder of its first argument it says where it is, and waits there to be let on.
NEWER = f"""
import sys, time
from pathlib import Path
from mnemolog.projections import fault_points, kinds
here = Path(sys.argv.pop(1))
for name in {CHANGED}:
    kinds.VERSIONS[name] += 1
def wait(point):
    if point == "rebuild.caught-up":
        (here / "built").touch()
        while not (here / "go-on").exists():
            time.sleep(0.02)
from mnemolog.cli.main import main
with fault_points.listening(wait):
    main()
"""


@pytest.fixture
def log(kafka):
    return f"kafka://{kafka.bootstrap}"


@pytest.fixture
def tenant():
    return f"t-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def asked(tenant):
    return ("--tenant", tenant, "--group", f"workers-{tenant}")


@pytest.fixture
def newer(tmp_path):
    """Return what Python runs as the newer release; it may build at once."""
    (tmp_path / "go-on").touch()
    return ("-c", NEWER, str(tmp_path))


def said(log, folder, tenant, text):
    with Memory(folder / "writer", log=log, tenant=tenant, projects=False) as memory:
        return memory.observe(text, agent="ops-1").token


def reading(data, log, tenant):
    """Return a reader of this release."""
    return Memory(data, log=log, tenant=tenant, embedder="hashing", projects=False)


def versions(data, tenant):
    return {
        name: described(Generations(data / tenant / name).serving()).version
        for name in (*CHANGED, ANALYTICS)
    }


def test_a_newer_release_builds_beside_what_serves_and_then_lets_its_own_serve(
    tmp_path, log, tenant, asked, newer
):
    data = tmp_path / "data"
    token = said(log, tmp_path, tenant, "the first word")
    with worker(data, log, *asked) as old:
        old.tells("tenant ready", tenant=tenant)
        old.stop()
    before = versions(data, tenant)
    (tmp_path / "go-on").unlink()
    with worker(data, log, *asked, release=newer) as new:
        new.tells("building anew", tenant=tenant, projection=MEMORIES)
        eventually((tmp_path / "built").exists, what="it is built, and does not serve yet")
        assert versions(data, tenant) == before
        with reading(data, log, tenant) as memory:
            assert [m.text for m in memory.recall("word", after=token)] == ["the first word"]
        (tmp_path / "go-on").touch()
        new.tells("built anew", tenant=tenant, projection=WEIGHTS)
        new.tells("tenant ready", tenant=tenant)
        expected = {name: VERSIONS[name] + (name in CHANGED) for name in before}
        assert versions(data, tenant) == expected
        with reading(data, log, tenant) as memory, pytest.raises(NewerRelease):
            memory.recall("word")
        assert new.stop() == 0
    with worker(data, log, *asked) as old:
        told = old.tells("tenant stopped", tenant=tenant)
        assert "later release" in told["error"] + told["hint"]
    assert versions(data, tenant) == expected


def test_workers_of_two_releases_share_tenants_each_in_its_folder_and_hand_over(
    tmp_path, log, tenant, asked, newer
):
    said(log, tmp_path, tenant, "the first word")
    with worker(tmp_path / "old", log, *asked) as old:
        old.tells("tenant ready", tenant=tenant)
        with worker(tmp_path / "new", log, *asked, "--replica", release=newer) as new:
            new.tells("tenant ready", tenant=tenant)  # its own copy, by its own folds
            old.kill()
            new.owns(tenant)
            said(log, tmp_path, tenant, "the second word")
            with worker(tmp_path / "old", log, *asked, "--replica") as back:
                back.tells("tenant ready", tenant=tenant)
                new.kill()
                back.owns(tenant)
                token = said(log, tmp_path, tenant, "the third word")
                with reading(tmp_path / "old", log, tenant) as memory:
                    found = {m.text for m in memory.recall("word", after=token)}
    assert found == {"the first word", "the second word", "the third word"}


def test_what_is_parked_stops_the_upgrade_and_is_named_while_the_old_one_serves(
    tmp_path, log, tenant, asked, newer
):
    data = tmp_path / "data"
    with Memory(tmp_path / "writer", log=log, tenant=tenant, projects=False) as memory:
        token = memory.observe("the first word", agent="ops-1").token
        memory.engine.log.append([poison(tenant)])
    with worker(data, log, *asked) as old:
        old.tells("tenant ready", tenant=tenant)
        old.stop()
    before = versions(data, tenant)
    with worker(data, log, *asked, release=newer) as new:
        told = new.tells("tenant stopped", tenant=tenant)
        assert "parked" in told["error"]
        assert versions(data, tenant) == before
        with reading(data, log, tenant) as memory:
            assert [m.text for m in memory.recall("word", after=token)] == ["the first word"]
        assert new.stop() == 0


def poison(tenant):
    """Return an event of ours that no fold can apply: its text is a number."""
    told = {
        "specversion": "1.0",
        "id": "raw-1",
        "source": "/tests",
        "type": "mnemolog.observation.recorded",
        "time": "2030-03-02T08:00:00Z",
        "partitionkey": "ops-2",
        "agent": "ops-2",
        "tenant": tenant,
        "data": {"text": 5},
    }
    headers = (("content-type", b"application/cloudevents+json"),)
    value = json.dumps(told).encode()
    return NewRecord(b"ops-2", value, headers, identity="0" * 32, content="0" * 32)
