"""How events become records and records become events again; the only module that knows both.

What `encode` writes, every later release's `decode` reads: change it only by adding a version.
Equal events are equal bytes. Decoding never raises: what can't be used is a value that says why.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from pydantic import ValidationError

from mnemolog.schemas.blobs import lifted
from mnemolog.schemas.cloudevents import (
    EXPORT_PREFIX,
    RECORDED_TIME,
    CloudEvent,
    NotACloudEvent,
    read_cloud_event,
)
from mnemolog.schemas.decoded import Decoded, Foreign, Guest, Ours, Unusable
from mnemolog.schemas.envelope import (
    CONTENT_TYPE,
    TYPE_PREFIX,
    Envelope,
    RecordedEvent,
    checked,
)
from mnemolog.schemas.envelope_codec import (
    check_extensions,
    document_of,
    envelope_of,
    guest_envelope_of,
    repairs_text,
)
from mnemolog.schemas.errors import EventTooLarge, InvalidEvent
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.base import schema_id
from mnemolog.schemas.ids import identity_of
from mnemolog.schemas.keyring import EmptyKeyRing, KeyMissing, KeyRing
from mnemolog.schemas.limits import DEPTH_MAX, EVENT_BYTES_MAX
from mnemolog.schemas.partitioning import partition_of
from mnemolog.schemas.records import LogRecord, NewRecord
from mnemolog.schemas.registry import Registry, built_in
from mnemolog.schemas.upcasts import STEPS, Upcasts
from mnemolog.schemas.values import (
    NotPlain,
    Repairs,
    check_depth,
    cleaned,
    json_bytes,
    json_text,
    may_need_cleaning,
    parse_json,
    plain,
    quoted,
)

_TOO_LONG: Final = {"string_too_long", "too_long"}
# Of a guest's attributes: which log has it, and when; the same event may come by another.
_NOT_SAID: Final = frozenset({"partitionkey", "tenant", "time", RECORDED_TIME})
_HEADERS: Final = (("content-type", CONTENT_TYPE.encode()),)


class Codec:
    """Events to bytes and back, for one tenant's log of a known number of partitions."""

    def __init__(
        self,
        *,
        tenant: str,
        partitions: int,
        registry: Registry | None = None,
        upcasts: Upcasts | None = None,
        key_ring: KeyRing | None = None,
        event_bytes_max: int = EVENT_BYTES_MAX,
    ) -> None:
        self.tenant = tenant
        self.partitions = partitions
        self._registry = registry or built_in()
        self._upcasts = upcasts or Upcasts(STEPS, events=self._registry.events())
        self._key_ring = key_ring or EmptyKeyRing()
        self.event_bytes_max = event_bytes_max

    def encode(self, event: Event, envelope: Envelope, *, is_clean: bool = False) -> NewRecord:
        """Return the record of *event* within *envelope*; what `build` returned *is_clean*.

        Raises InvalidEvent with field, value and limit where a law of `schemas.limits` is broken.
        """
        repairs: Repairs = {}
        # Once, for both what the event says and the whole document.
        written = _built_text(event) if is_clean else json_text(_data_of(event, repairs))
        if repairs:  # `build` cleans first; an event that was made by hand is cleaned here
            envelope = replace(envelope, repaired=repairs_text(repairs))
        check_extensions(envelope)
        value = document_of(checked(envelope), event, written, tenant=self.tenant)
        if len(value) > (size_max := self.event_bytes_max):
            raise EventTooLarge(event.event_type, envelope.id, size=len(value), size_max=size_max)
        return NewRecord(
            key=envelope.key.encode(),
            value=value,
            headers=_HEADERS,
            identity=envelope.identity,
            content=_content_of(event.event_type, event.event_version, written, envelope.dataref),
        )

    def decode(self, record: LogRecord) -> Decoded:
        """Return what *record* is. Never raises for anything that a log may hold."""
        try:
            cloud_event = read_cloud_event(record)
            key = self._key(record, cloud_event)
        except NotACloudEvent as error:
            return Foreign(record, str(error))
        event_type = str(cloud_event.attributes["type"])
        if event_type.startswith(EXPORT_PREFIX):
            return Foreign(record, "a line of an export, and no event")
        if not event_type.startswith(TYPE_PREFIX):
            return _guest(record, cloud_event, key)
        return self._ours(record, cloud_event, key)

    def _key(self, record: LogRecord, cloud_event: CloudEvent) -> str:
        """Return the event's key after checking it against the record, partition and tenant."""
        attributes = cloud_event.attributes
        # The hard limit, not the setting: what stands on the log was taken under another one.
        if record.value is not None and len(record.value) > EVENT_BYTES_MAX:
            raise NotACloudEvent(f"{len(record.value)} bytes; the limit is {EVENT_BYTES_MAX}")
        if attributes.get("tenant", self.tenant) != self.tenant:
            raise NotACloudEvent(f"an event of tenant {attributes['tenant']!r}")
        try:
            written = None if record.key is None else record.key.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NotACloudEvent("the key is not UTF-8") from error
        key = attributes.get("partitionkey", attributes.get("agent", written))
        if not isinstance(key, str) or not key:
            raise NotACloudEvent("it has no key")
        if written is not None and written != key:
            raise NotACloudEvent(
                f"the record's key {written[:40]!r} is not the event's {key[:40]!r}"
            )
        if (
            partition_of(key.encode(errors="replace"), partitions=self.partitions)
            != record.partition
        ):
            raise NotACloudEvent("in a wrong partition; see docs/publishing.md for the partitioner")
        return key

    def _ours(self, record: LogRecord, cloud_event: CloudEvent, key: str) -> Decoded:
        attributes = cloud_event.attributes
        event_type = str(attributes["type"]).removeprefix(TYPE_PREFIX)
        identity = identity_of(
            key=key, source=str(attributes["source"]), event_id=str(attributes["id"])
        )
        unusable = partial(Unusable, record, key, identity, event_type)
        try:
            model, version = self._model(event_type, attributes.get("dataschema"))
            if model is None or version > model.event_version:
                reason = f"{event_type} version {version} is newer than this code"
                return unusable(reason, newer=True)
            return self._valid(record, cloud_event, key, identity, model, version)
        except InvalidEvent as error:
            return unusable(str(error), newer=False)

    def _model(self, event_type: str, schema: object) -> tuple[type[Event] | None, int]:
        """Return the model of a type and the event's version, 1 where none is told."""
        model = self._registry.get(event_type)
        if schema is None:
            return model, 1
        prefix, _, number = str(schema).rpartition(":")
        if f"{prefix}:" != schema_id(event_type, 0)[:-1] or not number.isdecimal() or number == "0":
            limit = f"the schema of this type reads {schema_id(event_type, 1)}"
            raise InvalidEvent("dataschema", schema, limit)
        return model, int(number)

    def _valid(
        self,
        record: LogRecord,
        cloud_event: CloudEvent,
        key: str,
        identity: str,
        model: type[Event],
        version: int,
    ) -> Ours:
        repairs: Repairs = {}
        data = self._data(cloud_event)
        if record.value is not None and may_need_cleaning(record.value):
            data = cleaned(data, field="data", repairs=repairs)
        current = model.event_version
        lift = partial(self._upcasts.lifted, model.event_type, version, to_version=current)
        attributes = cloud_event.attributes
        if version < current and isinstance(dataref := attributes.get("dataref"), str):
            attributes = {**attributes, "dataref": lifted(dataref, data, lift)}
        data = lift(data)
        event = validated(model, data)
        envelope = checked(envelope_of(attributes, key, record, repairs))
        written = json_text(data)  # once, for both what it says and the whole
        recorded = RecordedEvent(
            event=event,
            envelope=envelope,
            position=record.position,
            recorded_at=record.recorded_at,
            identity=identity,
            content=_content_of(model.event_type, current, written, envelope.dataref),
        )
        canonical = document_of(envelope, event, written, tenant=self.tenant)
        return Ours(record, recorded, canonical)

    def _data(self, cloud_event: CloudEvent) -> dict[str, Any]:
        data = cloud_event.data
        key_id = cloud_event.attributes.get("keyid")
        if key_id is not None:
            if not isinstance(data, bytes):
                raise InvalidEvent("data", data, "sealed data comes as data_base64")
            try:
                data = parse_json(self._key_ring.opened(str(key_id), data), field="data")
            except KeyMissing as error:
                raise InvalidEvent("keyid", key_id, "no such key is held here") from error
        if not isinstance(data, dict):
            raise InvalidEvent("data", data, "the data of our events is a JSON object")
        return data


