"""What else may stand in a topic: nothing, junk, frames of others; on each of the log's engines."""

import json
from collections import defaultdict
from dataclasses import dataclass

import pytest

from mnemolog.ledgers import counts_in, foreign_in
from mnemolog.memory import Memory
from mnemolog.projections.kinds import CHECKPOINTS, NAMES
from mnemolog.schemas.envelope import CONTENT_TYPE
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.schemas.partitioning import partition_of
from mnemolog.schemas.records import LogRecord
from support.log_engines import KafkaEngine, LogEngine, MemoryEngine, SQLiteEngine
from support.remembering import QUICK, texts

PARTITIONS = 4
JSON_TYPE = (("content-type", CONTENT_TYPE.encode()),)


@dataclass
class Shared:
    """A memory whose log others write to as well."""

    memory: Memory
    engine: LogEngine

    def put(self, value, *, key=b"m1", headers=JSON_TYPE, partition=None):
        """Append a record as somebody else would, where the key belongs or in *partition*."""
        place = 0 if key is None else partition_of(key, partitions=PARTITIONS)
        at = place if partition is None else partition
        self.engine.put_raw(self.memory.engine.log, at, key=key, value=value, headers=headers)

    def foreign(self) -> list[LogRecord]:
        listed = foreign_in(self.memory.engine, CHECKPOINTS, records_max=1_000)
        return [one.record for one in listed]

    def reasons(self) -> dict[bytes | None, str]:
        listed = foreign_in(self.memory.engine, CHECKPOINTS, records_max=1_000)
        return {one.record.value: one.reason for one in listed}


@pytest.fixture(params=["memory", "sqlite", pytest.param("kafka", marks=pytest.mark.kafka)])
def shared(request, tmp_path):
    match request.param:
        case "memory":
            engine, data, log = MemoryEngine(), ":memory:", None
        case "sqlite":
            engine, data, log = SQLiteEngine(tmp_path), tmp_path / "data", None
        case _:
            kafka = request.getfixturevalue("kafka")
            engine, data = KafkaEngine(kafka.bootstrap), tmp_path / "data"
            log = f"kafka://{kafka.bootstrap}"
    tenant = engine.tenant
    with Memory(
        data, log=log, tenant=tenant, partitions=PARTITIONS, agent="ops-1", **QUICK
    ) as memory:
        yield Shared(memory, engine)


def assert_neighbours_live(shared):
    """Nothing waits, and a rebuild of everything passes what is foreign too."""
    mem = shared.memory
    mem.wait_for(mem.observe("the one after it").token, projections=NAMES)
    before = mem.digests()
    assert sorted(texts(mem.recall("the one"))) == ["the one after it", "the one before it"]
    counts = counts_in(mem.engine, CHECKPOINTS)
    assert counts.get("parked", 0) == 0
    assert all(built.comparison.is_equal for built in mem.rebuild())
    assert mem.digests() == before
    assert counts_in(mem.engine, CHECKPOINTS) == counts
    rows = mem.sql("SELECT text FROM observations ORDER BY occurred_at").rows
    assert rows == [("the one before it",), ("the one after it",)]


@pytest.mark.bad_input(45)
def test_a_tombstone_nothing_and_the_word_null_are_listed_apart_with_their_bytes(shared):
    shared.memory.observe("the one before it")
    odd = (None, b"", b"null", b'"null"', b" ", b"\n", b"0", b"false", b"[]", b"{}", b'""')
    for value in odd:
        shared.put(value)
    assert_neighbours_live(shared)
    found = shared.foreign()
    assert [(record.key, record.value) for record in found] == [(b"m1", value) for value in odd]
    reasons = shared.reasons()
    assert len({reasons[None], reasons[b""], reasons[b"null"]}) == 3
    assert (reasons[None], reasons[b""]) == ("a tombstone", "empty")
    assert shared.memory.recall("null", hits_max=50).memories != ()
    assert "null" not in texts(shared.memory.recall("null", hits_max=50))


POISON = {
    "no JSON": b"not json",
    "no UTF-8": b"\xff\xfe\x00{",
    "a NUL": b'{"specversion":"1.0"\0}',
    "cut": b'{"specversion":"1.0","id":"x","source":"/x","ty',
    "two documents": b"{}{}",
    "no object": b'["specversion"]',
    "no event": b'{"id":"x","data":{"text":"poison"}}',
    "an old version": b'{"specversion":"0.3","id":"x","source":"/x","type":"x"}',
    "a doubled key": b'{"specversion":"1.0","id":"x","id":"y","source":"/x","type":"x"}',
    "no type": b'{"specversion":"1.0","id":"x","source":"/x","partitionkey":"m1"}',
    "both data": b'{"specversion":"1.0","id":"x","source":"/x","type":"x","data":1,'
    b'"data_base64":"AA==","partitionkey":"m1"}',
    "deep": b"[" * 100_000,
}


