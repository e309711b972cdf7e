"""OpenTelemetry's spans out of the shapes in which exporters write them.

OTLP as JSON (`resourceSpans`, or its spans one by one), what JavaScript's and Python's SDKs make
of a span, and lists of these. A time's unit is stated by its key: nanoseconds since 1970, a pair of
seconds and nanoseconds, or an ISO text; a bare number is refused.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from mnemolog.importers.base import Problem, Source, Unreadable
from mnemolog.importers.documents import Document
from mnemolog.importers.moments import moment_of_text
from mnemolog.importers.otel_said import first
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.ids import check_id
from mnemolog.schemas.times import instant

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HRTIME: Final = 2  # seconds and nanoseconds
_RESOURCES: Final = ("resourceSpans", "resource_spans")
_SCOPES: Final = (
    *("scopeSpans", "scope_spans"),
    *("instrumentationLibrarySpans", "instrumentation_library_spans"),
)
_NANOSECONDS: Final = {"start": "startTimeUnixNano", "end": "endTimeUnixNano"}
_TIMES: Final = {"start": ("startTime", "start_time"), "end": ("endTime", "end_time")}
_ERRORS: Final = (2, "ERROR", "STATUS_CODE_ERROR", "StatusCode.ERROR")
_SCALARS: Final = ("stringValue", "doubleValue", "boolValue", "bytesValue")


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that a span noted while it lasted."""

    name: str
    at: datetime
    attributes: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A span, with its resource's attributes."""

    trace: str
    id: str
    parent: str | None
    name: str
    place: str
    begun: datetime
    ended: datetime | None
    attributes: Mapping[str, Any]
    resource: Mapping[str, Any]
    events: tuple[SpanEvent, ...] = ()
    error: str | None = None


def spans_of(document: Document, source: Source) -> Iterator[Span | Problem]:
    """Yield the spans of a document, and a Problem for each that can't be read."""
    for place, value, resource in _found(document.value, document.place):
        try:
            yield _span(value, resource, place)
        except Unreadable as error:
            yield source.problem(place, str(error))


def _found(value: Any, place: str) -> Iterator[tuple[str, Any, Mapping[str, Any]]]:
    """Yield the place, the value and the resource's attributes of each span."""
    if not isinstance(value, dict):
        yield place, value, {}
        return
    batches = first(value, _RESOURCES)
    if isinstance(batches, list):
        for number, (resource, span) in enumerate(_batched(batches), start=1):
            yield f"{place}, span {number}", span, resource
    elif isinstance(spans := value.get("spans"), list):
        for number, span in enumerate(spans, start=1):
            yield f"{place}, span {number}", span, {}
    else:
        yield place, value, {}


def _batched(batches: list[Any]) -> Iterator[tuple[Mapping[str, Any], Any]]:
    for batch in batches:
        if not isinstance(batch, dict):
            yield {}, batch
            continue
        resource = batch.get("resource")
        shared = attributes_of(resource.get("attributes") if isinstance(resource, dict) else None)
        scopes = first(batch, _SCOPES)
        for scope in scopes if isinstance(scopes, list) else ():
            spans = scope.get("spans") if isinstance(scope, dict) else None
            for span in spans if isinstance(spans, list) else ():
                yield shared, span


def _span(value: Any, resource: Mapping[str, Any], place: str) -> Span:
    if not isinstance(value, dict):
        raise Unreadable(f"{shown(value)} is no span")
    context = first(value, ("spanContext", "context"), otherwise=value)
    if not isinstance(context, dict):
        raise Unreadable(f"{shown(context)} is no span's context")
    own = value.get("resource")
    shared = attributes_of(own.get("attributes")) if isinstance(own, dict) else {}
    events = value.get("events")
    return Span(
        trace=_id(first(context, ("traceId", "trace_id")), "trace id"),
        id=_id(first(context, ("spanId", "span_id")), "span id"),
        parent=_parent(value),
        name=str(value.get("name")),
        place=place,
        begun=_time(value, "start"),
        ended=_ended(value),
        attributes=attributes_of(value.get("attributes")),
        resource={**resource, **shared},
        events=tuple(_events(events if isinstance(events, list) else [])),
        error=_error(value),
    )


def _id(value: Any, field: str) -> str:
    try:
        return check_id(value, field=field).removeprefix("0x")
    except InvalidEvent as error:
        raise Unreadable(str(error)) from error


