"""The command get: one event whole, or one memory."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemolog.cli.options import AsJSON, Data, LogURL, Tenant, opened
from mnemolog.cli.output import note, say, say_json, say_pairs

if TYPE_CHECKING:
    from mnemolog.known import Known
    from mnemolog.memory import Memory
    from mnemolog.schemas.envelope import RecordedEvent


def add_to(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("get")(get)


def get(
    ref: Annotated[str, typer.Argument(metavar="ID", help="An event's or a memory's id.")],
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    heads: Annotated[
        bool,
        typer.Option("--heads", help="Leave texts that stand beside the log there."),
    ] = False,
    as_json: AsJSON = False,
) -> None:
    """Show an event whole, or a memory with its weight and the event that formed it."""
    from mnemolog.schemas.envelope import RecordedEvent  # noqa: PLC0415 - see `opened`

    with opened(data, log, tenant, reads=True) as memory:
        found = memory.get(ref, after=memory.end(), whole=not heads)
        if isinstance(found, RecordedEvent):
            _say_event(found, as_json=as_json)
        else:
            _say_memory(memory, found, as_json=as_json)


def _say_event(found: "RecordedEvent", *, as_json: bool) -> None:
    from mnemolog.schemas.blobs import references_in  # noqa: PLC0415

    told = _event(found)
    said = told.pop("data")
    if as_json:
        say_json({**told, "data": said})
        return
    say_pairs({name: value for name, value in told.items() if name != "dataref"})
    for one in references_in(found.envelope.dataref):
        note(f"beside the log: {one.pointer}, {one.bytes} bytes, SHA-256 {one.sha256}")
    say_json(said)


def _event(found: "RecordedEvent") -> dict[str, Any]:
    """Return *found* with what its envelope and the log say, as far as they say anything."""
    envelope = asdict(found.envelope)
    extensions = envelope.pop("extensions")
    told = {
        "id": envelope.pop("id"),
        "type": found.event.event_type,
        "position": str(found.position),
        "recorded_at": found.recorded_at.isoformat(),
        **envelope,
        "occurred_at": found.occurred_at.isoformat(),
        "identity": found.identity,
        **extensions,
    }
    said = {name: value for name, value in told.items() if value is not None and value is not False}
    data = found.event.model_dump(mode="json", exclude_defaults=True, warnings=False)
    return {**said, "data": data}


def _say_memory(memory: "Memory", found: "Known", *, as_json: bool) -> None:
    from mnemolog.schemas.blobs import references_in  # noqa: PLC0415

    row = found.row
    told = {**asdict(row), "position": str(row.position)}
    if found.weight is not None:
        told["weight"] = found.weight.weight
    if as_json:
        say_json(told)
        return
    named = ("id", "kind", "importance", "weight", "occurred_at", "agent", "task", "event_id")
    say_pairs({name: told[name] for name in named if told.get(name) is not None})
    say(found.text)
    formed_by = memory.lineage().event(row.event_id, identity=row.identity)
    if formed_by is not None and references_in(formed_by.envelope.dataref):
        note(f"this may be the head of a longer text: `mnemolog get {row.event_id}` gives it whole")
