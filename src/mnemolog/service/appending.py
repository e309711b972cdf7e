"""What a body says is to be appended: events in our JSON, or CloudEvents, one or many.

A call's events are checked before the first is appended, and go to the log in one call, in order.
Without an id an event gets a fresh one; whoever retries names it, and the event counts once.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from mnemolog.http_errors import BadRequest, Refused, UnknownMediaType
from mnemolog.http_wire import (
    CLOUD_EVENT,
    CLOUD_EVENTS,
    JSON,
    AppendedEvent,
    AppendedEvents,
    Right,
    appended_told,
)
from mnemolog.memory import Memory
from mnemolog.schemas.cloudevents import EXPORT_PREFIX
from mnemolog.schemas.decoded import Guest, Ours, Unusable
from mnemolog.schemas.envelope import TYPE_PREFIX
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events import ALL_EVENTS, GOVERNANCE, Event
from mnemolog.schemas.events.governance import EVERYWHERE
from mnemolog.schemas.portable import Taken, copies, is_for_every_partition, taken
from mnemolog.schemas.positions import Position, Token
from mnemolog.schemas.values import parse_json
from mnemolog.scope import Scope
from mnemolog.service.limits import EVENTS_MAX
from mnemolog.streams.publishing import Draft
from mnemolog.writing import IN_EVENT

ONE_KEYS: Final = frozenset({"type", "fields", "scope"})
MEDIA_TYPES: Final = (JSON, CLOUD_EVENT, CLOUD_EVENTS)
_EVENTS: Final = {event.event_type: event for event in ALL_EVENTS}
_GOVERNING: Final = frozenset(event.event_type for event in GOVERNANCE)


def append(
    memory: Memory, body: bytes, *, media_type: str, rights: Sequence[Right]
) -> AppendedEvents:
    """Append what *body* says and return what the log says of each event.

    Raises BadRequest for what can't be read, Refused for what rules others without the right
    "admin", InvalidEvent for what can't be an event, or as `Publisher.append` does.
    """
    said = read_json(body)
    match media_type:
        case "application/json":
            appended = _ours(memory, _listed(said), rights)
        case "application/cloudevents+json":
            appended = _cloud_events(memory, [said], rights)
        case "application/cloudevents-batch+json":
            if not isinstance(said, list):
                raise BadRequest("a batch of CloudEvents is a JSON array")
            appended = _cloud_events(memory, _bounded(said), rights)
        case _:
            check_media_type(media_type, *MEDIA_TYPES)
            raise AssertionError(media_type)
    places = [place for one in appended for place in (one.position, *one.copies)]
    return AppendedEvents(events=appended, token=str(Token.of(places)))


def check_media_type(given: str, *known: str) -> None:
    """Raise UnknownMediaType for what is none of *known*."""
    if given not in known:
        raise UnknownMediaType(f"{given or 'no Content-Type'}: one of {', '.join(known)} is read")


def read_json(body: bytes) -> Any:
    """Return the JSON value in *body*. Raises BadRequest."""
    try:
        return parse_json(body, field="body")
    except InvalidEvent as error:
        raise BadRequest(str(error)) from error


# Our own JSON: an event is its type, its fields and its scope.


def _listed(said: Any) -> list[Any]:
    """Return the events of a body: one, or a list under the name "events"."""
    if not isinstance(said, dict):
        raise BadRequest('an event is a JSON object, many are {"events": [...]}')
    if "events" not in said:
        return [said]
    if said.keys() != {"events"} or not isinstance(said["events"], list):
        raise BadRequest('many events are {"events": [...]}, and nothing beside it')
    return _bounded(said["events"])


def _bounded(events: list[Any]) -> list[Any]:
    if len(events) > EVENTS_MAX:
        raise InvalidEvent("events", len(events), f"at most {EVENTS_MAX} events a call")
    return events


def _ours(memory: Memory, events: list[Any], rights: Sequence[Right]) -> list[AppendedEvent]:
    drafts = [_draft(memory, one, rights) for one in events]
    publisher = memory.engine.publisher
    if not any(draft.model in EVERYWHERE for draft in drafts):
        return [appended_told(one) for one in publisher.append(drafts)]
    if len(drafts) > 1:
        raise InvalidEvent("events", len(drafts), "what rules every key comes alone in a call")
    first, *others = publisher.govern(drafts[0])
    return [appended_told(replace(first, copies=tuple(copy.position for copy in others)))]


def _draft(memory: Memory, said: Any, rights: Sequence[Right]) -> Draft:
    if not isinstance(said, dict):
        raise InvalidEvent("event", said, "an event is a JSON object")
    for name in said.keys() - ONE_KEYS:
        raise InvalidEvent(name, said[name], "an event has type, fields and scope")
    model = _model(said.get("type"))
    _check_right(model.event_type, rights)
    fields = _object(said.get("fields"), "fields")
    scope = _object(said.get("scope"), "scope")
    for name, value in scope.items():
        if name not in Scope.__annotations__:
            raise InvalidEvent(name, value, "no name of a scope; docs/service.md lists them")
        if name not in IN_EVENT and not isinstance(value, str | None):
            raise InvalidEvent(name, value, "a text")
    return memory.draft(model, fields, cast("Scope", scope))


def _model(name: Any) -> type[Event]:
    known = name.removeprefix(TYPE_PREFIX) if isinstance(name, str) else None
    model = None if known is None else _EVENTS.get(known)
    if model is None:
        raise InvalidEvent("type", name, "no such event type; docs/events.md lists them")
    return model


def _object(value: Any, name: str) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise InvalidEvent(name, value, "a JSON object")
    return value or {}


def _check_right(event_type: str, rights: Sequence[Right]) -> None:
    if event_type in _GOVERNING and "admin" not in rights:
        raise Refused(f"{event_type} rules others: it needs the right admin")


# CloudEvents, of anybody's types.


def _cloud_events(
    memory: Memory, documents: list[Any], rights: Sequence[Right]
) -> list[AppendedEvent]:
    made = [_made(memory, document, rights) for document in documents]
    records = [one.record for event in made for one in event]
    positions = iter(memory.engine.log.append(records) if records else [])
    return [_told(event, [next(positions) for _ in event]) for event in made]


def _made(memory: Memory, document: Any, rights: Sequence[Right]) -> list[Taken]:
    """Return the records of a CloudEvent: one, or a copy for each partition."""
    if not isinstance(document, dict):
        raise InvalidEvent("event", document, "a CloudEvent is a JSON object")
    event_type, tenant = str(document.get("type")), document.get("tenant")
    codec = memory.engine.codec
    if tenant is not None and tenant != codec.tenant:
        raise InvalidEvent("tenant", tenant, "the key's tenant is the event's; leave it out")
    if event_type.startswith(EXPORT_PREFIX):
        raise InvalidEvent("type", event_type, "a line of an export, and no event")
    _check_right(event_type.removeprefix(TYPE_PREFIX), rights)
    spread: list[Mapping[str, Any]] = [document]
    if is_for_every_partition(document):
        if "admin" not in rights:
            raise Refused(f"{event_type} for every partition: it needs the right admin")
        spread = list(copies(document, partitions=memory.engine.log.partitions))
    made = [taken(one, codec) for one in spread]
    first = made[0].item
    if isinstance(first, Unusable):
        raise InvalidEvent(first.event_type, document.get("id"), first.reason)
    return made


def _told(event: Sequence[Taken], positions: Sequence[Position]) -> AppendedEvent:
    first = event[0]
    return AppendedEvent(
        id=_id_of(first),
        identity=first.record.identity,
        event_type=first.item.event_type,
        position=positions[0],
        copies=positions[1:],
    )


def _id_of(made: Taken) -> str:
    match made.item:
        case Ours() as ours:
            return ours.recorded.id
        case Guest() as guest:
            return guest.envelope.id
        case Unusable() as refused:
            raise AssertionError(refused.reason)  # it was not appended
