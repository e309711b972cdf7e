"""Read a tenant's topic once, with what is asked for, and tell how fast it went, as JSON.

    python bench/consuming.py faust --bootstrap HOST:PORT --tenant T --events N --folder EMPTY

A part of bench/streaming.py, which runs one after the other: our projector (or our reader alone,
into a plain table), a bare Faust agent, a Quix Streams application. Decoding and writing are the
same code in all (sinks.py), in batches of the same size.
"""

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from measuring import arguments
from sinks import ANALYTICS_SINK, SINKS, Pace, Sink, analytics

from mnemolog.schemas.codec import Codec
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.kafka_log import KafkaLog
from mnemolog.streams.projecting import Projector

OURS: Final = "ours"
OTHERS: Final = {"faust": "consuming_faust", "quix": "consuming_quix"}  # -> module
WAIT_SECONDS: Final = 1.0
AT_ONCE: Final = 1_000


class Found(NamedTuple):
    """A message of another library in aiokafka's words."""

    partition: int
    offset: int
    timestamp: int  # in milliseconds
    key: bytes | None
    value: bytes | None
    headers: Any


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be read, and where to."""

    bootstrap: str
    topic: str
    events: int
    at_once: int
    folder: Path
    sink: Sink
    pace: Pace

    def write(self, records: Sequence[LogRecord]) -> None:
        """Write a batch; tell the figures after the last one and end the process.

        Stopping in good order is not measured.
        """
        self.sink.write(records)
        self.pace.note(len(records))
        if self.pace.events >= self.events:
            self._finish()

    def _finish(self) -> None:
        print(json.dumps(self.pace.told()), flush=True)
        os._exit(0)


def projected(log: KafkaLog, codec: Codec, given: argparse.Namespace, pace: Pace) -> None:
    """Fold the log with our projector."""
    folder = Path(given.folder)
    with closing(analytics(folder, tenant=given.tenant, partitions=log.partitions)) as one:
        projector = Projector(log, codec, [one], records_max=given.at_once)
        while pace.events < given.events:
            if count := projector.step(wait_seconds=WAIT_SECONDS):
                pace.note(count)
        projector.close()


def read(log: KafkaLog, task: Task) -> None:
    """Write the log with our reader alone."""
    with closing(log.reader(dict.fromkeys(range(log.partitions), 0))) as reader:
        while True:
            if records := reader.poll(records_max=task.at_once, wait_seconds=WAIT_SECONDS):
                task.write(records)


def main() -> None:
    given = _given()
    pace = Pace()
    with closing(KafkaLog.open(given.bootstrap, tenant=given.tenant)) as log:
        codec = Codec(tenant=given.tenant, partitions=log.partitions)
        if given.who == OURS and given.sink == ANALYTICS_SINK:
            projected(log, codec, given, pace)
            print(json.dumps(pace.told()))
            return
        folder = Path(given.folder)
        sink = SINKS[given.sink](folder, codec, tenant=given.tenant, partitions=log.partitions)
        topic, at_once = log.topic, given.at_once
        task = Task(given.bootstrap, topic, given.events, at_once, folder, sink, pace)
        if given.who == OURS:
            read(log, task)
    importlib.import_module(OTHERS[given.who]).run(task)


def _given() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("who", choices=(OURS, *OTHERS))
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--tenant", required=True)
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--sink", choices=tuple(SINKS), default=ANALYTICS_SINK)
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
