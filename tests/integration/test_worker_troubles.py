"""A worker whose broker dies, or whose topic is made anew: told, nothing lost, the others go on."""

import uuid

import pytest
from confluent_kafka.admin import AdminClient

from mnemolog import Memory
from mnemolog.schemas.errors import LogUnavailable
from mnemolog.schemas.records import NewRecord
from mnemolog.streams.log import topic_of
from support.polling import eventually
from support.workers import worker

pytestmark = pytest.mark.kafka

DOWN_SECONDS_MAX = 3.0  # how long an append may wait where that is short
LINES_MAX = 60  # of a worker, however long a broker is down

# What may arrive late, or not: an append that was given up says nothing of it.
A_GUEST = NewRecord(b"ops-1", b"{}", (), identity="0" * 32, content="0" * 32)


@pytest.fixture
def log(kafka):
    return f"kafka://{kafka.bootstrap}"


@pytest.fixture
def tenants():
    mark = uuid.uuid4().hex[:8]
    return [f"t{number}-{mark}" for number in range(2)]


def named(*tenants):
    group = f"workers-{uuid.uuid4().hex[:8]}"
    return [*(part for tenant in tenants for part in ("--tenant", tenant)), "--group", group]


def writer(log, folder, tenant):
    return Memory(folder / "writer", log=log, tenant=tenant, projects=False)


def recalled(data, log, tenant, after):
    """Return the texts that the worker's folder recalls once it holds *after*."""
    with Memory(data, log=log, tenant=tenant, embedder="hashing", projects=False) as memory:
        return {one.text for one in memory.recall("reading", hits_max=50, after=after)}


def test_while_a_broker_is_down_appends_fail_clearly_and_afterwards_all_goes_on(
    kafka, tmp_path, log, tenants
):
    tenant = tenants[0]
    data = tmp_path / "data"
    with writer(log, tmp_path, tenant) as memory, worker(data, log, *named(tenant)) as one:
        memory.observe("reading 0", agent="ops-1")
        one.tells("tenant ready", tenant=tenant)

        kafka.kill()
        try:
            with pytest.raises(LogUnavailable, match="no answer within"):
                memory.engine.log.append([A_GUEST], timeout_seconds=DOWN_SECONDS_MAX)
            one.tells("store unavailable; retrying")
        finally:
            kafka.restart()

        tokens = [memory.observe(f"reading {n}", agent="ops-1").token for n in range(1, 20)]
        found = recalled(data, log, tenant, tokens[-1])
        assert found >= {f"reading {n}" for n in range(20)}
        eventually(lambda: one.owned == [tenant], what="it owns the tenant again")
        assert one.process.poll() is None
        assert len(one.lines) < LINES_MAX
        assert one.stop() == 0


def test_a_topic_made_anew_under_a_worker_stops_its_tenant_and_no_other(
    kafka, tmp_path, log, tenants
):
    replaced, other = tenants
    with worker(tmp_path / "data", log, *named(*tenants)) as one:
        for tenant in tenants:
            with writer(log, tmp_path, tenant) as memory:
                memory.observe("reading 0", agent="ops-1")
            one.tells("tenant ready", tenant=tenant)

        make_anew(kafka, replaced)
        with writer(log, tmp_path / "anew", replaced) as memory:
            for number in range(5):
                memory.observe(f"another {number}", agent="ops-1")

        told = one.tells("tenant stopped", tenant=replaced)
        assert "made anew" in told["hint"]
        with writer(log, tmp_path, other) as memory:
            token = memory.observe("reading 1", agent="ops-1").token
        assert recalled(tmp_path / "data", log, other, token) == {"reading 0", "reading 1"}
        assert not one.told("tenant stopped", tenant=other)


def make_anew(kafka, tenant):
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    topic = topic_of(tenant)
    for future in admin.delete_topics([topic]).values():
        future.result(10)
    eventually(lambda: topic not in admin.list_topics(timeout=10).topics, what="the topic is gone")
