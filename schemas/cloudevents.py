"""CloudEvents 1.0 on Kafka: how a record's headers and value hold the attributes and the data.

Structured mode: the value is one JSON document. Binary mode: attributes are `ce_` headers, the
value is the data. Here only the form is checked; what the attributes mean is the codec's.
"""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.schemas.envelope import CONTENT_TYPE, SCOPE_NAMES, SPEC_VERSION
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.foreign import mark_in
from mnemolog.schemas.records import Headers, LogRecord
from mnemolog.schemas.values import UNSAFE, parse_json

Attribute = str | int | bool
Attributes = dict[str, Attribute]

EXPORT_PREFIX: Final = "mnemolog.export."  # of types that stand in exports and on no log
RECORDED_TIME: Final = "recordedtime"  # extension: when the first log took the event

_REQUIRED: Final = ("id", "source", "type")
_NAME = re.compile(r"[a-z0-9]+")
# Names that need no look: those of the specification, and ours.
_USUAL: Final = frozenset(
    {
        *("specversion", "id", "source", "type", "time", "datacontenttype", "dataschema"),
        *(*SCOPE_NAMES, "subject", "causationid", "correlationid", "keyid"),
        *("partitionkey", "repaired", "dataref"),
    }
)
_BINARY_PREFIX: Final = "ce_"
_SCHEMA_REGISTRY_MAGIC: Final = (b"\x00", b"\x01")


class NotACloudEvent(Exception):
    """The record is no CloudEvent; the message says why."""


@dataclass(frozen=True, slots=True)
class CloudEvent:
    """A CloudEvent's attributes and its data: JSON, or bytes where it is not JSON."""

    attributes: Attributes
    data: Any

    def document(self) -> dict[str, Any]:
        """Return the structured form as a JSON value."""
        match self.data:
            case None:
                return dict(self.attributes)
            case bytes():
                return {**self.attributes, "data_base64": base64.b64encode(self.data).decode()}
            case _:
                return {**self.attributes, "data": self.data}


def read_cloud_event(record: LogRecord) -> CloudEvent:
    """Return the CloudEvent in *record*, of either mode. Raises NotACloudEvent with the reason."""
    headers = dict(record.headers)
    if (mark := mark_in(headers)) is not None:
        raise NotACloudEvent(mark.reason)
    if record.value is None:
        raise NotACloudEvent("a tombstone")
    if not record.value:
        raise NotACloudEvent("empty")
    try:
        if _BINARY_PREFIX + "specversion" in headers:
            return _binary(headers, record.value)
        return _structured(headers.get("content-type") or CONTENT_TYPE.encode(), record.value)
    except InvalidEvent as error:
        raise NotACloudEvent(str(error)) from error


def binary_form(document: Mapping[str, Any]) -> tuple[bytes, Headers] | None:
    """Return the value and the headers that say in binary mode what *document* says, if they can.

    They can for data that is no JSON, with texts alone around it. Base64 is a third larger.
    """
    attributes = {name: value for name, value in document.items() if name != "data_base64"}
    content_type = attributes.pop("datacontenttype", "json")
    texts = all(isinstance(value, str) for value in (content_type, *attributes.values()))
    if not texts or "json" in content_type or "data" in attributes:
        return None
    try:
        data = base64.b64decode(document["data_base64"], validate=True)
    except (KeyError, TypeError, ValueError):
        return None
    named = {"content-type": content_type, **{f"ce_{name}": v for name, v in attributes.items()}}
    return data, tuple((name, v.encode("utf-8", "surrogatepass")) for name, v in named.items())


def _structured(content_type: bytes, value: bytes) -> CloudEvent:
    if value[:1] in _SCHEMA_REGISTRY_MAGIC:
        raise NotACloudEvent("framed for a schema registry; publish plain CloudEvents JSON")
    if not content_type.startswith((CONTENT_TYPE.encode(), b"application/json")):
        raise NotACloudEvent(f"content-type {content_type[:60]!r} is not {CONTENT_TYPE}")
    document = parse_json(value)
    if not isinstance(document, dict):
        raise NotACloudEvent("JSON, but no object")
    data = _data(document)
    return CloudEvent(_attributes(document), data)


def _data(document: dict[str, Any]) -> Any:
    """Take the data out of *document*, which is ours to change."""
    data, encoded = document.pop("data", None), document.pop("data_base64", None)
    if encoded is None:
        return data
    if data is not None:
        raise NotACloudEvent("both data and data_base64")
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise NotACloudEvent("data_base64 is not base64") from error


def _binary(headers: dict[str, bytes | None], value: bytes) -> CloudEvent:
    attributes: dict[str, Any] = {
        name.removeprefix(_BINARY_PREFIX): _header_text(name, content)
        for name, content in headers.items()
        if name.startswith(_BINARY_PREFIX)
    }
    content_type = headers.get("content-type") or b"application/json"
    attributes["datacontenttype"] = _header_text("content-type", content_type)
    is_json = b"json" in content_type
    return CloudEvent(_attributes(attributes), parse_json(value) if is_json else value)


def _header_text(name: str, content: bytes | None) -> str:
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotACloudEvent(f"header {name} is not UTF-8") from error


def _attributes(document: dict[str, Any]) -> Attributes:
    attributes = {name: value for name, value in document.items() if value is not None}
    if attributes.get("specversion") != SPEC_VERSION:
        raise NotACloudEvent(f"specversion {attributes.get('specversion')!r} is not {SPEC_VERSION}")
    for name, value in attributes.items():
        # Nearly every attribute: a NUL or a surrogate is nothing that can be printed.
        is_plain = name in _USUAL and isinstance(value, str) and value.isprintable()
        if not is_plain:
            check_attribute(name, value)
    for name in _REQUIRED:
        if not isinstance(attributes.get(name), str) or not attributes[name]:
            raise NotACloudEvent(f"attribute {name} is missing")
    return attributes


def check_attribute(name: str, value: Any) -> None:
    """Raise NotACloudEvent for a name or a value that an attribute can't have."""
    if not _NAME.fullmatch(name):
        raise NotACloudEvent(f"attribute name {name[:40]!r} is not lower-case ASCII")
    if not isinstance(value, str | int):
        raise NotACloudEvent(f"attribute {name} is a {type(value).__name__}")
    if isinstance(value, str) and UNSAFE.search(value):
        raise NotACloudEvent(f"attribute {name} holds a NUL or a lone surrogate")
