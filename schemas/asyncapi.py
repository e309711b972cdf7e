"""The AsyncAPI 3 document of a tenant's topic, made from the models and the envelope's rules."""

from collections.abc import Iterable
from typing import Any, Final

from mnemolog.schemas.envelope import CONTENT_TYPE, SPEC_VERSION, TYPE_PREFIX
from mnemolog.schemas.events.base import Event, schema_id
from mnemolog.schemas.ids import NO_AGENT_KEY
from mnemolog.schemas.json_schemas import DIALECT, file_name
from mnemolog.schemas.limits import EVENT_BYTES_MAX, ID_BYTES_MAX, NAME_BYTES_MAX, TENANT_BYTES_MAX

TOPIC_PARTITIONS: Final = 4  # as many as a log is made with, unless a setting says otherwise
TOPIC_MESSAGE_BYTES_MAX: Final = EVENT_BYTES_MAX + 65_536
KAFKA_BINDING: Final = "0.5.0"
SCHEMA_FORMAT: Final = "application/schema+json;version=draft-2020-12"

_ID: Final = {"type": "string", "minLength": 1, "maxLength": ID_BYTES_MAX}
_NAME: Final = {"type": "string", "minLength": 1, "maxLength": NAME_BYTES_MAX}
_TENANT: Final = {**_NAME, "maxLength": TENANT_BYTES_MAX}

# Attribute -> its schema and its meaning; the first five are required.
_ATTRIBUTES: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "specversion": ({"const": SPEC_VERSION}, "The version of CloudEvents."),
    "id": (_ID, "Which event of this source and key it is; a retry keeps it."),
    "source": (_ID, "Who publishes, as a URI reference."),
    "type": ({"type": "string", "pattern": r"^mnemolog\."}, "The event type behind our prefix."),
    "data": ({"type": "object"}, "What the event says, by the schema of its type and version."),
    "dataschema": ({"type": "string"}, "The type and version; absent means version 1."),
    "datacontenttype": ({"const": "application/json"}, "Data is JSON."),
    "time": (
        {"type": "string", "format": "date-time"},
        "When it happened; UTC if no zone is told.",
    ),
    "subject": (_ID, "What it is about."),
    "partitionkey": (_NAME, "What orders it: the agent, equal to the record's key."),
    "tenant": (_TENANT, "The tenant of the topic."),
    "agent": (_NAME, "The agent that it happened to."),
    "user": (_NAME, "The user that it is about."),
    "project": (_NAME, "The project that it belongs to."),
    "session": (_NAME, "The session that it belongs to."),
    "task": (_NAME, "The task that it belongs to."),
    "phase": (_NAME, "The task's phase."),
    "causationid": (_ID, "The id of the event that caused it."),
    "correlationid": (_ID, "The id that all events of one story share."),
    "keyid": (_ID, "Which key sealed the data; reserved."),
    "assumedutc": ({"type": ["boolean", "string"]}, "The time came without a zone."),
    "repaired": ({"type": "string"}, "Which code points were replaced, as JSON."),
    "dataref": (
        {"type": "string", "format": "uri-reference"},
        "Where texts stand that are too large for an event; ours is `blobs?`, each by its pointer.",
    ),
}
_REQUIRED: Final = list(_ATTRIBUTES)[:5]


def asyncapi(events: Iterable[type[Event]]) -> dict[str, Any]:
    """Return the document for a topic that holds *events*."""
    messages = {file_name(event).removesuffix(".json"): _message(event) for event in events}
    channel = {"$ref": "#/channels/events"}
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "mnemolog events",
            "version": "1.0.0",
            "description": "What agents append and what mnemolog knows: one topic a tenant.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": CONTENT_TYPE,
        "channels": {"events": _channel(messages)},
        "operations": {
            "append": {"action": "send", "channel": channel, "summary": "An agent tells a fact."},
            "project": {"action": "receive", "channel": channel, "summary": "A fold reads it."},
        },
        "components": {
            "messages": messages,
            "messageTraits": {"structured": _structured(), "binary": _binary()},
            "schemas": {"envelope": {"schemaFormat": SCHEMA_FORMAT, "schema": envelope_schema()}},
        },
    }


def envelope_schema() -> dict[str, Any]:
    """Return the schema of a whole event in structured mode, whatever its type."""
    return {
        "$schema": DIALECT,
        "type": "object",
        "required": _REQUIRED,
        "properties": {
            name: {**schema, "description": meaning}
            for name, (schema, meaning) in _ATTRIBUTES.items()
        },
        "additionalProperties": {"type": ["string", "integer", "boolean", "null"]},
    }


def _channel(messages: Iterable[str]) -> dict[str, Any]:
    return {
        "address": "mnemolog.{tenant}.events",
        "description": "Kept for ever, never compacted, stamped by the broker (LogAppendTime).",
        "parameters": {"tenant": {"description": "Encoded: [a-z0-9-] stay, other bytes are _xx."}},
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in messages},
        "bindings": {
            "kafka": {
                "partitions": TOPIC_PARTITIONS,
                "topicConfiguration": {
                    "cleanup.policy": ["delete"],
                    "retention.ms": -1,
                    "retention.bytes": -1,
                    "max.message.bytes": TOPIC_MESSAGE_BYTES_MAX,
                },
                "bindingVersion": KAFKA_BINDING,
            }
        },
    }


def _message(event: type[Event]) -> dict[str, Any]:
    typed = {
        "type": {"const": TYPE_PREFIX + event.event_type},
        "dataschema": {"const": schema_id(event.event_type, event.event_version)},
        "data": {"$ref": file_name(event)},
    }
    everything = [{"$ref": "#/components/schemas/envelope/schema"}, {"properties": typed}]
    return {
        "name": event.event_type,
        "title": event.__name__,
        "summary": (event.__doc__ or "").partition("\n")[0],
        "traits": [{"$ref": "#/components/messageTraits/structured"}],
        "payload": {"schemaFormat": SCHEMA_FORMAT, "schema": {"allOf": everything}},
    }


def _structured() -> dict[str, Any]:
    header = {"content-type": {"type": "string", "const": CONTENT_TYPE}}
    return {
        "contentType": CONTENT_TYPE,
        "headers": {"type": "object", "properties": header},
        "bindings": _keyed(),
    }


def _binary() -> dict[str, Any]:
    """Return the trait of binary mode: attributes are headers, the data alone is the value."""
    attributes = {name: schema for name, schema in _ATTRIBUTES.items() if name != "data"}
    headers = {
        f"ce_{name}": {**schema, "description": meaning}
        for name, (schema, meaning) in attributes.items()
        if name != "datacontenttype"
    }
    required = [f"ce_{name}" for name in _REQUIRED if name != "data"]
    content_type = {"content-type": {"type": "string", "const": "application/json"}}
    return {
        "contentType": "application/json",
        "headers": {
            "type": "object",
            "required": required,
            "properties": {**headers, **content_type},
        },
        "bindings": _keyed(),
    }


def _keyed() -> dict[str, Any]:
    described = f"The agent in UTF-8, or {NO_AGENT_KEY}; its murmur2 is the partition."
    return {"kafka": {"key": {**_NAME, "description": described}, "bindingVersion": KAFKA_BINDING}}