def _parent(value: Mapping[str, Any]) -> str | None:
    context = value.get("parentSpanContext")
    named = context.get("spanId") if isinstance(context, dict) else None
    named = named or first(value, ("parentSpanId", "parent_span_id", "parent_id", "parentId"))
    if not isinstance(named, str):
        return None
    parent = named.removeprefix("0x")
    return parent if parent.strip("0") else None  # no bytes, or zeros, are no id


def _ended(value: Mapping[str, Any]) -> datetime | None:
    """Return when a span ended; 0 is what exporters write for one that has not."""
    written = first(value, (_NANOSECONDS["end"], *_TIMES["end"]))
    return None if written in (None, 0, "0", [0, 0]) else _time(value, "end")


def _time(value: Mapping[str, Any], which: str) -> datetime:
    nanoseconds = value.get(_NANOSECONDS[which])
    if nanoseconds is not None:
        return moment_of_nanoseconds(nanoseconds)
    return moment_of(first(value, _TIMES[which]))


def moment_of(value: Any) -> datetime:
    """Return a pair of seconds and nanoseconds, or an ISO text, as a time. Raises Unreadable."""
    if isinstance(value, list) and len(value) == _HRTIME and all(map(_is_count, value)):
        return moment_of_nanoseconds(value[0] * 1_000_000_000 + value[1])
    if isinstance(value, str):
        return moment_of_text(value)
    raise Unreadable(f"time {shown(value)} is neither [seconds, nanoseconds] nor an ISO text")


def moment_of_nanoseconds(value: Any) -> datetime:
    """Return a count of nanoseconds since 1970 as a time. Raises Unreadable."""
    try:
        count = int(value) if isinstance(value, str) and value.isdigit() else value
        if not _is_count(count):
            raise Unreadable(f"time {shown(value)} is no count of nanoseconds since 1970")
        moment = _EPOCH + timedelta(microseconds=count // 1_000)
        return instant(moment, field="time")[0]
    except (OverflowError, ValueError, InvalidEvent) as error:
        limit = "not between 1900 and 2200 when read as nanoseconds since 1970"
        raise Unreadable(f"time {shown(value)}: {limit}") from error


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def attributes_of(value: Any) -> dict[str, Any]:
    """Return attributes as a dictionary: they are one, or OTLP's list of keys and values."""
    if isinstance(value, dict):
        return value
    pairs = (item for item in value if isinstance(item, dict)) if isinstance(value, list) else ()
    return {
        pair["key"]: _any_value(pair.get("value"))
        for pair in pairs
        if isinstance(pair.get("key"), str)
    }


def _any_value(value: Any) -> Any:
    """Return a value out of OTLP's wrapping, which names its type."""
    if not isinstance(value, dict):
        return value
    for key in _SCALARS:
        if key in value:
            return value[key]
    if "intValue" in value:
        number = value["intValue"]
        is_text = isinstance(number, str) and number.removeprefix("-").isdigit()
        return int(number) if is_text and len(number) < 20 else number  # noqa: PLR2004 - 64 bits
    for key, read in (("arrayValue", _values), ("kvlistValue", _pairs)):
        if isinstance(inner := value.get(key), dict):
            return read(inner.get("values"))
    return value


def _values(values: Any) -> list[Any]:
    return [_any_value(item) for item in values] if isinstance(values, list) else []


def _pairs(values: Any) -> dict[str, Any]:
    return attributes_of(values if isinstance(values, list) else [])


def _events(events: list[Any]) -> Iterator[SpanEvent]:
    """Yield a span's events; one without a time can't be told, and tells nothing of the span."""
    for event in events:
        if not isinstance(event, dict) or not isinstance(event.get("name"), str):
            continue
        nanoseconds = event.get("timeUnixNano")
        try:
            if nanoseconds is not None:
                at = moment_of_nanoseconds(nanoseconds)
            else:
                at = moment_of(first(event, ("time", "timestamp")))
        except Unreadable:
            continue
        yield SpanEvent(event["name"], at, attributes_of(event.get("attributes")))


def _error(value: Mapping[str, Any]) -> str | None:
    status = value.get("status")
    if not isinstance(status, dict):
        return None
    if first(status, ("code", "status_code")) not in _ERRORS:
        return None
    said = first(status, ("message", "description"))
    return said if isinstance(said, str) and said else "failed"
