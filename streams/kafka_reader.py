"""Reading a Kafka log from offsets of our own: no group, no commits, no reset.

What a poll has returned is past; what it lost on the way, to a time-out or an interrupt, is read
again. A consumer that stands still though the log goes on is replaced, and counted.
"""

import time
from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from aiokafka import AIOKafkaConsumer, TopicPartition, errors

from mnemolog.schemas.errors import LogReplaced, LogUnavailable
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.admission import check_partitions, check_reach
from mnemolog.streams.brokers import Brokers
from mnemolog.streams.budget import ReadBudget
from mnemolog.streams.kafka_loop import KafkaLoop, started, stopped
from mnemolog.streams.kafka_questions import KafkaQuestions
from mnemolog.streams.kafka_records import record_of
from mnemolog.streams.kafka_topic_id import NO_ID, topic_id

POLL_SECONDS_MAX: Final = 15.0  # what a poll may take beyond the wait that it was asked for
STUCK_SECONDS: Final = 10.0  # without a record, while there were some all the time
FETCH_BYTES_MAX: Final = 1_114_112  # of each partition in one fetch
CHUNK_RECORDS: Final = 512  # taken at once, so that large records end a poll early

Found = tuple[list[LogRecord], dict[int, int]]


class KafkaReader:
    """Reads from given offsets on. One thread at a time uses it."""

    def __init__(
        self,
        loop: KafkaLoop,
        make: Callable[..., AIOKafkaConsumer],
        start: Mapping[int, int],
        *,
        topic: str,
        topic_id: UUID | None,
        brokers: Brokers,
        partitions: int,
        questions: KafkaQuestions,
        on_restart: Callable[[], None],
        stuck_seconds: float = STUCK_SECONDS,
    ) -> None:
        check_partitions(topic, start, partitions=partitions)
        self._loop = loop
        self._make = make
        self._topic = topic
        self._topic_id = topic_id
        self._brokers = brokers
        self._questions = questions
        self._on_restart = on_restart
        self._stuck_seconds = stuck_seconds
        self._following = dict(start)
        self._consumer: AIOKafkaConsumer | None = None
        self._is_out_of_step = False
        self._checked_at = time.monotonic()
        self._ends_then: Mapping[int, int] = {}

    def poll(self, *, records_max: int, wait_seconds: float) -> list[LogRecord]:
        """Return the next records; wait up to *wait_seconds* for the first one."""
        try:
            found, self._following = self._loop.call(
                lambda: self._poll(ReadBudget(records_max), wait_seconds),
                timeout_seconds=wait_seconds + POLL_SECONDS_MAX,
                doing="reading",
            )
        except BaseException:
            self._is_out_of_step = True  # it may have passed records that nobody got
            raise
        return found

    def positions(self) -> dict[int, int]:
        """Return the next offset to read in each partition."""
        return dict(self._following)

    def close(self) -> None:
        """Stop the consumer."""
        if self._consumer is not None and not self._loop.is_closed:
            self._loop.call(self.stop, timeout_seconds=POLL_SECONDS_MAX, doing="closing a reader")

    async def _poll(self, budget: ReadBudget, wait_seconds: float) -> Found:
        if not self._following:
            return [], {}
        consumer = await self._ready()
        try:
            found, following = await _collected(consumer, budget, wait_seconds)
        except errors.OffsetOutOfRangeError as error:
            await self._check_topic(consumer)
            await self._explain(error)
            raise
        if found:
            await self._check_topic(consumer)
        if following == self._following:
            await self._watch()
        else:
            self._checked_at, self._ends_then = time.monotonic(), {}
        return found, following

    async def _ready(self) -> AIOKafkaConsumer:
        """Return the consumer, at the offsets that come next."""
        if self._is_out_of_step:
            await self.stop()
        if self._consumer is None:
            self._consumer = await started(
                lambda: self._make(max_partition_fetch_bytes=FETCH_BYTES_MAX),
                brokers=self._brokers,
                timeout_seconds=POLL_SECONDS_MAX,
            )
            where = {TopicPartition(self._topic, p): o for p, o in self._following.items()}
            self._consumer.assign(list(where))
            for partition, offset in where.items():
                self._consumer.seek(partition, offset)
            self._is_out_of_step = False
        return self._consumer

    async def stop(self) -> None:
        """Stop the consumer, within the event loop; the next poll makes another."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await stopped(consumer)

    async def _explain(self, error: Exception) -> None:
        """Say which offset the log does not have, and why that is grave."""
        starts, ends = await self._questions.starts(), await self._questions.ends()
        for partition, wanted in self._following.items():
            start, end = starts[partition], ends[partition]
            check_reach(self._topic, partition=partition, wanted=wanted, start=start, end=end)
        raise LogUnavailable(self._topic, "an offset was out of range, and now is not") from error

    async def _check_topic(self, consumer: AIOKafkaConsumer) -> None:
        """Raise unless what was just read is of the topic that was opened.

        One made anew under the name gives no error where it has grown beyond the offset that
        comes next: what stands before that would be passed in silence.
        """
        now = await topic_id(consumer._client, self._topic)  # noqa: SLF001
        if None in {now, self._topic_id} or now == self._topic_id:
            return
        if now == NO_ID:
            raise LogUnavailable(self._topic, "the topic is gone")
        partition, offset = next(iter(self._following.items()))
        reason = "the topic was deleted and made anew under its name"
        raise LogReplaced(self._topic, partition=partition, offset=offset, reason=reason)

    async def _watch(self) -> None:
        """Replace a consumer that was given nothing of what was there all the time."""
        now = time.monotonic()
        if now - self._checked_at < self._stuck_seconds:
            return
        then, self._ends_then = self._ends_then, await self._questions.ends()
        self._checked_at = now
        if any(then.get(p, 0) > offset for p, offset in self._following.items()):
            self._ends_then = {}
            self._on_restart()
            await self.stop()


async def _collected(consumer: AIOKafkaConsumer, budget: ReadBudget, wait_seconds: float) -> Found:
    """Return records, and the offsets that come next: behind them, and behind holes."""
    found: list[LogRecord] = []
    wait_ms = int(wait_seconds * 1000)
    while not budget.is_spent:
        records_max = min(budget.records, CHUNK_RECORDS)
        parts = await consumer.getmany(timeout_ms=wait_ms, max_records=records_max)
        if not parts:
            break
        wait_ms = 0
        for part in parts.values():
            for one in part:
                found.append(record_of(one))
                budget.spend(found[-1])
    following = {tp.partition: await consumer.position(tp) for tp in consumer.assignment()}
    return found, following
