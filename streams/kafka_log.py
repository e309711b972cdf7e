"""The log on Kafka: one topic a tenant, kept for ever, ordered by key.

Appends are idempotent and wait for all in-sync replicas; reading uses offsets of our own. An
append that timed out may still be delivered: its identity makes a repeat harmless.
"""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, Self
from weakref import WeakSet

from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient

from mnemolog.schemas.errors import ReadOnly
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord, NewRecord
from mnemolog.streams.admission import check_records, distinct
from mnemolog.streams.brokers import Brokers, brokers_at
from mnemolog.streams.kafka_loop import CLOSE_SECONDS_MAX, KafkaLoop, started, stopped
from mnemolog.streams.kafka_producers import REQUEST_MS_MAX, KafkaProducers
from mnemolog.streams.kafka_questions import QUESTION_SECONDS_MAX, KafkaQuestions
from mnemolog.streams.kafka_reader import STUCK_SECONDS, KafkaReader
from mnemolog.streams.kafka_topic_id import FoundTopic, topic_id
from mnemolog.streams.kafka_topics import TopicSettings, ensured_topic
from mnemolog.streams.log import APPEND_SECONDS_MAX, topic_of

OPEN_SECONDS_MAX: Final = 30.0  # how long opening waits for a broker
ASK_SECONDS_MIN: Final = 0.02  # between two looks at the ends, growing while nothing comes
ASK_SECONDS_MAX: Final = 0.25
# While a fetch waits at the ends of some partitions, aiokafka asks nothing of the others: what
# they hold comes that much later. Longer waits cost a catch-up most of its pace.
FETCH_WAIT_MS: Final = 50


