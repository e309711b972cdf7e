"""The keywords that every verb takes: whose event it is, when it happened and why."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Protocol, TypedDict

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events import ModelUse

_MEMORY_ID: Final = re.compile(r"mem_[0-9a-f]{32}")


class HasId(Protocol):
    """Anything with an id: what an append returned, a recalled memory, an action."""

    @property
    def id(self) -> str:
        """The id."""
        ...


Ref = str | HasId  # an event, memory or decision: its id, or what has it
When = datetime | str  # a datetime or an RFC 3339 text; a naive one is read as UTC


class Names(TypedDict, total=False):
    """Whose event it is."""

    agent: str | None
    user: str | None
    project: str | None
    session: str | None
    task: str | None


class Scope(Names, total=False):
    """Whose event it is, when it happened, and what it came from.

    `id` and `source` are for those who retry or import: the same (agent, source, id) counts once.
    """

    phase: str | None
    occurred_at: When | None
    caused_by: Ref | None
    correlation: str | None
    tags: Sequence[str]
    model_use: ModelUse | dict[str, Any] | None
    id: str | None
    source: str | None


def ref_id(ref: Ref) -> str:
    """Return the id that *ref* is or has. Raises InvalidEvent for what is and has none."""
    found = ref if isinstance(ref, str) else getattr(ref, "id", None)
    if not isinstance(found, str):
        raise InvalidEvent("reference", ref, "an event, memory or decision: its id, or what has it")
    return found


def ref_identity(ref: Ref) -> str | None:
    """Return the identity of the event that *ref* is or comes from; None if it has an id only."""
    return None if isinstance(ref, str) else getattr(ref, "identity", None)


def is_memory(ref: Ref) -> bool:
    """Say whether *ref* means a memory: their ids are "mem_" and 32 hexadecimal digits."""
    return _MEMORY_ID.fullmatch(ref_id(ref)) is not None


def check_keywords(given: Mapping[str, Any], *, of: type, where: str) -> None:
    """Raise TypeError, as Python does, for the first keyword that the typed dict *of* lacks."""
    unknown = sorted(given.keys() - of.__annotations__.keys())
    if unknown:
        raise TypeError(f"{unknown[0]!r} is no keyword of {where}")
