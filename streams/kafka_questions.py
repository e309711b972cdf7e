"""What a Kafka log is asked beside reading on: its ends, its starts, a record, a time."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from aiokafka import AIOKafkaConsumer, TopicPartition, errors

from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord
from mnemolog.schemas.times import microseconds
from mnemolog.streams.brokers import Brokers
from mnemolog.streams.kafka_loop import started, stopped
from mnemolog.streams.kafka_records import record_of

RECORD_BYTES_ASKED: Final = 65_536  # a fetch for one record; a larger first batch comes whole
_WAIT_MS: Final = 500


class KafkaQuestions:
    """Answers with one consumer, made when first asked. Used within the event loop only."""

    def __init__(
        self,
        make: Callable[..., AIOKafkaConsumer],
        topic: str,
        *,
        brokers: Brokers,
        partitions: int,
    ) -> None:
        self._make = make
        self._topic = topic
        self._brokers = brokers
        self._all = [TopicPartition(topic, partition) for partition in range(partitions)]
        self._consumer: AIOKafkaConsumer | None = None
        self._starting = asyncio.Lock()
        self._seeking = asyncio.Lock()

    async def ends(self) -> dict[int, int]:
        """Return the offset after the last committed record of each partition."""
        consumer = await self._ready()
        return _by_partition(await consumer.end_offsets(self._all))

    async def starts(self) -> dict[int, int]:
        """Return the first offset that is still there in each partition."""
        consumer = await self._ready()
        return _by_partition(await consumer.beginning_offsets(self._all))

    async def first_at(self, moment: datetime) -> dict[int, int]:
        """Return each partition's first offset of *moment* or later, or its end."""
        consumer = await self._ready()
        ends = await self.ends()
        milliseconds = max(-(-microseconds(moment) // 1000), 0)  # rounded up: Kafka has no finer
        found = await consumer.offsets_for_times(dict.fromkeys(self._all, milliseconds))
        return {
            tp.partition: ends[tp.partition] if (there := found.get(tp)) is None else there.offset
            for tp in self._all
        }

    async def at(self, position: Position) -> LogRecord | None:
        """Return the record at *position*, or None where there is none."""
        partition, offset = position
        if not 0 <= partition < len(self._all) or offset < 0:
            return None
        if offset >= (await self.ends())[partition]:
            return None
        consumer = await self._ready()
        async with self._seeking:
            return await _record_at(consumer, self._all[partition], offset)

    async def close(self) -> None:
        """Stop the consumer."""
        if self._consumer is not None:
            await stopped(self._consumer)

    async def _ready(self) -> AIOKafkaConsumer:
        async with self._starting:
            if self._consumer is None:
                self._consumer = await started(
                    lambda: self._make(max_partition_fetch_bytes=RECORD_BYTES_ASKED),
                    brokers=self._brokers,
                    timeout_seconds=QUESTION_SECONDS_MAX,
                )
            return self._consumer


QUESTION_SECONDS_MAX: Final = 10.0


def _by_partition(offsets: Mapping[Any, int]) -> dict[int, int]:
    return {tp.partition: int(offset) for tp, offset in sorted(offsets.items())}


async def _record_at(
    consumer: AIOKafkaConsumer, where: TopicPartition, offset: int
) -> LogRecord | None:
    consumer.assign([where])
    consumer.seek(where, offset)
    try:
        while await consumer.position(where) <= offset:
            for records in (await consumer.getmany(timeout_ms=_WAIT_MS, max_records=1)).values():
                return record_of(records[0]) if records[0].offset == offset else None
    except errors.OffsetOutOfRangeError:
        pass  # before the start, or gone a moment ago
    finally:
        consumer.pause(where)  # nothing is fetched until the next question
    return None
