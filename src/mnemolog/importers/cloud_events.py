"""CloudEvents: what `mnemolog export` writes, and anybody's events, in files of JSON.

Events are appended as they are, ours and guests'. An export's own lines are never appended: they
say where it begins and ends, and hold what is no event. The sender and the codec judge what an
event says; here only its place in the file is known.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemolog.exporting_lines import (
    BEGUN,
    BLOB,
    ENDED,
    EXPORT_FORMAT,
    FOREIGN,
    Unreadable,
    blob_in,
    foreign_in,
)
from mnemolog.importers.base import Blob, Found, Options, Problem, Raw, Ready, Source
from mnemolog.importers.documents import Document, documents
from mnemolog.importers.outlines import outlines
from mnemolog.schemas.cloudevents import EXPORT_PREFIX, RECORDED_TIME
from mnemolog.schemas.envelope import TYPE_PREFIX
from mnemolog.schemas.errors import shown
from mnemolog.schemas.events import GOVERNANCE
from mnemolog.schemas.events.governance import ProcessorAdvanced

_MARKS: Final = frozenset({"specversion", "type"})
_ADVANCED: Final = TYPE_PREFIX + ProcessorAdvanced.event_type
_GOVERNANCE: Final = frozenset(TYPE_PREFIX + event.event_type for event in GOVERNANCE)


class CloudEvents:
    """Imports JSON Lines, batches (arrays) and single documents of CloudEvents 1.0."""

    name = "cloudevents"

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows a CloudEvent."""
        del path
        return any(keys >= _MARKS for keys in outlines(head))

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield every event of *source* as it is, and a Problem for what can't be one."""
        begins: str | None = None  # where an export begins whose end did not come yet
        for place, value in _values(source):
            if isinstance(value, Problem):
                yield value
                continue
            event_type = value.get("type") if isinstance(value, dict) else None
            if event_type == BEGUN:
                yield from _cut_off(source, begins)
                begins = place
                yield from _of_a_format_to_come(source, place, value)
            elif event_type == ENDED:
                begins = None
            else:
                yield _found(source, place, value, options)
        yield from _cut_off(source, begins)


def _values(source: Source) -> Iterator[tuple[str, Any]]:
    """Yield each value with its place; a line may hold a batch, too."""
    for found in documents(source):
        match found:
            case Document(place, list() as batch):
                yield from ((f"{place}, item {n}", item) for n, item in enumerate(batch, start=1))
            case Document(place, value):
                yield place, value
            case problem:
                yield problem.place, problem


def _cut_off(source: Source, begins: str | None) -> Iterator[Problem]:
    if begins is not None:
        reason = "the export that begins here has no end: what it had behind is missing"
        yield source.problem(begins, reason)


def _of_a_format_to_come(
    source: Source, place: str, document: Mapping[str, Any]
) -> Iterator[Problem]:
    """Warn of an export of newer code: what this code knows of it is imported."""
    data = document.get("data")
    told = data.get("format") if isinstance(data, dict) else None
    if told != EXPORT_FORMAT:
        reason = f"an export of format {shown(told)}; this code knows {EXPORT_FORMAT}"
        yield source.problem(place, reason)


def _found(source: Source, place: str, value: Any, options: Options) -> Found:
    if not isinstance(value, dict):
        return source.problem(place, f"{shown(value)} is no CloudEvent")
    event_type = str(value.get("type"))
    if event_type.startswith(EXPORT_PREFIX):
        return _line_of_an_export(source, place, value)
    if event_type == _ADVANCED:
        return source.problem(place, "how far a processor was on one log says nothing of another")
    was_recorded = RECORDED_TIME in value
    if not was_recorded and event_type not in _GOVERNANCE:
        value = _named(value, options)
    return Ready(place, value, was_recorded=was_recorded)


def _line_of_an_export(source: Source, place: str, document: Mapping[str, Any]) -> Found:
    try:
        match document["type"]:
            case str(event_type) if event_type == FOREIGN:
                return Raw(place, *foreign_in(document))
            case str(event_type) if event_type == BLOB:
                return Blob(place, blob_in(document))
            case unknown:
                reason = f"{shown(unknown)}: this code knows no such line"
                return source.problem(place, reason)
    except Unreadable as error:
        return source.problem(place, str(error))


def _named(document: dict[str, Any], options: Options) -> dict[str, Any]:
    """Return *document* with the names that options give, where it has none."""
    given = {"user": options.user, "project": options.project}
    if document.get("partitionkey") is None:
        given["agent"] = options.agent
    named = {name: value for name, value in given.items() if value is not None}
    return {**named, **{name: value for name, value in document.items() if value is not None}}
