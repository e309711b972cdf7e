"""Commands that answer: recall, why, resume, checkpoints, timeline, sql."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mnemolog.cli.options import (
    Agent,
    AsJSON,
    Data,
    EmbedderName,
    LogURL,
    Project,
    Session,
    Task,
    Tenant,
    User,
    opened,
)
from mnemolog.cli.output import note, say, say_json, say_table

if TYPE_CHECKING:
    from mnemolog.projections.checkpoints.resume import Resumed

ROWS_SHOWN: Final = 50
RECALL_SECONDS: Final = 60.0  # a person waits for the whole answer of a process that is cold


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("recall")(recall)
    app.command("why")(why)
    app.command("resume")(resume)
    app.command("checkpoints")(checkpoints)
    app.command("timeline")(timeline)
    app.command("sql")(sql)


def recall(
    question: Annotated[str, typer.Argument(help="What the agent asks, in any words.")],
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    embedder: EmbedderName = None,
    agent: Agent = None,
    user: User = None,
    project: Project = None,
    session: Session = None,
    task: Task = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="Only memories of this kind; repeatable.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="Only with this tag; repeatable.")] = None,
    importance_min: Annotated[
        float, typer.Option(help="Only at least this important, 0 to 1.")
    ] = 0.0,
    hits: Annotated[int, typer.Option(help="At most this many memories.")] = 10,
    tokens: Annotated[int | None, typer.Option(help="At most this many tokens of text.")] = None,
    focus: Annotated[
        str, typer.Option(help="What to look for first; docs/cli.md lists them.")
    ] = "balanced",
    since: Annotated[str | None, typer.Option(help="Only what occurred then or later.")] = None,
    until: Annotated[str | None, typer.Option(help="Only what occurred before.")] = None,
    as_of: Annotated[
        str | None, typer.Option(help="What was true at that time of the world.")
    ] = None,
    outdated: Annotated[
        bool, typer.Option("--outdated", help="With what is outdated, marked.")
    ] = False,
    explain: Annotated[bool, typer.Option("--explain", help="With each signal's score.")] = False,
    record: Annotated[
        bool | None,
        typer.Option(
            "--record/--no-record",
            help="Append the recall as an event.",
            show_default="as MNEMOLOG_RECORD_RECALLS says: yes",
        ),
    ] = None,
    as_json: AsJSON = False,
) -> None:
    """Return the memories that bear on a question, best first, each with its source."""
    mine: Any = {name: value for name, value in (("user", user), ("project", project)) if value}
    with opened(data, log, tenant, reads=True, embedder=embedder, record_recalls=record) as memory:
        answer = memory.recall(
            question,
            after=memory.end(),
            hits_max=hits,
            tokens_max=tokens,
            focus=focus,
            timeout_seconds=RECALL_SECONDS,
            as_of=as_of,
            include_outdated=outdated,
            explain=explain,
            agent=agent,
            **mine,
            session=session,
            task=task,
            kinds=kind or (),
            tags=tag or (),
            importance_min=importance_min,
            occurred_from=since,
            occurred_until=until,
        )
    if as_json:
        say_json(answer.to_dict())
        return
    for missing in answer.missing:
        note(f"not in this answer: {missing}")
    if not answer.memories:
        note("nothing is remembered that bears on it")
    for rank, found in enumerate(answer.memories, 1):
        say(f"{rank:>2}. {found.score:.3f}  {found.text}")
        say(f"    {_source(found)}")
        if explain:
            say(f"    {', '.join(f'{name} {value:.3f}' for name, value in found.scores.items())}")


def _source(found: Any) -> str:
    place = found.provenance
    outdated = " | outdated" if found.is_outdated else ""
    return (
        f"{found.kind} | {found.occurred_at:%Y-%m-%d %H:%M} | {found.agent or 'no agent'}"
        f" | {place.topic} {place.partition}@{place.offset} | event {place.event_id}"
        f" | {found.id}{outdated}"
    )


def why(
    ref: Annotated[str, typer.Argument(metavar="ID", help="A memory's or an event's id.")],
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    as_json: AsJSON = False,
) -> None:
    """Show what a memory or a decision came from, down to events in the log."""
    with opened(data, log, tenant, reads=True) as memory:
        memory.wait_for(memory.end())
        node = memory.why(ref)
    if as_json:
        say_json(node.to_dict())
    else:
        say(str(node))


def resume(
    task: Annotated[str, typer.Argument(help="The task to take up again.")],
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    as_json: AsJSON = False,
) -> None:
    """Show where a task stands: its newest sound checkpoint and what came after it."""
    with opened(data, log, tenant, reads=True) as memory:
        memory.wait_for(memory.end())
        resumed = memory.resume(task)
    if as_json:
        say_json(_resumed(resumed))
    else:
        say(resumed.text)


def _resumed(resumed: "Resumed") -> dict[str, Any]:
    found = resumed.checkpoint
    return {
        "task": resumed.task,
        "checkpoint": None if found is None else found.checkpoint.model_dump(mode="json"),
        "seconds_ago": resumed.ago.total_seconds(),
        "events_after": [asdict(event) for event in resumed.events],
        "events_left_out": resumed.events_left_out,
        "pending": [action.action for action in resumed.pending],
        "orphaned": [action.action for action in resumed.orphaned],
        "damaged": [str(error) for error in resumed.damaged],
        "text": resumed.text,
    }


def checkpoints(
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    agent: Agent = None,
    task: Task = None,
    rows: Annotated[int, typer.Option(help="At most this many, the newest first.")] = ROWS_SHOWN,
    as_json: AsJSON = False,
) -> None:
    """List saved checkpoints, the newest first."""
    with opened(data, log, tenant, reads=True) as memory:
        memory.wait_for(memory.end())
        saved = memory.checkpoints(agent=agent, task=task, rows_max=rows)
    columns = ("checkpoint", "agent", "task", "parent", "occurred_at", "position", "text")
    table = [
        (c.id, c.agent, c.task, c.parent, c.event.occurred_at, c.event.position, c.event.text)
        for c in saved
    ]
    _say_rows(columns, table, as_json=as_json)


def timeline(
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    agent: Agent = None,
    project: Project = None,
    session: Session = None,
    task: Task = None,
    rows: Annotated[int, typer.Option(help="At most this many, the last ones.")] = ROWS_SHOWN,
    as_json: AsJSON = False,
) -> None:
    """Show the last events of an agent, a task, a session or a project, oldest first."""
    with opened(data, log, tenant, reads=True) as memory:
        memory.wait_for(memory.end())
        events = memory.timeline(
            agent=agent, project=project, session=session, task=task, rows_max=rows
        )
    columns = ("occurred_at", "agent", "type", "text", "event", "position")
    table = [(e.occurred_at, e.agent, e.type, e.text, e.event_id, e.position) for e in events]
    _say_rows(columns, table, as_json=as_json)


def sql(
    statement: Annotated[str, typer.Argument(help="One read-only SQL statement (DuckDB).")],
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="Ask what is published, without waiting for the newest.")
    ] = False,
    as_json: AsJSON = False,
) -> None:
    """Ask the published tables; docs/analytics.md explains them.

    Example: mnemolog sql 'SELECT agent, count(*) FROM events GROUP BY ALL'
    """
    with opened(data, log, tenant, reads=True, projects=not stale) as memory:
        table = memory.sql(statement, fresh=not stale)
    _say_rows(table.columns, table.rows, as_json=as_json)
    if table.truncated:
        note(f"only the first {len(table.rows)} rows are shown")


def _say_rows(columns: Any, rows: Any, *, as_json: bool) -> None:
    if as_json:
        say_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        say_table(columns, rows)
