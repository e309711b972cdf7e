"""`mnemolog topics`: made as a log needs it, listed, and each fault named with what mends it."""

import json
import uuid

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from mnemolog.streams.kafka_topics import MESSAGE_BYTES_MAX, DescribedTopic
from mnemolog.streams.log import topic_of
from mnemolog.topics import remedy
from support.command_line import run

SOUND = {
    "cleanup.policy": "delete",
    "retention.ms": "-1",
    "retention.bytes": "-1",
    "message.timestamp.type": "LogAppendTime",
    "max.message.bytes": str(MESSAGE_BYTES_MAX),
    "min.insync.replicas": "2",
    "unclean.leader.election.enable": "false",
}


@pytest.fixture
def tenant():
    return f"t-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def url(kafka):
    return f"kafka://{kafka.bootstrap}"


def asked(*arguments, url):
    done = run(["topics", *arguments, "--log", url])
    return done, json.loads(done.out) if "--json" in arguments else None


@pytest.mark.kafka
def test_a_topic_is_made_once_and_listed_with_its_numbers(url, tenant):
    create = ("create", "--tenant", tenant, "--partitions", "3", "--json")
    _, made = asked(*create, url=url)
    assert (made["made"], made["topic"], made["partitions"]) == (True, topic_of(tenant), 3)
    _, again = asked("create", "--tenant", tenant, "--partitions", "5", "--json", url=url)
    assert (again["made"], again["partitions"]) == (False, 3)
    _, listed = asked("list", "--json", url=url)
    (found,) = [topic for topic in listed if topic["tenant"] == tenant]
    assert found == {k: v for k, v in made.items() if k != "made"}
    assert [fault["setting"] for fault in found["faults"]] == ["replication"]


@pytest.mark.kafka
def test_the_numbers_of_the_url_are_those_of_a_new_topic(url, tenant):
    _, made = asked("create", "--tenant", tenant, "--json", url=f"{url}?partitions=2")
    assert made["partitions"] == 2


@pytest.mark.kafka
def test_a_setting_that_loses_history_is_named_with_what_mends_it(kafka, url, tenant):
    asked("create", "--tenant", tenant, url=url)
    done, _ = asked("check", "--tenant", tenant, url=url)
    assert (done.code, "risk: its replication is 1" in done.err) == (0, True)
    name = topic_of(tenant)
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    shorter = ConfigEntry("retention.ms", "1000", incremental_operation=AlterConfigOpType.SET)
    topic = ConfigResource(ConfigResource.Type.TOPIC, name, incremental_configs=[shorter])
    for future in admin.incremental_alter_configs([topic]).values():
        future.result(10)
    done, _ = asked("check", "--tenant", tenant, url=url)
    assert done.code == 1
    assert "LOSES HISTORY: its retention.ms is 1000, not -1" in done.err
    assert f"--entity-name {name} --add-config retention.ms=-1" in done.err
    done, _ = asked("create", "--tenant", tenant, url=url)
    assert done.code == 2


@pytest.mark.kafka
def test_a_topic_that_is_not_there_is_not_found(url, tenant):
    done, _ = asked("check", "--tenant", tenant, url=url)
    assert (done.code, topic_of(tenant) in done.err) == (3, True)
    assert "`mnemolog topics create` makes it" in done.err


@pytest.mark.parametrize("command", ["create", "list", "check"])
def test_without_a_log_on_kafka_there_are_no_topics(command):
    done, _ = asked(command, url="")
    assert (done.code, "--log kafka://host:port" in done.err) == (2, True)


def test_a_sound_topic_of_three_copies_has_no_fault():
    assert DescribedTopic("t", 4, 3, SOUND).faults() == []


@pytest.mark.parametrize(
    ("setting", "value", "loses"),
    [
        ("cleanup.policy", "compact", True),
        ("retention.ms", "604800000", True),
        ("retention.bytes", "1", True),
        ("message.timestamp.type", "CreateTime", True),
        ("max.message.bytes", "1048588", True),
        ("min.insync.replicas", "4", True),
        ("min.insync.replicas", "1", False),
        ("unclean.leader.election.enable", "true", False),
    ],
)
def test_each_setting_has_its_fault_and_its_remedy(setting, value, loses):
    topic = DescribedTopic("t", 4, 3, {**SOUND, setting: value})
    (fault,) = topic.faults()
    assert (fault.setting, fault.found, fault.loses) == (setting, value, loses)
    wanted = fault.wanted.split()[0]
    assert remedy(topic, fault).endswith(f"--add-config {setting}={wanted}")


def test_settings_that_are_not_told_are_faults():
    lost = {fault.setting for fault in DescribedTopic("t", 1, 1, {}).faults() if fault.loses}
    assert lost == set(SOUND) - {"min.insync.replicas", "unclean.leader.election.enable"}
