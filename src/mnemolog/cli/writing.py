"""Commands that append: append, demo, and import, which has a module of its own."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mnemolog.cli import importing
from mnemolog.cli.options import (
    Agent,
    AsJSON,
    Data,
    EmbedderName,
    LogURL,
    NoWait,
    Project,
    Session,
    Task,
    Tenant,
    User,
    opened,
)
from mnemolog.cli.output import bars, note, say, say_json
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting, NoRoom, TimedOut

if TYPE_CHECKING:
    from mnemolog.memory import Memory
    from mnemolog.schemas.positions import Token

SETTLE_SECONDS_MAX: Final = 24 * 3600.0  # vectors of a long history take their time
TROUBLE_SECONDS_MAX: Final = 10.0  # how long the same store may be away meanwhile


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("append")(append)
    importing.add_to(app)
    app.command("demo")(demo)


def append(
    event_type: Annotated[
        str, typer.Argument(metavar="TYPE", help="An event type, such as observation.recorded.")
    ],
    fields: Annotated[
        str,
        typer.Argument(metavar="JSON", help="The event's fields as a JSON object; - reads stdin."),
    ] = "-",
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
    occurred_at: Annotated[
        str | None, typer.Option(help="When it happened (RFC 3339); now if not given.")
    ] = None,
    caused_by: Annotated[
        str | None, typer.Option(help="The id of the event that led to it.")
    ] = None,
    event_id: Annotated[
        str | None, typer.Option("--id", help="The event's id, for retries; fresh if not given.")
    ] = None,
    no_wait: NoWait = False,
    as_json: AsJSON = False,
) -> None:
    """Append one event, and wait until it can be recalled and queried.

    Example: mnemolog append observation.recorded '{"text": "the pool is exhausted"}' --agent ops-1
    """
    from mnemolog.schemas.registry import built_in  # noqa: PLC0415 - pydantic costs 0.1 s

    model = built_in().get(event_type.removeprefix("mnemolog."))
    if model is None:
        raise InvalidSetting("TYPE", event_type, "no such event type; docs/events.md lists them")
    scope: Any = {
        "agent": agent,
        "user": user,
        "project": project,
        "session": session,
        "task": task,
        "occurred_at": occurred_at,
        "caused_by": caused_by,
        "id": event_id,
    }
    with opened(data, log, tenant, embedder=embedder, projects=not no_wait) as memory:
        appended = memory.append(model, _object(fields), **scope)
        if as_json:
            position = appended.position
            told = {"id": appended.id, "partition": position.partition, "offset": position.offset}
            say_json({**told, "token": str(appended.token)})
        else:
            say(f"{appended.id} at {appended.position}")
        if not no_wait:  # said before: what keeps it from being recalled takes nothing back
            settle(memory, appended.token)


def demo(
    *,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep the demo's data there.")
    ] = None,
    embedder: EmbedderName = None,
) -> None:
    """Show what mnemolog does: two agents' histories, offline, in under a minute."""
    from mnemolog.demo.show import show  # noqa: PLC0415 - loads everything

    show(keep=keep, embedder=embedder)


def settle(memory: "Memory", token: "Token") -> None:
    """Wait until what *token* covers can be recalled and queried, vectors included.

    Raises TimedOut, with what is in the way, where a store stays away: the log has the events.
    """
    from mnemolog.ledgers import vectors_outstanding  # noqa: PLC0415 - see `opened`
    from mnemolog.projections.kinds import ANALYTICS, NAMES  # noqa: PLC0415

    with bars() as shown:
        patience = Patience(memory)

        def tell(seconds: float) -> None:
            patience.check(seconds)
            if seconds > 1 and sys.stderr.isatty():
                shown.show(
                    "vectors outstanding", done=vectors_outstanding(memory.engine), total=None
                )

        wait = partial(
            memory.wait_for, token, timeout_seconds=SETTLE_SECONDS_MAX, vectors=True, tell=tell
        )
        wait(projections=[name for name in NAMES if name != ANALYTICS])
        try:
            wait(projections=[ANALYTICS])
        except NoRoom as error:
            note(f"not published: {error}\n  {error.hint}")


class Patience:
    """Ends a wait for stores of which one stays away."""

    def __init__(self, memory: "Memory") -> None:
        self._memory = memory
        self._since: float | None = None

    def check(self, seconds: float) -> None:
        """Raise TimedOut if there has been trouble for long, *seconds* after the wait began."""
        dispatcher = self._memory.engine.dispatcher
        trouble = None if dispatcher is None else dispatcher.trouble
        if trouble is None:
            self._since = None
            return
        self._since = seconds if self._since is None else min(self._since, seconds)
        if seconds - self._since >= TROUBLE_SECONDS_MAX:
            raise TimedOut("folding what the log has", waited_seconds=seconds, because=str(trouble))


def _object(text: str) -> dict[str, Any]:
    """Return the JSON object in *text*, or on standard input for "-"."""
    from mnemolog.schemas.values import parse_json  # noqa: PLC0415 - pydantic costs 0.1 s

    given = sys.stdin.buffer.read() if text == "-" else text.encode("utf-8", "surrogateescape")
    value = parse_json(given, field="JSON")
    if not isinstance(value, dict):
        raise InvalidEvent("JSON", json.dumps(value), "the fields of an event are a JSON object")
    return value
