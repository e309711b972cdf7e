"""A poison in the middle of ten agents' events: nine go on, the tenth waits in order and returns.

The fault stands in the store's way, not in the event: once it is removed, a retry applies what
waited as if it had never failed.
"""

import uuid

import pytest

from mnemolog.ledgers import applied
from mnemolog.projections.checkpoints import projection as checkpoints
from mnemolog.projections.kinds import CHECKPOINTS
from mnemolog.schemas.events.experience import ObservationRecorded
from support.parked import FAULT, failing
from support.polling import eventually
from support.remembering import opened

AGENTS = [f"agent-{number}" for number in range(10)]
EVENTS = 1_000
POISONED = "agent-7"
AT = 500  # from here on: the next of the tenth agent's


def said():
    """Return (agent, text) of each event, agents in turn; one of the tenth's is poison."""
    for number in range(EVENTS):
        agent = AGENTS[number % len(AGENTS)]
        is_poison = agent == POISONED and AT <= number < AT + len(AGENTS)
        yield agent, FAULT if is_poison else f"step {number}"


def of(agent):
    return [text for who, text in said() if who == agent]


def told(memory, agent):
    return [entry.text for entry in memory.timeline(agent=agent, rows_max=EVENTS)]


@pytest.fixture(params=["memory", "sqlite", pytest.param("kafka", marks=pytest.mark.kafka)])
def memory(request, tmp_path):
    data = ":memory:" if request.param == "memory" else tmp_path / "data"
    settings = {"tenant": f"t-{uuid.uuid4().hex[:8]}", "partitions": 4}
    if request.param == "kafka":
        settings["log"] = f"kafka://{request.getfixturevalue('kafka').bootstrap}"
    with opened(data, **settings) as memory:
        yield memory


def test_nine_agents_go_on_and_the_tenth_is_parked_in_order_until_a_retry(memory, monkeypatch):
    with monkeypatch.context() as fault:
        failing(fault, checkpoints, "fold")
        drafts = [
            memory.draft(ObservationRecorded, {"text": text}, {"agent": agent})
            for agent, text in said()
        ]
        appended = memory.engine.publisher.append(drafts)
        end = memory.end()
        eventually(
            lambda: end.is_covered_by(applied(memory.engine, CHECKPOINTS)),
            what="all is applied or parked",
            within_seconds=120,
        )
        for agent in AGENTS:
            whole = of(agent)
            part = whole if agent != POISONED else whole[: whole.index(FAULT)]
            assert told(memory, agent) == part
        parked = memory.parked(projections=[CHECKPOINTS], behind=True, events_max=1000).events
        assert len(parked) == 50
        assert {one.key for one in parked} == {POISONED}
        assert [one.behind for one in parked] == [False] + [True] * 49
        assert parked[0].waiting == 49
        pairs = zip(appended, said(), strict=True)
        places = [one.position for one, (who, _) in pairs if who == POISONED]
        assert [one.position for one in parked] == places[-50:]
        (still,) = memory.retry(agent=POISONED, projections=[CHECKPOINTS])
        assert (still.went_on, still.left) == (0, 50)
    (done,) = memory.retry(agent=POISONED, projections=[CHECKPOINTS])
    assert (done.went_on, done.left) == (50, 0)
    assert all(told(memory, agent) == of(agent) for agent in AGENTS)
    assert memory.verify(CHECKPOINTS)[0].is_equal
