"""A bare Faust agent, as Faust's own guide writes one that works on batches."""

import asyncio
from typing import Any, Final

import faust
from consuming import Found, Task

from mnemolog.streams.kafka_records import record_of

WITHIN_SECONDS: Final = 1.0


def run(task: Task) -> None:
    """Read *task*'s topic from its beginning, and end the process when all is written."""
    asyncio.run(_run(task))


async def _run(task: Task) -> None:
    app = faust.App(
        f"bench-faust-{task.folder.name}",
        broker=f"kafka://{task.bootstrap}",
        datadir=str(task.folder / "faust"),
        consumer_auto_offset_reset="earliest",
        topic_disable_leader=True,
        topic_allow_declare=False,
        web_enabled=False,
        autodiscover=False,
    )
    raw: dict[str, Any] = {"value_type": bytes, "value_serializer": "raw"}
    topic = app.topic(task.topic, key_type=bytes, key_serializer="raw", **raw)

    @app.agent(topic)
    async def writing(stream: Any) -> None:
        async for events in stream.take_events(task.at_once, within=WITHIN_SECONDS):
            task.write([record_of(_found(event.message)) for event in events])

    await app.start()
    await app.wait_until_stopped()


def _found(message: Any) -> Found:
    headers = message.headers or ()
    return Found(
        partition=message.partition,
        offset=message.offset,
        timestamp=round(message.timestamp * 1000),
        key=message.key,
        value=message.value,
        headers=headers.items() if isinstance(headers, dict) else headers,
    )
