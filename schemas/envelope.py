"""The envelope of an event: CloudEvents 1.0 attributes and ours, checked in one place.

`Envelope` is what the publisher says around an event; `RecordedEvent` adds what the log says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.ids import (
    NO_AGENT_KEY,
    RESERVED_PREFIX,
    check_id,
    check_key,
    check_name,
    identity_of,
)
from mnemolog.schemas.positions import Position
from mnemolog.schemas.values import UNSAFE

if TYPE_CHECKING:
    from mnemolog.schemas.events.base import Event

SPEC_VERSION: Final = "1.0"
TYPE_PREFIX: Final = "mnemolog."
DEFAULT_SOURCE: Final = "/mnemolog/sdk"
CONTENT_TYPE: Final = "application/cloudevents+json"

# Our extension attributes, by the field that holds each (CloudEvents names have no "_").
SCOPE_NAMES: Final = ("tenant", "agent", "user", "project", "session", "task", "phase")
_names_of = attrgetter("source", "key", *SCOPE_NAMES)
_IDS: Final = ("subject", "cause", "correlation", "key_id")
_ids_of = attrgetter(*_IDS)


@dataclass(slots=True, kw_only=True)  # not frozen: to make one would take three times as long
class Envelope:
    """Who says what about which task, when, and because of what. All values are checked.

    `key` orders the event: the agent, or `NO_AGENT_KEY`, or a key of ours for governance.
    `cause` and `correlation` are event ids. `assumed_utc` says that the time came without a
    zone. `repaired` is JSON: what `schemas.values.cleaned` had to replace. `dataref` names the
    blobs of texts of which the event has the heads (`schemas.blobs`), or is another producer's.
    `extensions` are attributes of others (traceparent, ...), kept as they came.
    """

    id: str
    source: str
    occurred_at: datetime
    key: str
    tenant: str | None = None
    agent: str | None = None
    user: str | None = None
    project: str | None = None
    session: str | None = None
    task: str | None = None
    phase: str | None = None
    subject: str | None = None
    cause: str | None = None
    correlation: str | None = None
    key_id: str | None = None
    assumed_utc: bool = False
    repaired: str | None = None
    dataref: str | None = None
    extensions: Mapping[str, str | int | bool] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """32 hexadecimal digits of (key, source, id)."""
        return identity_of(key=self.key, source=self.source, event_id=self.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedEvent:
    """An event of ours as the log keeps it, lifted to its type's current version.

    `identity` and `content` are 32 hexadecimal digits each; a repeat has the same identity,
    and the same content unless somebody used an id twice.
    """

    event: "Event"
    envelope: Envelope
    position: Position
    recorded_at: datetime
    identity: str
    content: str

    @property
    def id(self) -> str:
        """The event's id, as its publisher gave it."""
        return self.envelope.id

    @property
    def key(self) -> str:
        """What the event is ordered by."""
        return self.envelope.key

    @property
    def occurred_at(self) -> datetime:
        """When it happened in the world."""
        return self.envelope.occurred_at


def key_of(agent: str | None) -> str:
    """Return the key of an event of *agent*, or of no agent."""
    return NO_AGENT_KEY if agent is None else agent


def checked(envelope: Envelope) -> Envelope:
    """Return *envelope* if each of its names and ids is allowed, else raise InvalidEvent."""
    check_id(envelope.id, field="id")
    _check_names(_names_of(envelope))
    for name, value in zip(_IDS, _ids_of(envelope), strict=True):
        if value is not None:
            check_id(value, field=name)
    if envelope.dataref is not None and UNSAFE.search(envelope.dataref):
        raise InvalidEvent("dataref", envelope.dataref, "it holds a NUL or a lone surrogate")
    return envelope


def _check_names(names: tuple[Any, ...]) -> None:
    try:
        _check_names_once(names)
    except TypeError:  # one of them is not even a text, and can't be remembered
        _check_names_once.__wrapped__(names)


@lru_cache(maxsize=512)  # events name the same again and again; a refusal is not remembered
def _check_names_once(names: tuple[Any, ...]) -> None:
    source, key, *scope = names
    check_id(source, field="source")
    named = dict(zip(SCOPE_NAMES, scope, strict=True))
    for name, value in named.items():
        if value is not None:
            check_name(value, field=name)
    _check_key(key, named["agent"])


def _check_key(key: Any, agent: str | None) -> None:
    ours = check_key(key, field="partitionkey").startswith(RESERVED_PREFIX)
    if not ours and key != agent:
        limit = f"the key of an event is its agent, here {agent!r}"
        raise InvalidEvent("partitionkey", key, limit)
    if ours and agent is not None:
        raise InvalidEvent("partitionkey", key, "an agent's events have the agent as key")


def scope(envelope: Envelope) -> dict[str, Any]:
    """Return the names that say whose the event is; what is absent is left out."""
    named = {name: getattr(envelope, name) for name in SCOPE_NAMES}
    return {name: value for name, value in named.items() if value is not None}


ENVELOPE_FIELDS: Final = tuple(item.name for item in fields(Envelope))
