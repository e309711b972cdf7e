"""Six ways in which Faust's acknowledgements lose events: none of them loses one of ours.

In each, Faust commits past what was not processed. A worker is woken by Faust and asks it for
nothing else, so whatever is committed, and by whom, decides nothing.
"""

import uuid
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from mnemolog import Memory
from mnemolog.ledgers import counts_in
from mnemolog.projections.kinds import NAMES
from mnemolog.streams.log import topic_of
from support.polling import eventually
from support.raw_records import put_changed
from support.workers import worker

pytestmark = pytest.mark.kafka

MESSAGES = 10
MANY = 1_500
WAIT_SECONDS = 120.0
GONE_SECONDS_MAX = 30.0  # until the group has given up a killed worker


@dataclass
class Case:
    """A tenant whose topic has one partition, and the worker's folder, group and account."""

    bootstrap: str
    folder: Path
    tenant: str
    group: str

    @property
    def log(self) -> str:
        return f"kafka://{self.bootstrap}"

    def writer(self) -> Memory:
        data = self.folder / "writer"
        return Memory(data, log=self.log, tenant=self.tenant, partitions=1, projects=False)

    def worker(self):
        asked = ("--tenant", self.tenant, "--group", self.group)
        return worker(self.folder / "data", self.log, *asked)

    def append(self, *numbers: int, poison: int | None = None) -> None:
        """Append messages, each of an agent of its own; *poison* is one that no fold can apply."""
        with self.writer() as memory:
            for number in numbers:
                agent, name = f"agent-{number}", f"m-{number}"
                if number == poison:
                    fields = {"text": "poison"}
                    put_changed(memory, fields, _without_text, agent=agent, event_id=name)
                else:
                    memory.observe(f"message {number}", agent=agent, id=name)

    def applied(self) -> Counter[str]:
        """Return how often each message stands in the worker's tables, at the log's end."""
        data = self.folder / "data"
        with Memory(data, log=self.log, tenant=self.tenant, projects=False) as memory:
            memory.wait_for(memory.end(), projections=NAMES, timeout_seconds=WAIT_SECONDS)
            rows = memory.sql("SELECT event_id, count(*) FROM events GROUP BY 1", fresh=False).rows
            return Counter(dict(rows))

    def parked(self) -> set[int]:
        """Return how many records each projection of the worker has parked."""
        data = self.folder / "data"
        with Memory(data, log=self.log, tenant=self.tenant, projects=False) as memory:
            return {counts_in(memory.engine, name).get("parked", 0) for name in NAMES}

    def commit(self, offset: int) -> None:
        """Let the group's committed offset be *offset*, whoever committed what before."""
        consumer = Consumer({"bootstrap.servers": self.bootstrap, "group.id": self.group})
        where = TopicPartition(topic_of(self.tenant), 0, offset)

        def committed() -> bool:
            with suppress(KafkaException):  # the group still has a member: it was just killed
                consumer.commit(offsets=[where], asynchronous=False)
                return consumer.committed([where], timeout=10)[0].offset == offset
            return False

        eventually(committed, what=f"{offset} committed", within_seconds=GONE_SECONDS_MAX)
        consumer.close()


def _without_text(document):
    document["data"].pop("text")


def once(*numbers: int) -> dict[str, int]:
    return {f"m-{number}": 1 for number in numbers}


def all_but(poison: int) -> dict[str, int]:
    return once(*(number for number in range(MESSAGES) if number != poison))


@pytest.fixture
def case(kafka, tmp_path):
    mark = uuid.uuid4().hex[:8]
    return Case(kafka.bootstrap, tmp_path, f"t-{mark}", f"workers-{mark}")


def test_1_an_agent_raises_on_message_3(case):
    case.append(0, 1, 2)
    with case.worker() as one:
        one.tells("tenant ready", tenant=case.tenant)
        case.append(*range(3, MESSAGES), poison=3)
        assert case.applied() == all_but(3)
        assert case.parked() == {1}
        assert one.process.poll() is None


@pytest.mark.parametrize("poison", [pytest.param(1, id="2_first"), pytest.param(5, id="3_second")])
def test_an_agent_raises_inside_a_batch(case, poison):
    case.append(*range(MESSAGES), poison=poison)
    with case.worker():
        assert case.applied() == all_but(poison)
        assert case.parked() == {1}


def test_4_later_acknowledgements_commit_past_a_batch_that_was_not_acknowledged(case):
    case.append(*range(MESSAGES))
    case.commit(MESSAGES)
    with case.worker():
        assert case.applied() == once(*range(MESSAGES))


def test_5_a_commit_that_is_held_at_a_failed_batch_silences_the_agent(case):
    case.append(*range(MESSAGES))
    with case.worker() as one:
        assert case.applied() == once(*range(MESSAGES))
        assert one.stop() == 0
    case.commit(4)
    with case.worker() as one:
        one.tells("tenant ready", tenant=case.tenant)
        case.append(*range(MESSAGES, MESSAGES + 3))
        assert case.applied() == once(*range(MESSAGES + 3))


def test_6_a_message_is_in_flight_at_a_kill_and_the_offset_behind_it_is_committed(case):
    case.append(*range(MANY))
    with case.worker() as one:
        one.tells("tenant taken", tenant=case.tenant)
        one.kill()
    case.commit(MANY)
    with case.worker():
        assert case.applied() == once(*range(MANY))
