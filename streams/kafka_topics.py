"""A tenant's topic: made with the settings that a log needs, refused with any that lose events."""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from aiokafka import errors
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

from mnemolog.schemas.errors import InvalidSetting, NotFound
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.streams.kafka_loop import RETRY_SECONDS

MESSAGE_BYTES_MAX: Final = EVENT_BYTES_MAX + 65_536
SAFE_REPLICAS: Final = 3

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


@dataclass(frozen=True, slots=True)
class TopicFault:
    """A setting of a topic that is not what a log needs.

    With one that *loses* history, or keeps events out, the log is not opened; the others are
    risks that an operator may take.
    """

    setting: str
    found: str
    wanted: str
    reason: str
    loses: bool

    def __str__(self) -> str:
        return f"its {self.setting} is {self.found}, not {self.wanted}: {self.reason}"


@dataclass(frozen=True, slots=True)
class DescribedTopic:
    """A topic as the brokers know it: how many copies each partition has, and its settings."""

    name: str
    partitions: int
    replicas: int  # of the partition that has the fewest
    settings: Mapping[str, str]

    def faults(self) -> list[TopicFault]:
        """Return what is wrong with it, what loses history first; nothing where all is well."""
        found = [*self._lossy(), *self._risky()]
        return sorted(found, key=lambda fault: not fault.loses)

    def _lossy(self) -> Iterable[TopicFault]:
        for setting, (wanted, reason) in _NEEDED.items():
            if (found := self.settings.get(setting, "unknown")) != wanted:
                yield TopicFault(setting, found, wanted, reason, loses=True)
        size = self.settings.get("max.message.bytes", "0")
        if int(size) < MESSAGE_BYTES_MAX:
            wanted = f"{MESSAGE_BYTES_MAX} or more"
            reason = f"an event needs up to {MESSAGE_BYTES_MAX}"
            yield TopicFault("max.message.bytes", size, wanted, reason, loses=True)
        if (in_sync := self._in_sync()) > self.replicas:
            reason = f"there are {self.replicas} copies, so nothing could be appended"
            wanted = f"{self.replicas} or less"
            yield TopicFault("min.insync.replicas", str(in_sync), wanted, reason, loses=True)

    def _risky(self) -> Iterable[TopicFault]:
        if self.replicas < SAFE_REPLICAS:
            reason = "with one broker lost, history may be"
            wanted = f"{SAFE_REPLICAS} or more"
            yield TopicFault("replication", str(self.replicas), wanted, reason, loses=False)
        elif (in_sync := self._in_sync()) < 2:  # noqa: PLR2004 - one more than the leader's
            reason = "an acknowledged event may stand on one broker only"
            yield TopicFault("min.insync.replicas", str(in_sync), "2 or more", reason, loses=False)
        if self.settings.get("unclean.leader.election.enable") == "true":
            reason = "a copy that lacks acknowledged events may become the only one"
            name = "unclean.leader.election.enable"
            yield TopicFault(name, "true", "false", reason, loses=False)

    def _in_sync(self) -> int:
        return int(self.settings.get("min.insync.replicas", "1"))


async def ensured_topic(
    admin: AIOKafkaAdminClient, name: str, settings: TopicSettings, *, read_only: bool
) -> DescribedTopic:
    """Return topic *name*, after making it where it is missing.

    An existing topic keeps its partitions, whatever *settings* say. Raises InvalidSetting for
    one that would lose events, or that the broker refuses to make; NotFound when *read_only*.
    """
    if read_only and name not in await admin.list_topics():
        raise NotFound("topic", name)
    found = await made_topic(admin, name, settings)
    for fault in found.faults():
        if fault.loses:
            raise InvalidSetting("log", name, str(fault))
    return found


async def made_topic(
    admin: AIOKafkaAdminClient, name: str, settings: TopicSettings
) -> DescribedTopic:
    """Return topic *name* as it is, after making it where it is missing."""
    if name not in await admin.list_topics():
        await _create(admin, settings.new_topic(name))
    (found,) = await described_topics(admin, [name])
    return found


async def described_topics(
    admin: AIOKafkaAdminClient, names: Iterable[str]
) -> list[DescribedTopic]:
    """Return the topics of *names*, which are there, once each partition has a leader.

    Raises InvalidSetting for one whose settings can't be read.
    """
    wanted = sorted(names)
    if not wanted:
        return []
    there = await _led(admin, wanted)
    settings = await _settings(admin, wanted)
    return [
        DescribedTopic(
            name,
            partitions=len(there[name]),
            replicas=min(len(partition["replicas"]) for partition in there[name]),
            settings=settings[name],
        )
        for name in wanted
    ]


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


async def _led(admin: AIOKafkaAdminClient, names: list[str]) -> dict[str, list[Any]]:
    """Wait until every partition of the topics has a leader, and return the partitions."""
    while True:
        topics = await admin.describe_topics(names)
        if all(
            topic["error_code"] == 0
            and topic["partitions"]
            and all(partition["leader"] >= 0 for partition in topic["partitions"])
            for topic in topics
        ):
            return {topic["topic"]: topic["partitions"] for topic in topics}
        await asyncio.sleep(RETRY_SECONDS)


async def _settings(admin: AIOKafkaAdminClient, names: list[str]) -> dict[str, dict[str, str]]:
    resources = [ConfigResource(ConfigResourceType.TOPIC, name) for name in names]
    found: dict[str, dict[str, str]] = {}
    for response in await admin.describe_configs(resources):
        for code, message, _, name, entries in response.resources:
            if code:
                error: Any = errors.for_code(code)
                limit = f"its settings can't be read: {error.__name__} {message or ''}"
                raise InvalidSetting("log", name, limit)
            found[name] = {entry[0]: entry[1] for entry in entries if entry[1] is not None}
    return found
