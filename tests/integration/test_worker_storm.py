"""Worker, replica, who appends and the broker are struck: nothing is lost, nothing doubled."""

import random

import pytest

from support import worker_storm

pytestmark = pytest.mark.kafka

STRIKES = 20


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("kafka_can_run")  # the storm kills a broker of its own
def test_a_storm_over_workers_writers_and_the_broker_loses_and_doubles_nothing():
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    account = worker_storm.run(kills=STRIKES, seed=seed)
    print(account)
    assert account["acknowledged"] > 0
    assert account["events"] >= account["acknowledged"]
