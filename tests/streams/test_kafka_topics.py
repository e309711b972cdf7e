"""The topic of a log has the settings that keep events, or is refused with the reason."""

import pytest
from confluent_kafka.admin import ConfigResource, NewTopic

from mnemolog.schemas.errors import InvalidSetting, LogReplaced, NotFound, ReadOnly
from mnemolog.streams.log import topic_of
from mnemolog.streams.opening import open_log
from support.log_records import everything, numbered, values
from support.polling import eventually

pytestmark = pytest.mark.kafka

SETTINGS = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.type": "LogAppendTime",
    "max.message.bytes": str(1_048_576 + 65_536),
    "min.insync.replicas": "1",
}


def make_topic(admin, tenant, partitions=2, **changed):
    config = {name: value for name, value in {**SETTINGS, **changed}.items() if value is not None}
    topic = NewTopic(topic_of(tenant), partitions, 1, config=config)
    for future in admin.create_topics([topic]).values():
        future.result(10)


def test_a_missing_topic_is_made_with_the_settings_of_a_log(open_kafka, admin):
    log = open_kafka(partitions=3)
    resource = ConfigResource(ConfigResource.Type.TOPIC, log.topic)
    (future,) = admin.describe_configs([resource]).values()
    found = {name: entry.value for name, entry in future.result(10).items()}
    assert {name: found[name] for name in SETTINGS} == SETTINGS
    assert log.partitions == 3


def test_a_url_opens_the_log(kafka, tenant):
    url = f"kafka://{kafka.bootstrap}?partitions=2"
    log = open_log(url, folder=None, tenant=tenant, partitions=7)
    assert (log.topic, log.partitions) == (topic_of(tenant), 2)
    log.close()


def test_without_a_number_a_topic_gets_four_partitions(kafka, tenant):
    log = open_log(f"kafka://{kafka.bootstrap}", folder=None, tenant=tenant)
    assert log.partitions == 4
    log.close()


def test_an_existing_topic_keeps_its_partitions(open_kafka, admin, tenant):
    make_topic(admin, tenant, partitions=2)
    log = open_kafka(partitions=8)
    assert log.partitions == 2
    log.append([numbered((n, "x"), key=b"agent-%d" % n) for n in range(20)])
    assert set(log.ends()) == {0, 1}
    assert all(log.ends().values())


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"cleanup.policy": "compact"}, "cleanup.policy is compact.*compaction"),
        ({"cleanup.policy": "compact,delete"}, "cleanup.policy is compact,delete"),
        ({"retention.ms": "604800000"}, "retention.ms is 604800000"),
        ({"retention.ms": None}, "retention.ms is 604800000"),
        ({"retention.bytes": "1000000"}, "retention.bytes is 1000000"),
        ({"message.timestamp.type": "CreateTime"}, "message.timestamp.type is CreateTime"),
        ({"max.message.bytes": "1048588"}, "max.message.bytes is 1048588"),
    ],
)
def test_a_topic_that_would_lose_events_is_refused(open_kafka, admin, tenant, changed, reason):
    make_topic(admin, tenant, **changed)
    with pytest.raises(InvalidSetting, match=reason):
        open_kafka()


def test_a_topic_that_the_broker_can_not_make_is_refused_with_its_reason(open_kafka):
    with pytest.raises(InvalidSetting, match="InvalidReplicationFactor"):
        open_kafka(replication=3)


def test_a_handle_that_only_reads_makes_no_topic_and_appends_nothing(open_kafka, admin, tenant):
    with pytest.raises(NotFound, match=topic_of(tenant)):
        open_kafka(read_only=True)
    assert topic_of(tenant) not in admin.list_topics(timeout=10).topics
    open_kafka().append([numbered(1)])
    reading = open_kafka(read_only=True)
    assert values(everything(reading)) == [b"1"]
    with pytest.raises(ReadOnly, match="append"):
        reading.append([numbered(2)])


def test_a_topic_made_anew_with_fewer_partitions_is_found_out_by_an_append(
    open_kafka, admin, tenant
):
    log = open_kafka(partitions=2)
    log.append([numbered(1)])
    for future in admin.delete_topics([log.topic]).values():
        future.result(10)
    eventually(lambda: log.topic not in admin.list_topics(timeout=10).topics, what="it is gone")
    make_topic(admin, tenant, partitions=1)
    with pytest.raises(LogReplaced, match="it has 1 partitions, and had 2"):
        log.append([numbered(n) for n in range(100)])
