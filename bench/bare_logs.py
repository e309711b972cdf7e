"""What somebody without us would append with: bare sqlite3 and bare aiokafka, as durable as we are.

They are given the same and do what can't be left out: a CloudEvents document with an id and a
time of its own, made with json.dumps, and a key to order by. They check nothing: no field, no
length, no repeat but that of an id, no place of what was written.
"""

import asyncio
import json
import sqlite3
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from aiokafka import AIOKafkaProducer
from said import Said

from mnemolog.streams.kafka_producers import BATCH_BYTES_MAX, BULK_RECORDS_MIN

HEADERS: Final = [("content-type", b"application/cloudevents+json")]
Document = tuple[str, bytes, bytes]  # id, key, value


def document(said: Said) -> Document:
    """Return the document of what was *said*: our attributes, in another order."""
    event_id = str(uuid.uuid4())
    scope = said.scope
    whole: dict[str, Any] = {
        "specversion": "1.0",
        "id": event_id,
        "source": "/mnemolog/sdk",
        "type": said.type_name,
        "time": datetime.now(UTC).isoformat(),
        "datacontenttype": "application/json",
        "dataschema": said.schema_name,
        "partitionkey": scope["agent"],
        "tenant": "bench",
        "agent": scope["agent"],
        "user": scope["user"],
        "project": scope["project"],
        "session": scope["session"],
        "task": scope["task"],
        "correlationid": scope["correlation"],
        "data": said.fields,
    }
    text = json.dumps(whole, ensure_ascii=False, separators=(",", ":"))
    return event_id, scope["agent"].encode(), text.encode()


class BareSQLite:
    """A table with a row an event, in a file whose commits are on the disk when they return."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute(
            "CREATE TABLE events (place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
            " key BLOB NOT NULL, value BLOB NOT NULL)"
        )

    def append(self, documents: Sequence[Document]) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        sql = "INSERT INTO events (id, key, value) VALUES (?, ?, ?)"
        self._db.executemany(sql, documents)
        self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()


class BareKafka:
    """A producer a lane: idempotent, acknowledged by all, packed where ours packs."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._topic = topic
        self._loop = asyncio.new_event_loop()
        self._lanes = {
            is_bulk: self._loop.run_until_complete(_producer(bootstrap, is_bulk=is_bulk))
            for is_bulk in (False, True)
        }

    def append(self, documents: Sequence[Document]) -> None:
        self._loop.run_until_complete(self._append(documents))

    def close(self) -> None:
        for producer in self._lanes.values():
            self._loop.run_until_complete(producer.stop())
        self._loop.close()

    async def _append(self, documents: Sequence[Document]) -> None:
        producer = self._lanes[len(documents) >= BULK_RECORDS_MIN]
        sent = [
            await producer.send(self._topic, key=key, value=value, headers=HEADERS)
            for _, key, value in documents
        ]
        await asyncio.gather(*sent)


async def _producer(bootstrap: str, *, is_bulk: bool) -> AIOKafkaProducer:
    producer = AIOKafkaProducer(
        bootstrap_servers=bootstrap,
        acks="all",
        enable_idempotence=True,
        compression_type="zstd" if is_bulk else None,
        linger_ms=0,
        max_batch_size=BATCH_BYTES_MAX[is_bulk],
    )
    await producer.start()
    return producer
