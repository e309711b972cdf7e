"""The Faust application wakes, assigns and takes back; it reads no further than that."""

import asyncio
import threading

import pytest

from mnemolog.streams import app
from mnemolog.streams.brokers import Brokers
from mnemolog.streams.log import topic_of
from support.log_records import numbered
from support.polling import eventually

pytestmark = pytest.mark.kafka

BULK = 3_000


class Noted:
    """A tenancy that notes what it is told."""

    def __init__(self, *topics):
        self.told = []
        self.fails = False
        self._topics = frozenset(topics)

    def topics(self):
        if self.fails:
            raise OSError("no broker")
        return self._topics

    def assigned(self, topics):
        self.told.append(("assigned", topics))

    def revoked(self):
        self.told.append(("revoked",))

    def woken(self, topic):
        self.told.append(("woken", topic))


@pytest.fixture
def running(kafka, tenant):
    """Return a function that runs the application in a thread of its own, to the test's end."""
    ends = []

    def run(tenancy):
        loop = asyncio.new_event_loop()
        stopping = asyncio.Event()

        def work():
            told = {
                "brokers": Brokers(kafka.bootstrap),
                "group": f"w-{tenant}",
                "stopping": stopping,
            }
            loop.run_until_complete(app.run(tenancy, **told))
            loop.close()

        thread = threading.Thread(target=work)
        thread.start()

        def end():
            if thread.is_alive():
                loop.call_soon_threadsafe(stopping.set)
                thread.join(60)
            assert not thread.is_alive()

        ends.append(end)
        return end

    yield run
    for end in ends:
        end()


def test_an_append_wakes_and_a_bulk_wakes_a_few_times(running, open_kafka, tenant):
    log = open_kafka(partitions=2)
    tenancy = Noted(log.topic)
    end = running(tenancy)
    owned = ("assigned", frozenset({log.topic}))
    eventually(lambda: owned in tenancy.told, what="the topic is assigned")

    # What is appended before the first fetch may wake nobody: the projector's timer is for that.
    numbers = iter(range(10_000))
    woken = ("woken", log.topic)
    eventually(
        lambda: log.append([numbered(next(numbers))]) and woken in tenancy.told, what="woken"
    )
    before = tenancy.told.count(woken)
    log.append([numbered(("bulk", number)) for number in range(BULK)])
    eventually(lambda: tenancy.told.count(woken) > before, what="the bulk wakes")

    end()
    assert tenancy.told.count(woken) < BULK / 2
    assert tenancy.told[-1] == ("revoked",)


def test_tenants_that_can_not_be_listed_end_nothing(running, open_kafka, tenant):
    log = open_kafka()
    tenancy = Noted(topic_of(tenant))
    tenancy.fails = True
    running(tenancy)
    tenancy.fails = False
    owned = ("assigned", frozenset({log.topic}))
    eventually(lambda: owned in tenancy.told, what="the topic is assigned")
