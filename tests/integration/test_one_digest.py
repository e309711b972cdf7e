"""One history gives one content, whatever log it stands on and however it is cut."""

import shutil
import uuid

import pytest

from mnemolog.memory import Memory
from mnemolog.projections.kinds import NAMES
from support import small_history

PARTITIONS = (1, 4)


def opened(data, **more):
    return Memory(str(data), embedder="hashing", record_recalls=False, **more)


def digests_of(memory):
    small_history.feed(memory.engine.publisher)
    memory.wait_for(memory.end(), vectors=True)
    assert memory.sql("SELECT count(*) FROM events").rows[0][0] > len(small_history.history())
    return memory.digests()


@pytest.fixture(scope="module")
def expected():
    with opened(":memory:", partitions=1) as memory:
        return digests_of(memory)


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_in_memory(expected, partitions):
    with opened(":memory:", partitions=partitions) as memory:
        assert digests_of(memory) == expected


@pytest.mark.parametrize("partitions", PARTITIONS)
def test_sqlite(expected, partitions, tmp_path):
    with opened(tmp_path, partitions=partitions) as memory:
        assert digests_of(memory) == expected


@pytest.mark.kafka
@pytest.mark.parametrize("partitions", PARTITIONS)
def test_kafka(partitions, tmp_path, kafka):
    url = f"kafka://{kafka.bootstrap}?partitions={partitions}"
    tenant = f"digest-{uuid.uuid4().hex[:8]}"  # names the topic, and stands in each event
    with opened(":memory:", tenant=tenant) as memory:
        expected = digests_of(memory)
    with opened(tmp_path, log=url, tenant=tenant) as memory:
        assert memory.engine.log.partitions == partitions
        assert digests_of(memory) == expected


@pytest.mark.parametrize("name", NAMES)
def test_a_deleted_projection_comes_back_from_the_log(tmp_path, name):
    with opened(tmp_path) as memory:
        before = digests_of(memory)
    shutil.rmtree(tmp_path / "default" / name)
    with opened(tmp_path, rebuilding=[name]) as memory:
        (rebuilt,) = memory.rebuild(name)
        assert rebuilt.digest == before[name]
        assert memory.digests() == before
        assert all(compared.is_equal for compared in memory.verify())


def test_everything_but_the_log_may_be_deleted(tmp_path):
    with opened(tmp_path) as memory:
        before = digests_of(memory)
    for path in (tmp_path / "default").iterdir():
        if path.name != "log":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    with opened(tmp_path) as memory:
        memory.wait_for(memory.end(), projections=NAMES, vectors=True)
        assert memory.digests() == before