def _guest(record: LogRecord, cloud_event: CloudEvent, key: str) -> Decoded:
    try:
        envelope = guest_envelope_of(cloud_event.attributes, key, record)
        document = cleaned(cloud_event.document(), field="event", repairs={})
    except InvalidEvent as error:
        return Foreign(record, str(error))
    event_type = str(cloud_event.attributes["type"])
    content = _digest(json_bytes({n: v for n, v in document.items() if n not in _NOT_SAID}))
    return Guest(record, envelope, envelope.identity, event_type, content, json_bytes(document))


def build(model: type[Event], fields: Mapping[str, Any]) -> tuple[Event, Repairs]:
    """Return an event from what a caller gave, and what had to be replaced in its texts.

    Raises InvalidEvent that names the first bad field, its value and the limit.
    """
    given = dict(fields)
    repairs: Repairs = {}
    try:
        clean = plain(given)
    except NotPlain:
        check_depth(given, field=model.event_type)
        clean = cleaned(given, field="", repairs=repairs)
    return validated(model, clean), repairs


def _built_text(event: Event) -> str:
    """Return the text of `_data_of` where `build` made *event*: its values are JSON, or times."""
    text = json_text(event.__pydantic_serializer__.to_python(event, exclude_defaults=True))
    if text.count("{") + text.count("[") >= DEPTH_MAX:
        check_depth({"data": event.model_dump(exclude_defaults=True)}, field="data")
    return text


