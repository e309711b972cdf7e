"""Events on their way from one log to another, as CloudEvents documents.

A document says all that the next log needs, whatever its engine and its number of partitions, and
nothing of where the event stood. What rules every key stands once in each partition of a log; on
its way it is one document, and gets its copies again where it arrives.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from mnemolog.schemas.cloudevents import RECORDED_TIME, binary_form, read_cloud_event
from mnemolog.schemas.codec import Codec, content_of
from mnemolog.schemas.decoded import Foreign, Guest, Ours, Unusable
from mnemolog.schemas.envelope import CONTENT_TYPE, TYPE_PREFIX
from mnemolog.schemas.errors import EventTooLarge, InvalidEvent
from mnemolog.schemas.events.base import schema_id
from mnemolog.schemas.events.governance import EVERYWHERE
from mnemolog.schemas.ids import NO_AGENT_KEY, check_id, derived_id
from mnemolog.schemas.partitioning import (
    COPY_OF,
    GOVERNANCE_KEY,
    governance_copy,
    is_governance_key,
    partition_of,
)
from mnemolog.schemas.records import Headers, LogRecord, NewRecord
from mnemolog.schemas.times import written
from mnemolog.schemas.values import cleaned, json_bytes, parse_json

Document = dict[str, Any]
Event = Ours | Guest | Unusable

_HEADERS: Final = (("content-type", CONTENT_TYPE.encode()),)
_TO_ALL: Final = frozenset(TYPE_PREFIX + event.event_type for event in EVERYWHERE)
_OF_THE_LOG: Final = frozenset({"id", "partitionkey", "tenant", "time", RECORDED_TIME, COPY_OF})
_NO_MOMENT: Final = datetime(1970, 1, 1, tzinfo=UTC)


def portable(item: Event) -> Document:
    """Return the document of *item*, of the version that it has on the log."""
    recorded = written(item.record.recorded_at)
    around = {"time": recorded, RECORDED_TIME: recorded, "partitionkey": item.key}
    return {**around, **_said(item)}


def portable_copy(item: Event) -> Document:
    """Return the one document that stands for *item* and its copies in the other partitions."""
    document = portable(item)
    try:
        event_id = check_id(document.pop(COPY_OF, None), field=COPY_OF)
    except InvalidEvent:
        event_id = derived_id("governance group", group_of(item))
    return {**document, "id": event_id, "partitionkey": GOVERNANCE_KEY}


def group_of(item: Event) -> str:
    """Return what a governance event's copies have in common, and no other has."""
    document = read_cloud_event(item.record).document()
    for name in ("id", "partitionkey", RECORDED_TIME):
        document.pop(name, None)
    return _digest(document_bytes(document))


def _said(item: Event) -> Document:
    match item:
        case Ours():
            return _said_by_us(item)
        case Guest():
            said: Document = parse_json(item.canonical)
            return said
        case Unusable():
            return read_cloud_event(item.record).document()


def _said_by_us(item: Ours) -> Document:
    """Return *item* as it is read, but neither lifted nor opened."""
    document: Document = parse_json(item.canonical)
    original = read_cloud_event(item.record).document()
    if "keyid" in original:
        del document["data"]
        return {**document, "data_base64": original["data_base64"]}
    version = _version(original)
    if version != item.recorded.event.event_version:
        document["dataschema"] = schema_id(item.event_type, version)
        document["data"] = cleaned(original["data"], field="data", repairs={})
        if "dataref" in original:  # its pointers lead into the data as it was written
            document["dataref"] = original["dataref"]
    return document


def _version(document: Mapping[str, Any]) -> int:
    """Return the version of an event of ours, 1 where none is told; 0 is none."""
    number = str(document.get("dataschema", ":1")).rpartition(":")[2]
    return int(number) if number.isdecimal() else 0


@dataclass(frozen=True, slots=True)
class Taken:
    """A record to append, and what it will be there."""

    record: NewRecord
    item: Event


def taken(document: Mapping[str, Any], codec: Codec) -> Taken:
    """Return the record that puts *document* on the codec's log, under that log's tenant.

    Raises InvalidEvent, with the reason, for what would be foreign there, and for what is larger
    than the log takes; to be as small as it was, an event goes without what `portable` added.
    """
    told = {name: value for name, value in document.items() if value is not None}
    if "tenant" in told:
        told["tenant"] = codec.tenant
    key = _key_of(told)
    size = 0
    for value, headers in _forms(told):
        size = size or len(value)
        if len(value) <= codec.event_bytes_max:
            return _taken(told, key.encode("utf-8", "replace"), value, headers, codec)
    name, event_id = str(told.get("type")), str(told.get("id"))
    raise EventTooLarge(name, event_id, size=size, size_max=codec.event_bytes_max)


def is_for_every_partition(document: Mapping[str, Any]) -> bool:
    """Say whether *document* is one that gets its copies where it arrives."""
    event_type, key = str(document.get("type")), document.get("partitionkey")
    if key is None and document.get("agent") is None:
        return event_type in _TO_ALL
    return event_type.startswith(TYPE_PREFIX) and is_governance_key(str(key))


def copies(document: Mapping[str, Any], *, partitions: int) -> Iterator[Document]:
    """Yield the copy of *document* for each partition, as whoever governs appends it.

    Raises InvalidEvent for an id that no event has.
    """
    told = document.get(COPY_OF)
    event_id = check_id(document.get("id") if told is None else told, field="id")
    for partition in range(partitions):
        copy_id, key = governance_copy(event_id, partition, partitions=partitions)
        yield {**document, "id": copy_id, "partitionkey": key, COPY_OF: event_id}


def _key_of(document: Mapping[str, Any]) -> str:
    key = document.get("partitionkey", document.get("agent"))
    return key if isinstance(key, str) and key else NO_AGENT_KEY


def _forms(document: Document) -> Iterator[tuple[bytes, Headers]]:
    """Yield *document* in ever smaller forms that say the same of the event."""
    for added in (None, RECORDED_TIME, "partitionkey"):
        if added is None or added in document:
            document = {name: value for name, value in document.items() if name != added}
            yield document_bytes(document), _HEADERS
    if (form := binary_form(document)) is not None:
        yield form


def _taken(document: Document, key: bytes, value: bytes, headers: Headers, codec: Codec) -> Taken:
    partition = partition_of(key, partitions=codec.partitions)
    item = codec.decode(LogRecord(partition, 0, _NO_MOMENT, key, value, headers))
    if isinstance(item, Foreign):
        raise InvalidEvent("event", document.get("id"), item.reason)
    new = NewRecord(key, value, headers, item.identity, _content(item, document))
    return Taken(new, item)


def _content(item: Event, document: Document) -> str:
    """Return the content that the log knew the event by, whatever version this code lifts it to."""
    match item:
        case Guest():
            return item.content
        case Ours() if _version(document) == item.recorded.event.event_version:
            return item.content
    data = document.get("data")
    if isinstance(data, dict):
        try:
            said = cleaned(data, field="data", repairs={})
            dataref = document.get("dataref")
            named = dataref if isinstance(dataref, str) else None
            return content_of(item.event_type, _version(document), said, dataref=named)
        except InvalidEvent:
            pass  # it is parked; its bytes say what it is
    said = {name: value for name, value in document.items() if name not in _OF_THE_LOG}
    return _digest(document_bytes(said))[:32]


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """Return *document* as JSON; what UTF-8 has no form for stays an escape."""
    try:
        return json_bytes(document)
    except UnicodeEncodeError:
        return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
