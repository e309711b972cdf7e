"""The brokers are asked whose logs there are, and which worker owns which."""

import pytest

from mnemolog.schemas.errors import LogUnavailable
from mnemolog.streams.kafka_tenants import KafkaTenants
from mnemolog.streams.log import tenant_of, topic_of
from mnemolog.working import Wanted, Worker
from support.kafka_broker import free_port

pytestmark = pytest.mark.kafka


@pytest.fixture
def brokers(kafka):
    with KafkaTenants(kafka.bootstrap) as brokers:
        yield brokers


def test_a_tenants_log_is_found_as_soon_as_it_is_made(brokers, open_kafka, tenant):
    assert topic_of(tenant) not in brokers.topics()
    open_kafka()
    assert topic_of(tenant) in brokers.topics()


def test_a_group_that_nobody_made_has_no_members(brokers, tenant):
    assert brokers.members(f"workers-{tenant}") == []


def test_brokers_that_are_down_are_unavailable(monkeypatch):
    monkeypatch.setattr("mnemolog.streams.kafka_tenants.ASK_SECONDS_MAX", 1.0)
    with (
        KafkaTenants(f"127.0.0.1:{free_port()}") as brokers,
        pytest.raises(LogUnavailable, match=r"listing the topics|no broker answered"),
    ):
        brokers.topics()


def test_a_worker_of_no_named_tenant_serves_each_that_there_is(kafka, open_kafka, tenant, tmp_path):
    open_kafka()
    wanted = Wanted(log=f"kafka://{kafka.bootstrap}", data=str(tmp_path))
    with Worker(wanted) as worker:
        assert topic_of(tenant) in worker.topics()
    with Worker(Wanted(log=wanted.log, data=wanted.data, tenants=("other",))) as worker:
        assert worker.topics() == frozenset()


@pytest.mark.parametrize("name", ["acme", "Bob", "北京", "a b/c", "x" * 60])
def test_a_topics_name_tells_its_tenant(name):
    assert tenant_of(topic_of(name)) == name


def test_a_topic_that_holds_a_digest_of_a_long_name_tells_no_tenant():
    assert tenant_of(topic_of("北" * 80)) is None


@pytest.mark.parametrize("topic", ["orders", "mnemolog.events", "mnemolog.Acme.events"])
def test_other_topics_are_nobodys(topic):
    assert tenant_of(topic) is None
