"""What else may stand on a log, through all read models: each does what docs/operating.md says."""

import uuid

import pytest
from confluent_kafka import Producer

from mnemolog.memory import Memory
from mnemolog.projections.kinds import CHECKPOINTS, NAMES
from mnemolog.schemas.envelope import CONTENT_TYPE
from mnemolog.schemas.errors import Parked
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.schemas.partitioning import partition_of
from mnemolog.schemas.values import json_bytes, parse_json
from mnemolog.status import status
from mnemolog.streams.sqlite_file import transaction
from mnemolog.streams.sqlite_records import place_of
from support.log_engines import KafkaEngine, MemoryEngine, SQLiteEngine
from support.polling import eventually
from support.remembering import QUICK, texts

PARTITIONS = 4
STRUCTURED = (("content-type", CONTENT_TYPE.encode()),)


class Site:
    """A memory, and how others write to its log."""

    def __init__(self, engine, memory):
        self.engine, self.memory = engine, memory

    def put(self, value, *, agent, headers=STRUCTURED, partition=None):
        place = partition_of(agent.encode(), partitions=PARTITIONS)
        at = place if partition is None else partition
        log = self.memory.engine.log
        self.engine.put_raw(log, at, key=agent.encode(), value=value, headers=headers)

    def document(self, agent, text, **changed):
        """Return an event as a publisher writes it, with some attributes changed."""
        told = {
            "specversion": "1.0",
            "id": uuid.uuid4().hex,
            "source": "/acme/monitor",
            "type": "mnemolog.observation.recorded",
            "time": "2030-01-02T03:04:05Z",
            "agent": agent,
            "data": {"text": text},
        }
        return json_bytes({**told, **changed})

    def settle(self):
        """Wait until every read model has passed what the log holds."""
        self.memory.observe("the last one", agent="settler")
        eventually(
            lambda: all(
                not one.behind
                for one in status(self.memory.engine).projections
                if one.name != "analytics"
            ),
            what="it is caught up",
        )

    def told(self, agent):
        return [one.text for one in self.memory.timeline(agent=agent)]


@pytest.fixture(params=["memory", "sqlite", pytest.param("kafka", marks=pytest.mark.kafka)])
def site(request, tmp_path):
    match request.param:
        case "memory":
            engine, data, log = MemoryEngine(), ":memory:", None
        case "sqlite":
            engine, data, log = SQLiteEngine(tmp_path), tmp_path / "data", None
        case _:
            bootstrap = request.getfixturevalue("kafka").bootstrap
            engine, data, log = KafkaEngine(bootstrap), tmp_path / "data", f"kafka://{bootstrap}"
    settings = {"log": log, "tenant": engine.tenant, "partitions": PARTITIONS, **QUICK}
    with Memory(data, **settings) as memory:
        yield Site(engine, memory)


def put_one_of_each(site):
    """Put there a record of each kind that a log may hold."""
    rest = {"text": "at the limit", "data": {"log": ""}}
    rest["data"]["log"] = "x" * (EVENT_BYTES_MAX - len(site.document("large", "", data=rest)))
    large = site.document("large", "", data=rest)
    assert len(large) == EVENT_BYTES_MAX
    site.put(large, agent="large")
    site.put(site.document("beyond", "x" * EVENT_BYTES_MAX), agent="beyond")
    site.put(json_bytes({"text": "in binary mode"}), agent="binary", headers=binary("binary"))
    site.put(site.document("other", "misplaced"), agent="other", partition=wrong("other"))
    site.put(None, agent="other")
    site.put(b"no event", agent="other")
    site.put(site.document("other", "", type="com.acme.done", data={"ok": True}), agent="other")
    site.put(site.document("other", "in its place"), agent="other")
    site.put(site.document("later", "", type="mnemolog.dream.dreamt"), agent="later")
    site.put(site.document("later", "behind a type that is not known"), agent="later")
    newer = {"dataschema": "urn:mnemolog:schema:observation.recorded:99"}
    site.put(site.document("newer", "of a later release", **newer), agent="newer")
    site.put(site.document("broken", "", data={}), agent="broken")


