"""The command that runs until it is told to stop: worker."""

from typing import Annotated

import typer

from mnemolog.cli.options import Data, EmbedderName, HealthListen, LogURL, WorkerGroup


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("worker")(worker)


def worker(
    *,
    data: Data = None,
    log: LogURL = None,
    tenants: Annotated[
        list[str] | None,
        typer.Option("--tenant", help="A tenant to serve; several times for several; all."),
    ] = None,
    embedder: EmbedderName = None,
    replica: Annotated[
        bool,
        typer.Option("--replica", help="Keep copies of what other workers own, too."),
    ] = False,
    group: WorkerGroup = None,
    health_listen: HealthListen = None,
) -> None:
    """Keep the projections of tenants whose logs are on Kafka, until SIGTERM or Ctrl-C.

    Workers of one group share the tenants; what one of them owned, others own 15 seconds after
    it was killed.
    """
    from mnemolog.logging import set_up_logging  # noqa: PLC0415 - structlog costs 50 ms
    from mnemolog.working import Wanted, work  # noqa: PLC0415 - drivers are heavy

    set_up_logging(level="info")
    wanted = Wanted(
        log=log or "",
        data=data,
        embedder=embedder,
        tenants=tuple(tenants or ()),
        replica=replica,
        health_listen=health_listen,
    )
    work(wanted, group=group)
