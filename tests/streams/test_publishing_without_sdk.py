"""What docs/publishing.md shows works: its snippets are run, and what they publish is ours."""

import json
import subprocess
import sys
import uuid

import pytest
from confluent_kafka import Producer

from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Foreign, Guest, Ours
from mnemolog.schemas.ids import encoded_name
from mnemolog.streams.kafka_log import KafkaLog
from support import markdown
from support.log_records import everything
from support.sources import ROOT

pytestmark = pytest.mark.kafka

PAGE = ROOT / "docs" / "publishing.md"
ADDRESS, TOPIC = "localhost:9092", "mnemolog.acme.events"
HEADINGS = ("With aiokafka", "With confluent-kafka", "In binary mode")


def snippet(heading: str) -> str:
    """Return the one block of Python under *heading*."""
    ((_, text),) = markdown.blocks(markdown.section(PAGE.read_text(), heading), "python")
    return text


@pytest.fixture
def log(kafka):
    log = KafkaLog.open(kafka.bootstrap, tenant=f"t-{uuid.uuid4().hex[:12]}", partitions=4)
    yield log
    log.close()


@pytest.fixture
def codec(log):
    return Codec(tenant=log.topic.split(".")[1], partitions=log.partitions)


@pytest.fixture
def run(log, kafka):
    """Return a function that runs a snippet as it stands, against the test's broker and topic."""

    def run_(heading: str) -> None:
        text = snippet(heading)
        assert ADDRESS in text
        assert TOPIC in text
        code = text.replace(ADDRESS, kafka.bootstrap).replace(TOPIC, log.topic)
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            check=False,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr

    return run_


def decoded(log, codec):
    return [codec.decode(record) for record in everything(log)]


def test_every_snippet_of_the_page_is_run_here():
    page = PAGE.read_text()
    with_code = [
        h for h in markdown.sections(page) if markdown.blocks(markdown.section(page, h), "python")
    ]
    assert tuple(with_code) == HEADINGS


def test_an_event_published_with_aiokafka_is_ours(run, log, codec):
    run("With aiokafka")
    (found,) = decoded(log, codec)
    assert isinstance(found, Ours), found
    assert found.recorded.event.text.startswith("The nightly build is red")
    assert (found.key, found.envelope.project) == ("agent-7", "shop")


def test_events_published_with_confluent_kafka_are_ours_and_a_repeat_is_known(run, log, codec):
    run("With confluent-kafka")
    run("With confluent-kafka")
    found = decoded(log, codec)
    assert [type(one) for one in found] == [Ours] * 4, found
    assert [one.recorded.event.text for one in found[:2]] == [
        "压测开始",
        "p99 is 840 ms, the limit is 300 ms",
    ]
    assert {one.key for one in found} == {"代理-7"}
    assert len({(one.identity, one.content) for one in found}) == 2


def test_an_event_published_in_binary_mode_is_ours(run, log, codec):
    run("In binary mode")
    (found,) = decoded(log, codec)
    assert isinstance(found, Ours), found
    assert found.recorded.event.text == "The pool is back at 40 connections."
    assert found.envelope.source == "/acme/monitor"


def test_without_the_partitioner_librdkafka_misplaces_agents(log, codec, kafka):
    producer = Producer({"bootstrap.servers": kafka.bootstrap, "acks": "all"})
    for number in range(40):
        event = {
            "specversion": "1.0",
            "id": str(number),
            "source": "/acme",
            "type": "com.acme.done",
            "agent": f"agent-{number}",
        }
        producer.produce(log.topic, key=event["agent"].encode(), value=json.dumps(event))
    assert producer.flush(30) == 0
    kinds = {type(one) for one in decoded(log, codec)}
    reasons = {one.reason for one in decoded(log, codec) if isinstance(one, Foreign)}
    assert kinds == {Guest, Foreign}
    assert all("wrong partition" in reason for reason in reasons)


def test_the_page_names_the_topic_of_a_tenant_as_the_code_does():
    assert f"mnemolog.{encoded_name('Acme')}.events" in PAGE.read_text()
