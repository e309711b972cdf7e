"""The commands for what could not be applied: parked list, show, retry, skip."""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mnemolog.cli.options import Agent, AsJSON, Data, LogURL, Tenant, opened
from mnemolog.cli.output import note, say, say_json, say_pairs, say_table

if TYPE_CHECKING:
    from datetime import datetime

    from mnemolog.memory import Memory
    from mnemolog.parked_records import ParkedEvent, ParkedWhole
    from mnemolog.schemas.records import LogRecord

STILL_PARKED: Final = 5
SKIP_SECONDS: Final = 60.0  # to wait until the keeper has heeded it
SHOWN_CHARS_MAX: Final = 4_000  # of a record's bytes, without --json

Projections = Annotated[
    list[str] | None,
    typer.Option("--projection", help="memories, analytics, checkpoints, weights; all."),
]
Place = Annotated[str, typer.Argument(metavar="POSITION", help="Where it stands, such as 0@17.")]
After = Annotated[str | None, typer.Option("--after", help="Where an earlier page ended.")]
Rows = Annotated[int, typer.Option("--rows", min=1, max=1000, help="At most so many.")]

_parked = typer.Typer(help="What could not be applied: list, show, retry, skip.")


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.add_typer(_parked, name="parked", no_args_is_help=True)


def looking(data: str | None, log: str | None, tenant: str | None) -> "Memory":
    """Return a memory that reads what is on disk and changes nothing."""
    return opened(data, log, tenant, projects=False, record_recalls=False)


@_parked.command("list")
def parked_list(
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    projections: Projections = None,
    agent: Agent = None,
    behind: Annotated[
        bool, typer.Option("--behind", help="Those that only wait behind another, too.")
    ] = False,
    after: After = None,
    rows: Rows = 50,
    as_json: AsJSON = False,
) -> None:
    """List the events that could not be applied, with how many wait behind each."""
    with looking(data, log, tenant) as memory:
        page = memory.parked(
            projections=projections or (),
            agent=agent,
            behind=behind,
            after=after,
            events_max=rows,
        )
    if as_json:
        say_json({"parked": [one.to_dict() for one in page.events], "next": page.next})
        return
    say_table(
        ("position", "projection", "type", "agent", "since", "behind it", "error"),
        [
            (
                one.position,
                one.projection,
                one.event_type,
                one.key,
                moment(one.recorded_at),
                one.waiting,
                _error(one),
            )
            for one in page.events
        ],
    )
    if page.next is not None:
        note(f"more: --after {page.next}")


def moment(at: "datetime | None") -> str:
    """Return a time as lists print it."""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def _error(event: "ParkedEvent", *, characters_max: int = 120) -> str:
    from mnemolog.schemas.text import cut, one_line  # noqa: PLC0415 - regex costs 30 ms

    return cut(one_line(event.reason), characters_max=characters_max)


@_parked.command("show")
def parked_show(
    position: Place,
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    projections: Projections = None,
    as_json: AsJSON = False,
) -> None:
    """Show a parked event: its bytes, headers and error, what waits behind it, what to do."""
    with looking(data, log, tenant) as memory:
        found = memory.parked_event(position, projections=projections or ())
    if as_json:
        say_json([_told(one) for one in found])
        return
    for number, one in enumerate(found):
        if number:
            say("")
        _say(one)


def _told(one: "ParkedWhole") -> dict[str, Any]:
    return {
        **one.event.to_dict(),
        "followers": [str(position) for position in one.followers],
        "advice": one.advice,
        **({} if one.record is None else bytes_of(one.record)),
    }


def bytes_of(record: "LogRecord") -> dict[str, Any]:
    """Return what a record holds as JSON values."""
    return {
        "record_key": _text(record.key),
        "headers": [[name, _text(value)] for name, value in record.headers],
        "value": _text(record.value),
    }


def _text(content: bytes | None) -> str | None:
    """Return *content* as a text in which each byte that is no UTF-8 stands escaped."""
    return None if content is None else content.decode("utf-8", "backslashreplace")