def test_each_kind_of_record_does_what_the_docs_say_and_a_skip_frees_a_strict_rebuild(site):
    put_one_of_each(site)
    site.settle()
    assert site.told("large") == ["at the limit"]
    assert site.told("binary") == ["in binary mode"]
    assert "in its place" in site.told("other")
    assert "misplaced" not in site.told("other")
    assert (site.told("later"), site.told("newer")) == ([], [])
    reasons = [one.reason for one in site.memory.foreign().records]
    assert len(reasons) == 4
    assert sum("the limit is" in reason for reason in reasons) == 1
    parked = site.memory.parked(projections=[CHECKPOINTS]).events
    assert {(one.key, one.newer, one.waiting) for one in parked} == {
        ("later", True, 1),
        ("newer", True, 0),
        ("broken", False, 0),
    }
    with pytest.raises(Parked):
        site.memory.rebuild(CHECKPOINTS)
    for one in parked:
        if not one.newer:
            site.memory.skip(one.position)
    eventually(lambda: all(e.newer for e in site.memory.parked().events), what="the skip's effect")
    assert all(built.comparison.is_equal for built in site.memory.rebuild(CHECKPOINTS))
    assert len(site.memory.parked(projections=[CHECKPOINTS]).events) == 2  # newer ones wait there
    for one in parked:
        if one.newer:
            site.memory.skip(one.position)
    eventually(lambda: not site.memory.parked().events, what="the skips take effect")
    assert site.told("later") == ["behind a type that is not known"]
    assert all(built.comparison.is_equal for built in site.memory.rebuild())
    assert site.memory.sql("SELECT count(*) FROM events WHERE guest").rows == [(1,)]


def binary(agent):
    told = {
        "specversion": "1.0",
        "id": "b-1",
        "source": "/acme/monitor",
        "type": "mnemolog.observation.recorded",
        "agent": agent,
    }
    named = tuple((f"ce_{name}", value.encode()) for name, value in told.items())
    return (("content-type", b"application/json"), *named)


def wrong(agent):
    return (partition_of(agent.encode(), partitions=PARTITIONS) + 1) % PARTITIONS


def test_a_hole_as_a_compaction_leaves_it_holds_nobody_up(tmp_path):
    settings = {"agent": "ann", **QUICK}
    with Memory(tmp_path, projects=False, **settings) as memory:
        said = [memory.observe(f"room {number}") for number in range(4)]
        connection = memory.engine.log._file.connect()
        with transaction(connection, wait_seconds=10):
            connection.execute("DELETE FROM records WHERE place = ?", [place_of(*said[1].position)])
        connection.close()
    with Memory(tmp_path, **settings) as memory:
        memory.wait_for(said[-1].token)
        assert [one.text for one in memory.timeline(agent="ann")] == ["room 0", "room 2", "room 3"]
        assert memory.parked().events == ()
        assert memory.verify(CHECKPOINTS)[0].is_equal


@pytest.mark.kafka
def test_holes_of_transactions_in_the_middle_and_at_the_end_hold_nobody_up(kafka, tmp_path):
    engine = KafkaEngine(kafka.bootstrap)
    settings = {"log": f"kafka://{kafka.bootstrap}", "tenant": engine.tenant, "partitions": 1}
    with Memory(tmp_path, agent="ann", **settings, **QUICK) as memory:
        said = memory.observe("before the holes")
        value = parse_json(memory.engine.log.at(said.position).value)
        producer = Producer(
            {"bootstrap.servers": kafka.bootstrap, "transactional.id": engine.tenant}
        )
        producer.init_transactions(30)
        for name, end in (
            ("kept", producer.commit_transaction),
            ("undone", producer.abort_transaction),
        ):
            producer.begin_transaction()
            document = {**value, "id": name, "data": {"text": f"{name} by its publisher"}}
            producer.produce(
                memory.engine.log.topic,
                key=b"ann",
                value=json_bytes(document),
                headers=list(STRUCTURED),
                partition=0,
            )
            producer.flush(10)
            end(30)
        eventually(lambda: memory.engine.log.ends() == {0: 5}, what="the markers are there")
        memory.wait_for(memory.observe("behind the holes").token, projections=NAMES)
        assert sorted(texts(memory.recall("holes publisher"))) == [
            "before the holes",
            "behind the holes",
            "kept by its publisher",
        ]
        producer.begin_transaction()
        producer.produce(memory.engine.log.topic, key=b"ann", value=b"never", partition=0)
        producer.flush(10)
        producer.abort_transaction(30)  # the log ends with two holes now
        eventually(lambda: memory.engine.log.ends() == {0: 8}, what="the last marker is there")
        assert all(built.comparison.is_equal for built in memory.rebuild(CHECKPOINTS, "weights"))
        assert memory.verify(CHECKPOINTS)[0].is_equal
