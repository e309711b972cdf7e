"""A log that was made of another's export has its content, on any engine, with any partitions."""

import uuid
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from mnemolog import exporting_merge
from mnemolog.importers.importing import import_paths
from mnemolog.importers.report import ImportReport
from mnemolog.memory import Memory
from support.log_engines import KafkaEngine, MemoryEngine, SQLiteEngine
from support.moved_history import LONG, account, fill
from support.polling import eventually
from support.remembering import opened

TENANT = f"moved-{uuid.uuid4().hex[:8]}"  # names topics, and stands in each event
HERE = ("memory", "sqlite")
LOGS = [(engine, partitions) for engine in HERE for partitions in (1, 4)]


@dataclass
class Moved:
    """An export, and what its log had."""

    path: Path
    account: dict[str, Any]


def opened_on(engine, partitions, folder, *, bootstrap=None, tenant=TENANT):
    """Return a memory on a new log."""
    where = {"tenant": tenant, "partitions": partitions}
    if engine == "kafka":
        url = f"kafka://{bootstrap}?partitions={partitions}"
        return opened(folder, tenant=tenant, log=url)
    return opened(folder if engine == "sqlite" else ":memory:", **where)


def raw_hand(engine, memory, folder, *, bootstrap=None):
    """Return what puts raw records on the memory's log."""
    hand: Any = {
        "memory": MemoryEngine,
        "sqlite": partial(SQLiteEngine, folder),
        "kafka": partial(KafkaEngine, bootstrap),
    }[engine]()
    return partial(hand.put_raw, memory.engine.log)


def taken(memory: Memory, path: Path, **how: Any) -> ImportReport:
    engine = memory.engine
    return import_paths(
        [path], publisher=engine.publisher, log=engine.log, blobs=engine.blobs, **how
    )


def moved(engine, partitions, folder, **where) -> Moved:
    """Fill a log, and return its export and its content."""
    folder.mkdir(exist_ok=True)
    path = folder / "x.jsonl.gz"
    with opened_on(engine, partitions, folder, **where) as memory:
        fill(memory, raw_hand(engine, memory, folder, bootstrap=where.get("bootstrap")))
        told = account(memory)
        report = memory.export(path)
    assert (report.left_out, report.blobs, report.blobs_missing) == (1, 1, 0)
    assert report.foreign == 9 + (partitions > 1)
    return Moved(path, told)


def check(source: Moved, engine, partitions, folder, **where) -> None:
    """Make a log of the export and compare."""
    with opened_on(engine, partitions, folder, **where) as memory:
        first = taken(memory, source.path)
        assert first.problems == []
        assert memory.engine.log.partitions == partitions
        assert account(memory) == source.account
        [long] = [b.sha256 for b in memory.engine.blobs.stored()]
        assert memory.engine.blobs.get(long).decode() == LONG
        if engine != "kafka":
            ends, again = memory.engine.log.ends(), taken(memory, source.path)
            assert (again.added, again.foreign, memory.engine.log.ends()) == (0, 0, ends)
            assert again.events == first.events


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Return the export of a log, made once."""
    made: dict[Any, Moved] = {}

    def source(engine, partitions, **where) -> Moved:
        if (engine, partitions) not in made:
            folder = tmp_path_factory.mktemp(f"{engine}-{partitions}")
            made[engine, partitions] = moved(engine, partitions, folder, **where)
        return made[engine, partitions]

    return source


@pytest.mark.parametrize(("engine", "partitions"), LOGS)
@pytest.mark.parametrize(("source", "of"), LOGS)
def test_a_log_of_an_export_has_its_content(sources, source, of, engine, partitions, tmp_path):
    check(sources(source, of), engine, partitions, tmp_path)


def test_a_stream_by_time_alone_is_found_to_have_other_content(tmp_path, monkeypatch):
    """What the barriers are for: some partitions have a policy that others lack."""
    monkeypatch.setattr(exporting_merge, "_barrier", lambda _: None)
    source = moved("memory", 4, tmp_path)
    with opened_on("memory", 4, tmp_path) as memory:
        taken(memory, source.path)
        assert account(memory)["digests"] != source.account["digests"]


# On Kafka: each test has a tenant, and so a topic, of its own.


@pytest.fixture
def where(kafka):
    return {"bootstrap": kafka.bootstrap, "tenant": f"moved-{uuid.uuid4().hex[:8]}"}


@pytest.mark.kafka
@pytest.mark.parametrize(("engine", "of", "partitions"), [("sqlite", 1, 4), ("memory", 4, 1)])
def test_the_way_to_kafka(engine, of, partitions, where, tmp_path):
    source = moved(engine, of, tmp_path / "here", **where)
    check(source, "kafka", partitions, tmp_path / "there", **where)


@pytest.mark.kafka
@pytest.mark.parametrize("of", [1, 4])
def test_the_way_from_kafka_and_to_a_topic_of_another_partition_count(of, where, tmp_path):
    source = moved("kafka", of, tmp_path / "here", **where)
    for engine, partitions in (("memory", 5 - of), ("sqlite", of)):
        check(source, engine, partitions, tmp_path / engine, **where)
    topic = KafkaEngine(where["bootstrap"])
    topic.tenant = where["tenant"]
    topic.make_anew()
    check(source, "kafka", 5 - of, tmp_path / "there", **where)


@pytest.mark.kafka
def test_on_kafka_an_import_that_is_run_again_has_no_effect_and_neither_has_the_logs_own(
    where, tmp_path
):
    source = moved("kafka", 4, tmp_path / "here", **where)
    with opened_on("kafka", 4, tmp_path / "here", **where) as memory:
        before, ends = account(memory), memory.engine.log.ends()
        for _ in range(2):
            assert taken(memory, source.path).problems == []
        after = account(memory)
        assert sum(memory.engine.log.ends().values()) > sum(ends.values())
    assert after["digests"] == before["digests"]
    for found in (before, after):  # what is set aside is set aside again
        found["parked"] = {name: {one[0] for one in told} for name, told in found["parked"].items()}
    assert after["parked"] == before["parked"]
    assert set(after["foreign"]) == set(before["foreign"])


@pytest.mark.kafka
def test_holes_that_transactions_leave_are_passed_at_the_end_too(where, tmp_path):
    with opened_on("kafka", 1, tmp_path / "here", **where) as memory:
        memory.observe("before", agent="ann")
        told = {"bootstrap.servers": where["bootstrap"], "transactional.id": uuid.uuid4().hex}
        producer = Producer(told)
        producer.init_transactions(30)
        for end in (producer.commit_transaction, producer.abort_transaction):
            producer.begin_transaction()
            producer.produce(memory.engine.log.topic, key=b"k", value=b"not json", partition=0)
            producer.flush(10)
            end(30)
        eventually(lambda: memory.engine.log.ends() == {0: 5}, what="the markers are there")
        report = memory.export(tmp_path / "x.jsonl")
    assert (report.events, report.foreign) == (1, 1)