def _say(one: "ParkedWhole") -> None:
    event = one.event
    followers = ", ".join(map(str, one.followers)) or "nothing"
    more = event.waiting - len(one.followers)
    say_pairs(
        {
            "position": event.position,
            "projection": event.projection,
            "type": event.event_type,
            "identity": event.identity,
            "agent": event.key,
            "recorded": moment(event.recorded_at),
            "error": event.reason,
            "behind it": f"{followers} and {more} more" if more > 0 else followers,
            "to do": one.advice,
        }
    )
    if one.record is None:
        say("its bytes are gone: neither the log nor the ledger has them")
    else:
        say_record(one.record)


def say_record(record: "LogRecord") -> None:
    """Print what a record holds."""
    from mnemolog.schemas.text import cut  # noqa: PLC0415 - regex costs 30 ms

    say_pairs({"record key": _text(record.key), **_headers(record)})
    say(cut(_text(record.value) or "(no value)", characters_max=SHOWN_CHARS_MAX))


def _headers(record: "LogRecord") -> Mapping[str, Any]:
    return {f"header {name}": _text(value) for name, value in record.headers}


@_parked.command("retry")
def parked_retry(
    position: Annotated[
        str | None, typer.Argument(metavar="[POSITION]", help="One, with its agent's others; all.")
    ] = None,
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    projections: Projections = None,
    agent: Agent = None,
    as_json: AsJSON = False,
) -> None:
    """Apply parked events again, in order; exit with 5 where some still can't be.

    Opening a folder that nobody keeps tries all that is parked there.
    """
    from mnemolog.parked import became, heads  # noqa: PLC0415 - see `opened`
    from mnemolog.parked_records import Which  # noqa: PLC0415
    from mnemolog.schemas.errors import NotFound  # noqa: PLC0415

    with looking(data, log, tenant) as memory:
        which = Which.of(position, projections=projections or (), agent=agent)
        before = heads(memory.engine, which)
    with opened(data, log, tenant) as memory:
        if before:
            with suppress(NotFound):  # opening has tried, and all went on
                memory.retry(position, projections=projections or (), agent=agent)
        done = became(before, heads(memory.engine, Which(projections or ())))
    if as_json:
        say_json([one.to_dict() for one in done])
    elif not done:
        say("nothing is parked")
    else:
        for one in done:
            say(str(one))
    if any(one.left for one in done):
        raise typer.Exit(STILL_PARKED)


@_parked.command("skip")
def parked_skip(
    position: Place,
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    projection: Annotated[
        str | None, typer.Option("--projection", help="Only by this one; by any.")
    ] = None,
    reason: Annotated[
        str | None, typer.Option("--reason", help="Why, for who reads later.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    as_json: AsJSON = False,
) -> None:
    """Append that a parked event is never to be applied, so that what waits behind it goes on.

    It holds for every rebuild, and can't be taken back. The event stays on the log.
    """
    from mnemolog.parked import became, heads, let_go  # noqa: PLC0415 - see `opened`
    from mnemolog.parked_records import Which  # noqa: PLC0415

    names = () if projection is None else (projection,)
    which = Which.of(position, projections=names)
    with looking(data, log, tenant) as memory:
        before = heads(memory.engine, which)
        found = memory.parked_event(position, projections=names)
    if not yes:
        for one in found:
            note(_question(one))
        typer.confirm("Never apply it?", abort=True, err=True)
    with opened(data, log, tenant) as memory:
        appended = memory.skip(position, projection=projection, reason=reason)
        let_go(memory.engine, which, timeout_seconds=SKIP_SECONDS)
        done = became(before, heads(memory.engine, Which(names)))
    if as_json:
        skipped = {"id": appended.id, "token": str(appended.token)}
        say_json({**skipped, "became": [one.to_dict() for one in done]})
        return
    say(f"skipped, by {appended.id}")
    for became_of in done:
        say(str(became_of))


def _question(one: "ParkedWhole") -> str:
    event = one.event
    what = f"{event.event_type} of {event.key} at {event.position}, parked by {event.projection}"
    return f"{what}: {_error(event)}; {event.waiting} wait behind it"
