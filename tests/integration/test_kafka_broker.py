"""The test broker itself: what it acknowledged outlives a kill, and it comes back where it was."""

import asyncio
import os
import signal
import subprocess
import sys

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

from support.kafka_broker import POM, KafkaBroker, KafkaUnavailable, answers, free_port
from support.polling import eventually

pytestmark = pytest.mark.kafka

START_AND_PRINT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import kafka_broker
print(kafka_broker.KafkaBroker(Path(sys.argv[2])).start().port, flush=True)
input()
"""


async def create(broker: KafkaBroker, topic: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap)
    await admin.start()
    try:
        await admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=1)])
    finally:
        await admin.close()


async def append(broker: KafkaBroker, topic: str, *values: bytes) -> None:
    async with AIOKafkaProducer(
        bootstrap_servers=broker.bootstrap, acks="all", enable_idempotence=True
    ) as producer:
        for value in values:
            await producer.send_and_wait(topic, value)


async def read(broker: KafkaBroker, topic: str, *, count: int) -> list[bytes]:
    consumer = AIOKafkaConsumer(bootstrap_servers=broker.bootstrap, enable_auto_commit=False)
    await consumer.start()
    try:
        partition = TopicPartition(topic, 0)
        consumer.assign([partition])
        await consumer.seek_to_beginning(partition)
        return [(await asyncio.wait_for(consumer.getone(), 30)).value for _ in range(count)]
    finally:
        await consumer.stop()


def test_what_was_acknowledged_is_there_after_a_kill_and_a_restart(kafka):
    port = kafka.port
    asyncio.run(create(kafka, "killed"))
    asyncio.run(append(kafka, "killed", b"one", b"two"))
    assert asyncio.run(read(kafka, "killed", count=2)) == [b"one", b"two"]

    kafka.kill()
    assert not answers(port)
    kafka.restart()

    asyncio.run(append(kafka, "killed", b"three"))
    assert kafka.port == port
    assert asyncio.run(read(kafka, "killed", count=3)) == [b"one", b"two", b"three"]


def test_a_broker_dies_with_the_process_that_started_it(kafka, tmp_path):
    command = [sys.executable, "-c", START_AND_PRINT, str(POM.parents[1]), str(tmp_path)]
    starter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = int(starter.stdout.readline())
    assert answers(port)

    os.kill(starter.pid, signal.SIGKILL)
    starter.wait()

    eventually(lambda: not answers(port), what="the broker ends")
    assert KafkaBroker(tmp_path).port == port  # the next one on this folder answers there again


def test_a_java_that_is_too_old_is_named(tmp_path, monkeypatch):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    with pytest.raises(KafkaUnavailable, match="17 or newer"):
        KafkaBroker(tmp_path / "kafka").start()


def test_nobody_answers_on_a_free_port():
    assert not answers(free_port())
