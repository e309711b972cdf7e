"""Commands that show what is there: tail, status, config."""

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mnemolog.cli.options import Agent, AsJSON, Data, LogURL, Tenant, WorkerGroup, opened
from mnemolog.cli.output import say, say_json, say_pairs, say_table
from mnemolog.cli.watching import SECONDS, follow, lag, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mnemolog.engine import Engine
    from mnemolog.health import Health
    from mnemolog.outside_look import OutsideLook
    from mnemolog.schemas.decoded import Decoded
    from mnemolog.schemas.records import LogRecord
    from mnemolog.status import IndexStanding, Status

POLL_SECONDS: Final = 0.5
PAGE_RECORDS: Final = 500
TAIL_RECORDS_MAX: Final = 100_000


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("tail")(tail)
    app.command("status")(status)
    app.command("config")(config)


def tail(
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    agent: Agent = None,
    events: Annotated[
        int,
        typer.Option("-n", min=0, max=TAIL_RECORDS_MAX, help="Begin this many before the end."),
    ] = 20,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on with what comes.")] = False,
    as_json: AsJSON = False,
) -> None:
    """Print the log's last records as the log took them, one a line; foreign ones too."""
    with opened(data, log, tenant, reads=True, projects=False, record_recalls=False) as memory:
        for item in _last(memory.engine, events, follow=follow):
            if agent is None or _agent(item) == agent:
                say_line(item, as_json=as_json)


def _last(engine: "Engine", records: int, *, follow: bool) -> "Iterator[Decoded]":
    """Yield the last *records* of all partitions, and what comes after them if it is followed."""
    ends = engine.log.ends()
    reader = engine.log.reader({p: max(0, end - records) for p, end in ends.items()})
    try:
        found: list[LogRecord] = []
        while any(reader.positions().get(p, 0) < end for p, end in ends.items()):
            found += reader.poll(records_max=PAGE_RECORDS, wait_seconds=POLL_SECONDS)
        found.sort(key=lambda record: (record.recorded_at, record.position))
        for record in found[max(0, len(found) - records) :]:
            yield engine.codec.decode(record)
        while follow:
            for record in reader.poll(records_max=PAGE_RECORDS, wait_seconds=POLL_SECONDS):
                yield engine.codec.decode(record)
    finally:
        reader.close()


def say_line(item: "Decoded", *, as_json: bool) -> None:
    """Print one record as a line."""
    from mnemolog.schemas.decoded import Guest, Ours  # noqa: PLC0415 - pydantic costs 0.1 s

    if isinstance(item, Ours | Guest):
        canonical = item.canonical.decode()
        envelope = item.envelope
        line = (
            f"{item.record.position}  {envelope.occurred_at:%Y-%m-%d %H:%M:%S}  {item.event_type}"
        )
        say(canonical if as_json else f"{line}  {envelope.agent or '-'}  {_data_of(canonical)}")
    elif as_json:
        say_json({"position": str(item.record.position), "unusable": item.reason})
    else:
        say(f"{item.record.position}  not applicable: {item.reason}")


def _data_of(canonical: str, *, characters_max: int = 200) -> str:
    from mnemolog.schemas.text import cut, one_line  # noqa: PLC0415
    from mnemolog.schemas.values import json_bytes, parse_json  # noqa: PLC0415

    data = parse_json(canonical.encode()).get("data")
    return cut(one_line(json_bytes(data).decode()), characters_max=characters_max)


def _agent(item: "Decoded") -> str | None:
    envelope = getattr(item, "envelope", None)
    return None if envelope is None else envelope.agent


def status(
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    group: WorkerGroup = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Show it again and again, until Ctrl-C.")
    ] = False,
    every: Annotated[
        float, typer.Option(min=0.2, max=3600, help="Seconds between two looks of --watch.")
    ] = SECONDS,
    as_json: AsJSON = False,
) -> None:
    """Show the log, who keeps the projections, how far each of them is, and whether that is well.

    Whether they move needs two looks: --watch tells that, too.
    """
    from threading import Event  # noqa: PLC0415 - see `opened`

    from mnemolog.outside_look import OutsideLook  # noqa: PLC0415
    from mnemolog.status import status as now  # noqa: PLC0415

    with opened(data, log, tenant, reads=True, projects=False, record_recalls=False) as memory:
        looks = OutsideLook(memory.engine)
        if watch:
            follow(
                lambda: now(memory.engine, group=group),
                looks,
                pause=lambda: Event().wait(every),
                show=_say_status,
                as_json=as_json,
            )
            return
        health, found = looks.look(), now(memory.engine, group=group)
    if as_json:
        say_json({**found.to_dict(), "health": health.to_dict()})
    else:
        _say_status(found, health, looks)


def _say_status(found: "Status", health: "Health", looks: "OutsideLook") -> None:
    records, free = sum(found.ends.values()), found.disk_free_bytes / 2**30
    say_pairs(
        {
            "tenant": found.tenant,
            "folder": found.folder,
            "log": f"{found.topic}, {found.partitions} partition(s), {records} records",
            "kept by": found.keeper,
            **({"owned by": found.owner} if found.owner else {}),
            "vectors outstanding": found.vectors_outstanding,
            **({"index": _index(found.index)} if found.index else {}),
            "disk": f"{found.disk_used_percent} % used, {free:.1f} GiB free",
            **told(health),
            **{f"WARNING {n}": text for n, text in enumerate(found.warnings, start=1)},
        }
    )
    _say_standings(found, looks)


def _say_standings(found: "Status", looks: "OutsideLook") -> None:
    counts = ("behind", "seconds", "parked", "foreign", "repeats")
    columns = ("projection", "generation", *counts, "MiB")
    say_table(
        columns,
        [
            (
                p.name,
                p.generation,
                p.behind,
                lag(looks.lag_seconds(p.name)),
                p.parked,
                p.foreign,
                p.repeats,
                f"{p.bytes / 2**20:.1f}",
            )
            for p in found.projections
        ],
    )
    rows = [(p.name, p.behind, p.waiting, p.held, p.parked) for p in found.processors if p.ran]
    if rows:
        say_table(("processor", "behind", "waiting", "held", "parked"), rows)


def _index(index: "IndexStanding") -> str:
    size = f"{index.bytes / 2**20:.1f} MiB, {index.live_bytes / 2**20:.1f} MiB of it in rows"
    if not index.failures:
        return size
    return f"{size}; DEGRADED, maintenance failed {index.failures} times: {index.error}"


def config(
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    as_json: AsJSON = False,
) -> None:
    """Show each setting, its value, and where the value came from; exit with 2 for a wrong one."""
    from mnemolog.settings import KNOWN, Settings  # noqa: PLC0415 - see `opened`

    # typer has read the environment already: what equals it came from there.
    given: dict[str, Any] = {"data": data, "log": log, "tenant": tenant}
    settings = Settings.unchecked(
        **{k: v for k, v in given.items() if not _is_from_environment(k, v)}
    )
    rows = [(s.name, s.shown, s.origin, KNOWN[s.name][2]) for s in settings.found.values()]
    if as_json:
        say_json(
            [dict(zip(("setting", "value", "origin", "meaning"), row, strict=True)) for row in rows]
        )
    else:
        say_table(("setting", "value", "origin", "meaning"), rows)
    settings.check()


def _is_from_environment(name: str, value: str | None) -> bool:
    import os  # noqa: PLC0415

    from mnemolog.settings import KNOWN  # noqa: PLC0415

    return value is not None and os.environ.get(KNOWN[name][0]) == value
