"""Nothing acknowledged is lost and nothing doubled, whoever is killed and whenever."""

import random

import pytest

from support import kill_storm


@pytest.mark.bad_input(53)
def test_twenty_kills_of_each_process_lose_and_double_nothing():
    seed = random.randrange(2**32)
    print(f"seed {seed}")
    account = kill_storm.run(kills=20, seed=seed)
    print(account)
    assert account["imported"] >= 3 * kill_storm.CONVERSATIONS
    assert account["acknowledged"] > 0