@pytest.mark.bad_input(49)
def test_poison_is_listed_with_its_place_reason_and_bytes_and_nobody_waits(shared):
    shared.memory.observe("the one before it")
    for value in POISON.values():
        shared.put(value)
        shared.put(value, key=b"ops-1")  # under the key of the neighbours, too
    assert_neighbours_live(shared)
    found = shared.foreign()
    assert {record.value for record in found} == set(POISON.values())
    assert len(found) == 2 * len(POISON)
    assert all(shared.memory.engine.log.at(record.position) == record for record in found)
    assert all(shared.reasons().values())


@pytest.mark.bad_input(49)
def test_a_sound_value_in_a_wrong_place_or_under_a_wrong_key_is_listed(shared):
    mem = shared.memory
    said = mem.observe("the one before it")
    value = mem.engine.log.at(said.position).value
    wrong = (said.position.partition + 1) % PARTITIONS
    shared.put(value, key=b"ops-1", partition=wrong)
    shared.put(value, key=b"somebody else")
    shared.put(value, key=b"\xff\x00")
    shared.put(value, key=b"ops-1", headers=(("content-type", b"application/avro"),))
    shared.put(value.replace(mem.engine.settings.tenant.encode(), b"another"), key=b"ops-1")
    assert_neighbours_live(shared)
    assert len(shared.foreign()) == 5


def frame(head: bytes) -> bytes:
    told = {"specversion": "1.0", "id": "framed", "source": "/x", "type": "com.example.done"}
    return head + json.dumps({**told, "partitionkey": "m1"}).encode()


@pytest.mark.bad_input(51)
def test_frames_of_a_schema_registry_are_told_from_plain_records(shared):
    shared.memory.observe("the one before it")
    framed = [
        frame(b"\x00\x00\x00\x27\x0f"),
        frame(b"\x01" + bytes(range(16))),
        frame(b"\x00"),
        b"\x00\x00\x00\x00\x01",
        b"\x01",
    ]
    for value in framed:
        shared.put(value, headers=())
        shared.put(value)
    shared.put(frame(b""), headers=())
    shared.put(frame(b"\n ").replace(b"framed", b"spaced"), headers=())
    assert_neighbours_live(shared)
    assert [record.value for record in shared.foreign()] == [
        value for value in framed for _ in range(2)
    ]
    assert {reason.partition(";")[0] for reason in shared.reasons().values()} == {
        "framed for a schema registry"
    }
    guests = shared.memory.sql("SELECT event_id FROM events WHERE guest ORDER BY 1").rows
    assert guests == [("framed",), ("spaced",)]


@pytest.mark.bad_input(55)
def test_ten_agents_keep_their_order_and_share_the_partitions(shared):
    mem, agents = shared.memory, [f"agent-{number}" for number in range(10)]
    for number in range(100):
        for agent in agents if number < 10 else agents[number % 10 : number % 10 + 1]:
            mem.observe(f"step {number}", agent=agent)
    mem.wait_for(mem.end())
    rows = mem.sql(
        "SELECT agent, log_partition, list(text ORDER BY log_offset) FROM observations GROUP BY ALL"
    ).rows
    steps = defaultdict(list)
    for agent, partition, told in rows:
        assert partition == partition_of(agent.encode(), partitions=PARTITIONS)
        steps[agent].append(told)
    assert set(steps) == set(agents)
    for told in steps.values():
        (said,) = told  # one partition
        assert said == sorted(said, key=lambda text: int(text.split()[1]))
    assert len({partition for _, partition, _ in rows}) > 1


@pytest.mark.bad_input(47)
@pytest.mark.parametrize("times", [1, 3])
def test_what_no_record_can_hold_is_refused_with_both_sizes_and_nothing_is_lost(shared, times):
    mem = shared.memory
    mem.observe("the one before it")
    before = mem.end()
    with pytest.raises(InvalidEvent, match=rf"\d+ bytes.*{EVENT_BYTES_MAX}"):
        mem.observe("large", data={"n": list(range(times * EVENT_BYTES_MAX // 6))})
    assert mem.end() == before
    assert_neighbours_live(shared)
