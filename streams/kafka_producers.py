"""Appending to Kafka: small appends at once and uncompressed, large ones in zstd batches.

Both lanes are idempotent and wait for all in-sync replicas. Only one append at a time hands over
its records, and changing the lane waits for what the other has under way: so appends stand in
the order of their calls, those included that nobody waits for any more.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from aiokafka import AIOKafkaProducer, errors

from mnemolog.schemas.errors import LogReplaced, LogUnavailable
from mnemolog.schemas.partitioning import partitions_of
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import NewRecord
from mnemolog.streams.brokers import Brokers
from mnemolog.streams.kafka_loop import RETRY_SECONDS, started, stopped
from mnemolog.streams.kafka_topics import MESSAGE_BYTES_MAX

BULK_RECORDS_MIN: Final = 64
BATCH_BYTES_MAX: Final = {True: 524_288, False: 65_536}  # by "is bulk"; one record may be larger
REQUEST_MS_MAX: Final = 10_000
START_SECONDS_MAX: Final = 30.0
_LOG_APPEND_TIME: Final = 1


class Lane(Enum):
    """Which producer an append takes."""

    SMALL = "small"
    BULK = "bulk"


@dataclass(frozen=True, slots=True)
class _Sent:
    """Records under way: their places among all of the append, in the order of their offsets."""

    indexes: Sequence[int]
    acknowledged: Awaitable[Any]


class KafkaProducers:
    """The producers of one topic. Used within the event loop only."""

    def __init__(self, brokers: Brokers, topic: str, *, partitions: int) -> None:
        self._brokers = brokers
        self._topic = topic
        self._partitions = partitions
        self._lanes: dict[Lane, AIOKafkaProducer] = {}
        self._last = Lane.SMALL
        self._handing_over = asyncio.Lock()
        self._stopping: set[asyncio.Future[None]] = set()  # kept from the garbage collector

    async def append(self, records: Sequence[NewRecord]) -> list[Position]:
        """Return where *records* stand, once all in-sync replicas have them.

        What passes is tried again, with a new producer, until the caller's patience ends.
        """
        while True:
            try:
                return await self._append(records)
            except errors.KafkaError as error:
                if not _passes(error):
                    raise
            await asyncio.sleep(RETRY_SECONDS)

    async def close(self) -> None:
        """Stop the producers, giving what is under way a moment."""
        producers, self._lanes = list(self._lanes.values()), {}
        await asyncio.gather(*(stopped(producer) for producer in producers))

    async def _append(self, records: Sequence[NewRecord]) -> list[Position]:
        lane = Lane.BULK if len(records) >= BULK_RECORDS_MIN else Lane.SMALL
        producer: AIOKafkaProducer | None = None
        try:
            async with self._handing_over:
                producer = await self._ready(lane)
                sent = await self._hand_over(producer, lane, records)
            return await self._placed(sent, count=len(records))
        except errors.KafkaError:
            self._drop(lane, producer)
            raise

    async def _ready(self, lane: Lane) -> AIOKafkaProducer:
        """Return the lane's producer after the other lane has delivered."""
        if lane is not self._last:
            if (other := self._lanes.get(self._last)) is not None:
                await other.flush()
            self._last = lane
        if lane not in self._lanes:
            self._lanes[lane] = await started(
                lambda: self._made(is_bulk=lane is Lane.BULK),
                brokers=self._brokers,
                timeout_seconds=START_SECONDS_MAX,
            )
        return self._lanes[lane]

    def _made(self, *, is_bulk: bool) -> AIOKafkaProducer:
        return AIOKafkaProducer(
            **self._brokers.options(),
            client_id="mnemolog",
            acks="all",
            enable_idempotence=True,
            compression_type="zstd" if is_bulk else None,
            linger_ms=0,
            max_batch_size=BATCH_BYTES_MAX[is_bulk],
            max_request_size=MESSAGE_BYTES_MAX,
            request_timeout_ms=REQUEST_MS_MAX,
        )

    async def _hand_over(
        self, producer: AIOKafkaProducer, lane: Lane, records: Sequence[NewRecord]
    ) -> list[_Sent]:
        there = await producer.partitions_for(self._topic)
        if len(there) < self._partitions:
            reason = f"it has {len(there)} partitions, and had {self._partitions}"
            raise LogReplaced(self._topic, partition=len(there), offset=0, reason=reason)
        partition_of = partitions_of((r.key for r in records), partitions=self._partitions)
        by_partition: dict[int, list[int]] = defaultdict(list)
        for index, record in enumerate(records):
            by_partition[partition_of[record.key]].append(index)
        send = self._send_batches if lane is Lane.BULK else self._send_each
        parts = [send(producer, p, indexes, records) for p, indexes in by_partition.items()]
        return [one for part in await asyncio.gather(*parts) for one in part]

    async def _send_each(
        self,
        producer: AIOKafkaProducer,
        partition: int,
        indexes: Sequence[int],
        records: Sequence[NewRecord],
    ) -> list[_Sent]:
        sent = []
        for index in indexes:
            record = records[index]
            future = await producer.send(
                self._topic,
                key=record.key,
                value=record.value,
                headers=list(record.headers),
                partition=partition,
            )
            sent.append(_sent([index], future))
        return sent

    async def _send_batches(
        self,
        producer: AIOKafkaProducer,
        partition: int,
        indexes: Sequence[int],
        records: Sequence[NewRecord],
    ) -> list[_Sent]:
        sent = []
        first = 0
        while first < len(indexes):
            batch = producer.create_batch()
            after = first
            while after < len(indexes) and _put(batch, records[indexes[after]]):
                after += 1
            batch.close()
            future = await producer.send_batch(batch, self._topic, partition=partition)
            sent.append(_sent(indexes[first:after], future))
            first = after
        return sent

    async def _placed(self, sent: Sequence[_Sent], *, count: int) -> list[Position]:
        """Wait for all acknowledgements, and return the positions in the order of the call."""
        positions = [Position(-1, -1)] * count
        answers = await asyncio.gather(*(s.acknowledged for s in sent), return_exceptions=True)
        for part, answer in zip(sent, answers, strict=True):
            if isinstance(answer, BaseException):
                raise answer
            if answer.timestamp_type != _LOG_APPEND_TIME:  # a repeat that the broker half forgot
                raise LogUnavailable(self._topic, "it was taken, but where was not told")
            for ordinal, index in enumerate(part.indexes):
                positions[index] = Position(answer.partition, answer.offset + ordinal)
        return positions

    def _drop(self, lane: Lane, producer: AIOKafkaProducer | None) -> None:
        """Have the next append make a new producer.

        After an error the old one may have counted what the broker never got, and then nothing
        of it is accepted any more.
        """
        if producer is not None and self._lanes.get(lane) is producer:
            del self._lanes[lane]
            task = asyncio.ensure_future(stopped(producer))
            self._stopping.add(task)
            task.add_done_callback(self._stopping.discard)


def _passes(error: errors.KafkaError) -> bool:
    """Say whether a new producer may succeed where this error came up."""
    return (
        error.retriable or isinstance(error, _OF_ONE_PRODUCER) or type(error) is errors.KafkaError
    )


# Bare KafkaError is what a producer says whose own task has died.
_OF_ONE_PRODUCER: Final = (
    errors.OutOfOrderSequenceNumber,
    errors.ProducerFenced,
    errors.InvalidProducerEpoch,
    errors.ProducerClosed,
)


def _sent(indexes: Sequence[int], acknowledged: asyncio.Future[Any]) -> _Sent:
    """Note what is under way. Nobody may be there any more to hear that it failed."""
    acknowledged.add_done_callback(lambda done: done.cancelled() or done.exception())
    return _Sent(indexes, acknowledged)


def _put(batch: Any, record: NewRecord) -> bool:
    """Add *record* to *batch* and say whether it had room; a batch has room for any first one."""
    headers = list(record.headers)
    added = batch.append(timestamp=None, key=record.key, value=record.value, headers=headers)
    return added is not None
