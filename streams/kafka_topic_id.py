"""Which topic a name stands for: brokers give each topic an id, a topic made anew gets another.

aiokafka asks for metadata in a form that has no ids; these are its newer request and response.
"""

import uuid
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from aiokafka.protocol.api import Request, RequestStruct, Response
from aiokafka.protocol.types import (
    Boolean,
    CompactArray,
    CompactString,
    Int16,
    Int32,
    Schema,
    TaggedFields,
)

NO_ID: Final = uuid.UUID(int=0)  # of a topic that is not there
_NO_OPERATIONS: Final = False


@dataclass(frozen=True, slots=True)
class FoundTopic:
    """A topic as it was found; `id` is None where the brokers tell none."""

    partitions: int
    id: uuid.UUID | None


class _UUID:
    """Sixteen bytes."""

    @classmethod
    def encode(cls, value: uuid.UUID) -> bytes:
        return value.bytes

    @classmethod
    def decode(cls, data: BytesIO) -> uuid.UUID:
        return uuid.UUID(bytes=data.read(16))


class _MetadataResponse(Response):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 10
    SCHEMA = Schema(
        ("throttle_time_ms", Int32),
        (
            "brokers",
            CompactArray(
                ("node_id", Int32),
                ("host", CompactString("utf-8")),
                ("port", Int32),
                ("rack", CompactString("utf-8")),
                ("tags", TaggedFields),
            ),
        ),
        ("cluster_id", CompactString("utf-8")),
        ("controller_id", Int32),
        (
            "topics",
            CompactArray(
                ("error_code", Int16),
                ("topic", CompactString("utf-8")),
                ("topic_id", _UUID),
                ("is_internal", Boolean),
                (
                    "partitions",
                    CompactArray(
                        ("error_code", Int16),
                        ("partition", Int32),
                        ("leader", Int32),
                        ("leader_epoch", Int32),
                        ("replicas", CompactArray(Int32)),
                        ("isr", CompactArray(Int32)),
                        ("offline", CompactArray(Int32)),
                        ("tags", TaggedFields),
                    ),
                ),
                ("operations", Int32),
                ("tags", TaggedFields),
            ),
        ),
        ("cluster_operations", Int32),
        ("tags", TaggedFields),
    )


class _MetadataStruct(RequestStruct):  # type: ignore[misc]
    API_KEY = 3
    API_VERSION = 10
    FLEXIBLE_VERSION = True
    RESPONSE_TYPE = _MetadataResponse
    SCHEMA = Schema(
        (
            "topics",
            CompactArray(
                ("topic_id", _UUID), ("topic", CompactString("utf-8")), ("tags", TaggedFields)
            ),
        ),
        ("makes_it", Boolean),
        ("cluster_operations", Boolean),
        ("topic_operations", Boolean),
        ("tags", TaggedFields),
    )


class _MetadataRequest(Request[_MetadataStruct]):  # type: ignore[misc]
    API_KEY = 3

    def __init__(self, topic: str) -> None:
        self._topic = topic

    def build(self, request_struct_class: Any) -> Any:
        topics: list[tuple[Any, ...]] = [(NO_ID, self._topic, {})]
        return request_struct_class(topics, _NO_OPERATIONS, _NO_OPERATIONS, _NO_OPERATIONS, {})


async def topic_id(client: Any, topic: str) -> uuid.UUID | None:
    """Return the id of *topic*, `NO_ID` where there is none; None of brokers that tell no ids.

    *client* is the client within one of aiokafka's consumers or administrators.
    """
    try:
        response = await client.send(client.get_random_node(), _MetadataRequest(topic))
    except NotImplementedError:
        return None  # brokers before Kafka 2.8
    found = response.to_object()["topics"]
    return uuid.UUID(str(found[0]["topic_id"])) if found else NO_ID
