"""What the brokers say of tenants: whose topics there are, how they are set, who owns which."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from aiokafka import errors
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.protocol import ConsumerProtocolMemberAssignment

from mnemolog.streams.brokers import Brokers, brokers_at
from mnemolog.streams.kafka_loop import KafkaLoop, started, stopped
from mnemolog.streams.kafka_producers import REQUEST_MS_MAX
from mnemolog.streams.kafka_topics import (
    DescribedTopic,
    TopicSettings,
    described_topics,
    ensured_topic,
)
from mnemolog.streams.log import TOPIC_PREFIX, TOPIC_SUFFIX

GROUP: Final = "mnemolog-worker"  # of workers that are not told another
ASK_SECONDS_MAX: Final = 10.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Member:
    """A worker as the brokers know it, and the topics that it owns."""

    client: str
    host: str
    topics: frozenset[str]


class KafkaTenants:
    """Asks *brokers*. Any thread may use it."""

    def __init__(self, brokers: Brokers | str) -> None:
        self._brokers = brokers_at(brokers)
        self._loop = KafkaLoop(str(brokers))

    def topics(self) -> frozenset[str]:
        """Return the topics of tenants' logs. Raises LogUnavailable when no broker answers."""
        return self._ask(_topics, doing="listing the topics")

    def members(self, group: str) -> list[Member]:
        """Return the members of a *group* of workers; none of a group that nobody made.

        Raises LogUnavailable when no broker answers.
        """
        return self._ask(lambda admin: _members(admin, group), doing="asking for the workers")

    def described(self, topics: Iterable[str]) -> list[DescribedTopic]:
        """Return *topics*, which are there, with their settings; by name.

        Raises LogUnavailable when no broker answers, InvalidSetting when they tell no settings.
        """
        return self._ask(lambda admin: described_topics(admin, topics), doing="asking for topics")

    def ensured(self, topic: str, settings: TopicSettings) -> DescribedTopic:
        """Return *topic*, made as *settings* say where it is missing.

        Raises LogUnavailable when no broker answers, InvalidSetting for one that loses events.
        """
        return self._ask(
            lambda admin: ensured_topic(admin, topic, settings, read_only=False),
            doing="making the topic",
        )

    def close(self) -> None:
        """Let go of the thread. Harmless twice."""
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _ask(self, ask: Callable[[Any], Coroutine[Any, Any, T]], *, doing: str) -> T:
        return self._loop.call(
            lambda: self._asked(ask), timeout_seconds=ASK_SECONDS_MAX, doing=doing
        )

    async def _asked(self, ask: Callable[[Any], Coroutine[Any, Any, T]]) -> T:
        admin = await started(
            lambda: AIOKafkaAdminClient(
                **self._brokers.options(),
                client_id="mnemolog",
                request_timeout_ms=REQUEST_MS_MAX,
            ),
            brokers=self._brokers,
            timeout_seconds=ASK_SECONDS_MAX,
        )
        try:
            async with asyncio.timeout(ASK_SECONDS_MAX):
                return await ask(admin)
        finally:
            await stopped(admin)


async def _topics(admin: AIOKafkaAdminClient) -> frozenset[str]:
    return frozenset(
        name
        for name in await admin.list_topics()
        if name.startswith(TOPIC_PREFIX) and name.endswith(TOPIC_SUFFIX)
    )


async def _members(admin: AIOKafkaAdminClient, group: str) -> list[Member]:
    try:
        (response,) = await admin.describe_consumer_groups([group])
    except (errors.GroupCoordinatorNotAvailableError, errors.GroupIdNotFound):
        return []  # no group was ever made on these brokers
    return [
        Member(client, host.removeprefix("/"), _assigned(assignment))
        for *_, members in (found[:6] for found in response.groups)
        for _, client, host, _, assignment in (member[:5] for member in members)
    ]


def _assigned(assignment: bytes) -> frozenset[str]:
    if not assignment:
        return frozenset()
    decoded = ConsumerProtocolMemberAssignment.decode(assignment)
    return frozenset(topic for topic, partitions in decoded.assignment if partitions)
