"""The envelope as CloudEvents attributes and back."""

import json
from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

from mnemolog.schemas.cloudevents import (
    Attributes,
    NotACloudEvent,
    check_attribute,
)
from mnemolog.schemas.envelope import SCOPE_NAMES, SPEC_VERSION, TYPE_PREFIX, Envelope
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.base import schema_id
from mnemolog.schemas.ids import check_id, check_name
from mnemolog.schemas.records import LogRecord
from mnemolog.schemas.times import instant, written
from mnemolog.schemas.values import Repairs, json_text, quoted

# Attribute name -> field of the envelope, where the two differ.
_RENAMED: Final = {
    "causationid": "cause",
    "correlationid": "correlation",
    "keyid": "key_id",
}
# The same of all texts that may be absent.
_OPTIONAL: Final = {name: _RENAMED.get(name, name) for name in (*SCOPE_NAMES, "subject", *_RENAMED)}
# The same of what event after event has in common, but for the tenant, which is the codec's...
_COMMON: Final = {
    "source": "source",
    "partitionkey": "key",
    **{name: name for name in SCOPE_NAMES if name != "tenant"},
}
_common_of = attrgetter(*_COMMON.values())
# ... and of what it may have for itself.
_OWN: Final = {"subject": "subject", **_RENAMED}
_own_of = attrgetter(*_OWN.values())
_OURS: Final = {
    *_OPTIONAL,
    *("specversion", "id", "source", "type", "time", "datacontenttype", "dataschema"),
    *("partitionkey", "assumedutc", "repaired", "dataref", "data"),
}


def check_extensions(envelope: Envelope) -> None:
    """Raise InvalidEvent for an extension that no CloudEvent can carry, or with a name of ours."""
    for name, value in envelope.extensions.items():
        if name in _OURS:
            raise InvalidEvent(name, value, "this attribute is ours; an extension has another name")
        try:
            check_attribute(name, value)
        except NotACloudEvent as error:
            raise InvalidEvent(f"extensions.{name}", value, str(error)) from error


def document_of(envelope: Envelope, event: Event, data: str, *, tenant: str) -> bytes:
    """Return the CloudEvent of *event* in *envelope* as canonical JSON; *data* is that already.

    What is absent is left out. Its extensions are checked.
    """
    texts = _common_texts(tenant, *_common_of(envelope)).copy()
    texts["id"] = quoted(envelope.id)
    texts["time"] = f'"{written(envelope.occurred_at)}"'
    texts["data"] = data
    for name, text in zip(_OWN, _own_of(envelope), strict=True):
        if text is not None:
            texts[name] = quoted(text)
    for name, value in envelope.extensions.items():
        texts[name] = json_text(value)
    if envelope.assumed_utc:
        texts["assumedutc"] = "true"
    if envelope.repaired:
        texts["repaired"] = quoted(envelope.repaired)
    if envelope.dataref is not None:
        texts["dataref"] = quoted(envelope.dataref)
    return (_frame(event.event_type, event.event_version, *texts) % texts).encode()


@lru_cache(maxsize=512)  # as many as `envelope.checked` knows to be allowed
def _common_texts(*common: str | None) -> dict[str, str]:
    """Return the JSON of what the events of an agent at a task have in common, by its name."""
    texts = zip(("tenant", *_COMMON), common, strict=True)
    return {name: quoted(text) for name, text in texts if text is not None}


@lru_cache(maxsize=512)  # few names come together with a type
def _frame(event_type: str, version: int, *names: str) -> str:
    """Return the document of events of a type and version, with a place for what is in *names*."""
    fixed = {
        "specversion": SPEC_VERSION,
        "type": TYPE_PREFIX + event_type,
        "datacontenttype": "application/json",
        "dataschema": schema_id(event_type, version),
    }
    members = {name: quoted(text).replace("%", "%%") for name, text in fixed.items()}
    members.update({name: f"%({name})s" for name in names})
    return "{" + ",".join(f'"{name}":{members[name]}' for name in sorted(members)) + "}"


def envelope_of(attributes: Attributes, key: str, record: LogRecord, repairs: Repairs) -> Envelope:
    """Return the envelope in *attributes*, unchecked but for its time and its attributes' types.

    An event without a time happened when the log took it.
    """
    occurred_at, assumed = _time(attributes, record)
    texts = {
        field: _text(attributes, name) for name, field in _OPTIONAL.items() if name in attributes
    }
    return Envelope(
        id=str(attributes["id"]),
        source=str(attributes["source"]),
        occurred_at=occurred_at,
        key=key,
        assumed_utc=assumed or attributes.get("assumedutc") in {True, "true"},
        repaired=repairs_text(repairs) or _text(attributes, "repaired"),
        dataref=_text(attributes, "dataref"),
        extensions={name: value for name, value in attributes.items() if name not in _OURS},
        **texts,
    )


def guest_envelope_of(attributes: Attributes, key: str, record: LogRecord) -> Envelope:
    """Return the envelope of an event that isn't ours: names of ours count only where they fit."""
    occurred_at, assumed = _time(attributes, record)
    scope: dict[str, Any] = {}
    for name in SCOPE_NAMES:
        with suppress(InvalidEvent):
            scope[name] = check_name(attributes.get(name), field=name)
    return Envelope(
        id=check_id(attributes["id"], field="id"),
        source=check_id(attributes["source"], field="source"),
        occurred_at=occurred_at,
        key=key,
        assumed_utc=assumed,
        **scope,
    )


def repairs_text(repairs: Repairs) -> str | None:
    """Return *repairs* as the attribute `repaired` holds them, or None if there are none."""
    return json.dumps(repairs, sort_keys=True, separators=(",", ":")) if repairs else None


def _time(attributes: Attributes, record: LogRecord) -> tuple[datetime, bool]:
    if "time" not in attributes:
        return record.recorded_at, False
    return instant(attributes["time"], field="time")


def _text(attributes: Attributes, name: str) -> str | None:
    value = attributes.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidEvent(name, value, "this attribute is a text")
    return value