class KafkaLog:
    """One handle on a tenant's topic. Made by `open`."""

    def __init__(
        self, loop: KafkaLoop, brokers: Brokers, topic: str, *, found: FoundTopic, read_only: bool
    ) -> None:
        partitions = found.partitions
        self.topic = topic
        self.partitions = partitions
        self.reader_restarts = 0  # consumers that stood still and were replaced
        self._topic_id = found.id
        self._read_only = read_only
        self._brokers = brokers
        self._loop = loop
        self._make = partial(_consumer, brokers)
        self._producers = KafkaProducers(brokers, topic, partitions=partitions)
        self._questions = KafkaQuestions(self._make, topic, brokers=brokers, partitions=partitions)
        self._readers: WeakSet[KafkaReader] = WeakSet()
        self._news = asyncio.Event()

    @classmethod
    def open(
        cls,
        brokers: Brokers | str,
        *,
        tenant: str,
        partitions: int = 4,
        replication: int = 1,
        min_insync: int | None = None,
        read_only: bool = False,
        timeout_seconds: float = OPEN_SECONDS_MAX,
    ) -> Self:
        """Open the tenant's topic at *brokers*, made first where there is none.

        Addresses alone, host:port with commas, are spoken to in plain text. The numbers are
        those of a new topic; an existing one keeps its own. Raises LogUnavailable when no broker
        answers in time or one refuses us, InvalidSetting for a topic whose settings lose events,
        NotFound when *read_only*.
        """
        return cls.open_topic(
            brokers,
            topic_of(tenant),
            TopicSettings(partitions, replication, min_insync),
            read_only=read_only,
            timeout_seconds=timeout_seconds,
        )

    @classmethod
    def open_topic(
        cls,
        brokers: Brokers | str,
        topic: str,
        settings: TopicSettings,
        *,
        read_only: bool = False,
        timeout_seconds: float = OPEN_SECONDS_MAX,
    ) -> Self:
        """Open any *topic* as a log, as `open` does; where it is made, with *settings*."""
        there = brokers_at(brokers)
        loop = KafkaLoop(topic)
        try:
            found = loop.call(
                lambda: _ensured(
                    there, topic, settings, read_only=read_only, seconds_max=timeout_seconds
                ),
                timeout_seconds=timeout_seconds,
                doing=f"opening the topic at {there}",
            )
        except BaseException:
            loop.close()
            raise
        return cls(loop, there, topic, found=found, read_only=read_only)

    def append(
        self, records: Sequence[NewRecord], *, timeout_seconds: float = APPEND_SECONDS_MAX
    ) -> list[Position]:
        """Append *records* and return their places, once all in-sync replicas have them.

        A repeat within the call is left out; one of an earlier call stands twice on the topic.
        """
        if self._read_only:
            raise ReadOnly("append")
        check_records(records)
        if not records:
            return []
        firsts, indexes = distinct(records)
        positions = self._loop.call(
            lambda: self._append(firsts), timeout_seconds=timeout_seconds, doing="appending"
        )
        return [positions[index] for index in indexes]

    def reader(
        self, start: Mapping[int, int], *, stuck_seconds: float = STUCK_SECONDS
    ) -> KafkaReader:
        """Return a reader that begins at *start*, with a consumer of its own."""
        reader = KafkaReader(
            self._loop,
            self._make,
            start,
            topic=self.topic,
            topic_id=self._topic_id,
            brokers=self._brokers,
            partitions=self.partitions,
            questions=self._questions,
            on_restart=self._count_restart,
            stuck_seconds=stuck_seconds,
        )
        self._readers.add(reader)
        return reader

    def starts(self) -> dict[int, int]:
        """Return the first offset that is still there in each partition, or its end."""
        return self._loop.call(
            self._questions.starts,
            timeout_seconds=QUESTION_SECONDS_MAX,
            doing="asking for the starts",
        )

    def ends(self) -> dict[int, int]:
        """Return the offset after the last committed record of each partition."""
        return self._loop.call(
            self._questions.ends, timeout_seconds=QUESTION_SECONDS_MAX, doing="asking for the ends"
        )

    def at(self, position: Position) -> LogRecord | None:
        """Return the record at *position*, or None where there is none."""
        return self._loop.call(
            lambda: self._questions.at(position),
            timeout_seconds=QUESTION_SECONDS_MAX,
            doing=f"reading {position}",
        )

    def position_at(self, moment: datetime) -> dict[int, int]:
        """Return each partition's first offset recorded at *moment* or later, or its end."""
        return self._loop.call(
            lambda: self._questions.first_at(moment),
            timeout_seconds=QUESTION_SECONDS_MAX,
            doing="asking for a time",
        )

    def wait(self, after: Mapping[int, int], *, timeout_seconds: float) -> bool:
        """Wait until a partition's end is beyond its offset in *after*; say whether one is.

        An append of this handle wakes it at once, others within `ASK_SECONDS_MAX`.
        """
        return self._loop.call(
            lambda: self._wait(after, timeout_seconds),
            timeout_seconds=timeout_seconds + QUESTION_SECONDS_MAX,
            doing="waiting for events",
        )

    def wake(self) -> None:
        """Let a wait of this handle look again now."""
        self._loop.tell(self._tell_news)

    def close(self) -> None:
        """Give what is under way a moment, then let go of connections and thread."""
        if not self._loop.is_closed:
            self._loop.call(
                self._close, timeout_seconds=2 * CLOSE_SECONDS_MAX, doing="closing the log"
            )
        self._loop.close()

    async def _append(self, records: Sequence[NewRecord]) -> list[Position]:
        positions = await self._producers.append(records)
        self._tell_news()
        return positions

    def _tell_news(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    async def _wait(self, after: Mapping[int, int], seconds_max: float) -> bool:
        clock = asyncio.get_running_loop().time
        deadline = clock() + seconds_max
        pause = ASK_SECONDS_MIN
        while True:
            news = self._news
            ends = await self._questions.ends()
            if any(ends.get(p, 0) > offset for p, offset in after.items()):
                return True
            remaining = deadline - clock()
            if remaining <= 0:
                return False
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), min(pause, remaining))
            pause = min(2 * pause, ASK_SECONDS_MAX)

    async def _close(self) -> None:
        readers = (reader.stop() for reader in self._readers)
        await asyncio.gather(self._producers.close(), self._questions.close(), *readers)

    def _count_restart(self) -> None:
        self.reader_restarts += 1


async def _ensured(
    brokers: Brokers, topic: str, settings: TopicSettings, *, read_only: bool, seconds_max: float
) -> FoundTopic:
    admin = await started(
        lambda: AIOKafkaAdminClient(
            **brokers.options(), client_id="mnemolog", request_timeout_ms=REQUEST_MS_MAX
        ),
        brokers=brokers,
        timeout_seconds=seconds_max,
    )
    try:
        there = await ensured_topic(admin, topic, settings, read_only=read_only)
        return FoundTopic(there.partitions, await topic_id(admin._client, topic))  # noqa: SLF001
    finally:
        await stopped(admin)


def _consumer(brokers: Brokers, *, max_partition_fetch_bytes: int) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(
        **brokers.options(),
        client_id="mnemolog",
        group_id=None,
        enable_auto_commit=False,
        auto_offset_reset="none",
        isolation_level="read_committed",
        check_crcs=True,
        request_timeout_ms=REQUEST_MS_MAX,
        fetch_max_wait_ms=FETCH_WAIT_MS,
        max_partition_fetch_bytes=max_partition_fetch_bytes,
    )
