"""The topic of dead letters on Kafka, made with the first letter where it is missing."""

from collections.abc import Sequence
from typing import Final

from aiokafka.admin import AIOKafkaAdminClient

from mnemolog.schemas.records import NewRecord
from mnemolog.streams.brokers import Brokers
from mnemolog.streams.kafka_loop import CLOSE_SECONDS_MAX, KafkaLoop, started, stopped
from mnemolog.streams.kafka_producers import REQUEST_MS_MAX, KafkaProducers
from mnemolog.streams.kafka_topics import TopicSettings, made_topic

PUT_SECONDS_MAX: Final = 30.0
PARTITIONS: Final = 1


class KafkaDeadLetters:
    """Puts letters on *topic*. Any thread may use it.

    What an operator has set the topic to, retention say, is left: nothing here is read back.
    """

    def __init__(self, brokers: Brokers, topic: str, settings: TopicSettings) -> None:
        self._brokers = brokers
        self._topic = topic
        self._settings = settings
        self._loop: KafkaLoop | None = None
        self._producers: KafkaProducers | None = None

    def put(self, letters: Sequence[NewRecord]) -> None:
        """Put *letters* there, durable on return. Raises LogUnavailable or InvalidSetting."""
        if self._loop is None:
            self._loop = KafkaLoop(self._topic)  # a thread: only who has a letter needs one
        self._loop.call(
            lambda: self._put(letters),
            timeout_seconds=PUT_SECONDS_MAX,
            doing=f"putting dead letters on {self._topic}",
        )

    def close(self) -> None:
        """Let go of connections and thread. Harmless twice."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        producers, self._producers = self._producers, None
        if producers is not None:
            loop.call(
                producers.close, timeout_seconds=2 * CLOSE_SECONDS_MAX, doing="closing the letters"
            )
        loop.close()

    async def _put(self, letters: Sequence[NewRecord]) -> None:
        if self._producers is None:
            there = await self._made()
            self._producers = KafkaProducers(self._brokers, self._topic, partitions=there)
        await self._producers.append(letters)

    async def _made(self) -> int:
        admin = await started(
            lambda: AIOKafkaAdminClient(
                **self._brokers.options(), client_id="mnemolog", request_timeout_ms=REQUEST_MS_MAX
            ),
            brokers=self._brokers,
            timeout_seconds=PUT_SECONDS_MAX,
        )
        try:
            return (await made_topic(admin, self._topic, self._settings)).partitions
        finally:
            await stopped(admin)
