"""A Quix Streams application with a batching sink, as its own guide writes one."""

from typing import Any

from consuming import Found, Task
from quixstreams import Application
from quixstreams.sinks.base import BatchingSink, SinkBatch

from mnemolog.schemas.records import LogRecord
from mnemolog.streams.kafka_records import record_of


def run(task: Task) -> None:
    """Read *task*'s topic from its beginning, and end the process when all is written."""
    app = Application(
        broker_address=task.bootstrap,
        consumer_group=f"bench-quix-{task.folder.name}",
        auto_offset_reset="earliest",
        auto_create_topics=False,
        commit_every=task.at_once,
        state_dir=str(task.folder / "quix"),
        loglevel="ERROR",
    )
    topic = app.topic(task.topic, key_deserializer="bytes", value_deserializer="bytes")
    app.dataframe(topic).sink(_Writing(task))
    app.run()


class _Writing(BatchingSink):
    """Writes each batch of a partition when Quix commits."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self._task = task

    def write(self, batch: SinkBatch) -> None:
        self._task.write([_record(batch.partition, item) for item in batch])


def _record(partition: int, item: Any) -> LogRecord:
    headers = item.headers or ()
    return record_of(Found(partition, item.offset, item.timestamp, item.key, item.value, headers))
