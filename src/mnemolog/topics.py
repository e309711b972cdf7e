"""What commands about topics need: whose topic at which brokers, and how a fault is mended."""

from dataclasses import dataclass
from typing import Final

from mnemolog.schemas.errors import InvalidSetting
from mnemolog.settings import Settings
from mnemolog.streams.brokers import Brokers
from mnemolog.streams.kafka_topics import DescribedTopic, TopicFault, TopicSettings
from mnemolog.streams.log import topic_of
from mnemolog.streams.opening import KAFKA_PARTITIONS, brokers_of, numbers_of

COPIES: Final = "replication"


@dataclass(frozen=True, slots=True)
class WantedTopic:
    """A tenant's topic, where it is, and the numbers that the URL gives to a new one."""

    topic: str
    brokers: Brokers
    numbers: dict[str, int]

    def new_topic(
        self, *, partitions: int | None, replication: int | None, min_insync: int | None
    ) -> TopicSettings:
        """Return how the topic is made: an argument first, then the URL, then the default."""
        return TopicSettings(
            partitions or self.numbers.get("partitions", KAFKA_PARTITIONS),
            replication or self.numbers.get("replication", 1),
            min_insync or self.numbers.get("min_insync"),
        )


def of_settings(log: str | None, tenant: str | None) -> WantedTopic:
    """Return what arguments and environment name. Raises InvalidSetting for a log on no broker."""
    settings = Settings.resolve(log=log, tenant=tenant)
    url = settings["log"]
    if not url:
        raise InvalidSetting("log", url, "topics are on Kafka: --log kafka://host:port")
    numbers = numbers_of(url)
    if settings.partitions is not None:
        numbers = {"partitions": settings.partitions, **numbers}
    return WantedTopic(topic_of(settings.tenant), brokers_of(url, settings.security), numbers)


def remedy(topic: DescribedTopic, fault: TopicFault) -> str:
    """Return what an operator does about *fault* with the tools that come with Kafka."""
    if fault.setting == COPIES:
        return "kafka-reassign-partitions.sh gives it more copies on other brokers"
    wanted = fault.wanted.split()[0]
    return (
        f"kafka-configs.sh --bootstrap-server HOST:PORT --alter --entity-type topics "
        f"--entity-name {topic.name} --add-config {fault.setting}={wanted}"
    )
