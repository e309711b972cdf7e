"""A tenant's topic: made with the settings that a log needs, refused with any that lose events."""

import asyncio
from dataclasses import dataclass
from typing import Any, Final

from aiokafka import errors
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from mnemolog.schemas.errors import InvalidSetting, NotFound
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.streams.kafka_loop import RETRY_SECONDS

MESSAGE_BYTES_MAX: Final = EVENT_BYTES_MAX + 65_536

# What an existing topic must say, and why.
_NEEDED: Final = {
    "cleanup.policy": ("delete", "compaction would remove events"),
    "retention.ms": ("-1", "events would be removed after a time"),
    "retention.bytes": ("-1", "events would be removed when there are many"),
    "message.timestamp.type": ("LogAppendTime", "recorded_at would be the publisher's clock"),
}


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """How a topic is made that is not there yet.

    Without *min_insync*, an acknowledgement stands for two copies where there are three or more.
    """

    partitions: int = 4
    replication: int = 1
    min_insync: int | None = None

    def new_topic(self, name: str) -> NewTopic:
        """Return what the broker is asked to make."""
        in_sync = self.min_insync or max(1, min(2, self.replication - 1))
        configs = {setting: value for setting, (value, _) in _NEEDED.items()}
        configs["max.message.bytes"] = str(MESSAGE_BYTES_MAX)
        configs["min.insync.replicas"] = str(in_sync)
        return NewTopic(name, self.partitions, self.replication, topic_configs=configs)


async def ensured_topic(
    admin: AIOKafkaAdminClient, name: str, settings: TopicSettings, *, read_only: bool
) -> int:
    """Return how many partitions topic *name* has, after making it where it is missing.

    An existing topic keeps its partitions, whatever *settings* say. Raises InvalidSetting for
    one that would lose events, or that the broker refuses to make; NotFound when *read_only*.
    """
    if name not in await admin.list_topics():
        if read_only:
            raise NotFound("topic", name)
        await _create(admin, settings.new_topic(name))
    partitions = await _led_partitions(admin, name)
    await _check_configs(admin, name)
    return partitions


async def _create(admin: AIOKafkaAdminClient, topic: NewTopic) -> None:
    while True:
        response = await admin.create_topics([topic])
        _, code, message, *_ = response.topic_errors[0]
        error = errors.for_code(code)
        if error in {errors.NoError, errors.TopicAlreadyExistsError}:
            return
        if not error.retriable and error is not errors.NotControllerError:
            limit = f"the broker refused to make it: {error.__name__} {message or ''}"
            raise InvalidSetting("log", topic.name, limit)
        await asyncio.sleep(RETRY_SECONDS)


async def _led_partitions(admin: AIOKafkaAdminClient, name: str) -> int:
    """Wait until every partition of the topic has a leader, and return how many there are."""
    while True:
        (topic,) = await admin.describe_topics([name])
        partitions = topic["partitions"]
        if topic["error_code"] == 0 and partitions and all(p["leader"] >= 0 for p in partitions):
            return len(partitions)
        await asyncio.sleep(RETRY_SECONDS)


async def _check_configs(admin: AIOKafkaAdminClient, name: str) -> None:
    found = await _configs(admin, name)
    for setting, (wanted, why) in _NEEDED.items():
        if found.get(setting) != wanted:
            limit = f"its {setting} is {found.get(setting)}, not {wanted}: {why}"
            raise InvalidSetting("log", name, limit)
    size = int(found.get("max.message.bytes") or 0)
    if size < MESSAGE_BYTES_MAX:
        limit = f"its max.message.bytes is {size}; an event needs up to {MESSAGE_BYTES_MAX}"
        raise InvalidSetting("log", name, limit)


async def _configs(admin: AIOKafkaAdminClient, name: str) -> dict[str, str | None]:
    resource = ConfigResource(ConfigResourceType.TOPIC, name)
    (response,) = await admin.describe_configs([resource])
    code, message, _, _, entries = response.resources[0]
    if code:
        error: Any = errors.for_code(code)
        limit = f"its settings can't be read: {error.__name__} {message or ''}"
        raise InvalidSetting("log", name, limit)
    return {entry[0]: entry[1] for entry in entries}