def _data_of(event: Event, repairs: Repairs) -> dict[str, Any]:
    """Return what *event* says as JSON can hold it, within the depth that its document leaves."""
    fields = event.model_dump(exclude_defaults=True)
    try:
        data: dict[str, Any] = plain(fields, levels=DEPTH_MAX - 1)
    except NotPlain:
        data = cleaned(fields, field="data", repairs=repairs)
        check_depth({"data": data}, field="data")
    return data


def validated(model: type[Event], data: Mapping[str, Any]) -> Event:
    """Return *data* as an event of *model*. Raises InvalidEvent for the first bad field."""
    try:
        event: Event = model.__pydantic_validator__.validate_python(data)  # the bare one
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or model.event_type
        raise InvalidEvent(field, first["input"], _limit(first)) from error
    return event


def _limit(problem: Mapping[str, Any]) -> str:
    """Return what is wrong, with the size of what is too long."""
    said, given = problem["msg"], problem["input"]
    return f"{said}, not {len(given)}" if problem["type"] in _TOO_LONG else str(said)


def content_of(
    event_type: str, version: int, data: Mapping[str, Any], *, dataref: str | None = None
) -> str:
    """Return 32 hexadecimal digits of what an event says, whatever its time and envelope."""
    return _content_of(event_type, version, json_text(data), dataref)


def _content_of(event_type: str, version: int, data: str, dataref: str | None) -> str:
    """Return what `content_of` does; two texts beside the log may share their heads in *data*."""
    whole = "" if dataref is None else f",{json_text(dataref)}"
    return _digest(f"[{quoted(event_type)},{version},{data}{whole}]".encode())


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
