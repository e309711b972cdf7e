"""The service over logs on Kafka: two tenants, several clients, a broker that dies meanwhile."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest

from mnemolog.memory import Memory
from mnemolog.schemas.errors import StoreUnavailable
from support.polling import eventually
from support.remembering import opened, recorded
from support.serving import key_for, served

pytestmark = pytest.mark.kafka

CLIENTS = 6
EVENTS = 20
BROKEN_AT = 5  # events that each client has appended when the broker dies


@pytest.fixture
def tenants():
    mark = uuid.uuid4().hex[:8]
    return [f"crimson-{mark}", f"azure-{mark}"]


@pytest.fixture
def service(kafka, tmp_path, tenants):
    """Serve both tenants; yield where, and a key for each."""

    def opens(tenant):
        log = f"kafka://{kafka.bootstrap}?partitions=2"
        return opened(tmp_path / "data", log=log, tenant=tenant)

    path = tmp_path / "keys.json"
    keys = {tenant: key_for(path, tenant) for tenant in tenants}
    with served(keys=path, opens=opens) as one:
        yield one, keys


class Client:
    """Appends its events in turn, each until it is acknowledged, and asks for what it said."""

    def __init__(self, number, url, tenant, key):
        self.tenant = tenant
        self.name = f"client-{number}"
        self.acknowledged = {}
        self._url, self._key = url, key

    def live(self, rest):
        with Memory(self._url, key=self._key) as memory:
            for number in range(EVENTS):
                if number == BROKEN_AT:
                    rest.wait()
                event_id = f"{self.name}-{number}"
                told = eventually(
                    lambda event_id=event_id: self._appended(memory, event_id),
                    what=f"{event_id} appended",
                    within_seconds=120,
                    pause=0.2,
                )
                self.acknowledged[event_id] = tuple(told.position)
            return [
                found.text
                for found in memory.recall(
                    "which word?", agent=self.name, after=told.token, hits_max=50
                )
            ]

    def _appended(self, memory, event_id):
        try:
            return memory.observe(f"the word of {event_id}", agent=self.name, id=event_id)
        except StoreUnavailable:
            return None  # the same event again: it may be there, and stands once


def test_what_was_acknowledged_over_a_broker_that_dies_is_there_once_and_recalled(
    kafka, service, tenants
):
    one, keys = service
    clients = [Client(n, one.url, tenants[n % 2], keys[tenants[n % 2]]) for n in range(CLIENTS)]
    rest = threading.Barrier(CLIENTS + 1)
    with ThreadPoolExecutor(CLIENTS) as pool:
        lives = [pool.submit(client.live, rest) for client in clients]
        rest.wait(60)
        kafka.kill()
        kafka.restart()
        told = [life.result(240) for life in lives]
    for client, texts in zip(clients, told, strict=True):
        assert {text.removeprefix("the word of ") for text in texts} == set(client.acknowledged)
    for tenant in tenants:
        with one.memory(tenant) as memory:
            first = {}
            for event in recorded(memory):
                first.setdefault(event.id, tuple(event.position))
        mine = [client.acknowledged for client in clients if client.tenant == tenant]
        assert first.keys() == {event_id for each in mine for event_id in each}
        with one.memory(tenant) as memory:
            rows = memory.sql("SELECT event_id, count(*) FROM events GROUP BY 1").rows
        assert sorted(rows) == [(event_id, 1) for event_id in sorted(first)]
