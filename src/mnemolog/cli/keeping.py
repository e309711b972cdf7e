"""Commands that keep the projections true: rebuild, verify, doctor."""

from typing import TYPE_CHECKING, Annotated

import typer

from mnemolog.cli.options import AsJSON, Data, EmbedderName, LogURL, NoWait, Tenant, opened
from mnemolog.cli.output import bars, note, say, say_json
from mnemolog.cli.writing import settle

if TYPE_CHECKING:
    from mnemolog.maintaining import Rebuilt

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PROJECTION]...", help="memories, analytics, checkpoints, weights; all."
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command("rebuild")(rebuild)
    app.command("verify")(verify)
    app.command("doctor")(doctor)


def rebuild(
    projections: Names = None,
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    embedder: EmbedderName = None,
    no_wait: NoWait = False,
    as_json: AsJSON = False,
) -> None:
    """Build projections anew from the log, compare them with what serves, and swap.

    What serves goes on serving meanwhile. With --embedder memories get that model's vectors.
    """
    names = projections or []
    with opened(data, log, tenant, embedder=embedder, rebuilding=names) as memory, bars() as shown:
        built = memory.rebuild(*names, tell=shown.tell)
        if not no_wait:
            settle(memory, memory.end())
    if as_json:
        say_json([_told(one) for one in built])
        return
    for one in built:
        say(f"{one.projection}: generation {one.generation}, {one.rows} rows, digest {one.digest}")
        if one.comparison is not None and not one.comparison.is_equal:
            note(f"  what served before differed: {one.comparison}")


def _told(built: "Rebuilt") -> dict[str, object]:
    compared = built.comparison
    return {
        "projection": built.projection,
        "generation": built.generation,
        "rows": built.rows,
        "digest": built.digest,
        "equal_to_former": None if compared is None else compared.is_equal,
    }


def verify(
    projections: Names = None,
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    as_json: AsJSON = False,
) -> None:
    """Compare what serves with a fresh fold of the log; exit with 1 where they differ."""
    with opened(data, log, tenant) as memory, bars() as shown:
        compared = memory.verify(*(projections or []), tell=shown.tell)
    if as_json:
        say_json(
            [
                {
                    "projection": c.projection,
                    "equal": c.is_equal,
                    "rows": c.rows,
                    "digests": c.digests,
                    "differences": [str(difference) for difference in c.differences],
                }
                for c in compared
            ]
        )
    else:
        for one in compared:
            say(str(one))
    if not all(one.is_equal for one in compared):
        raise typer.Exit(1)


def doctor(
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    as_json: AsJSON = False,
) -> None:
    """Check this installation and a tenant's data; exit with 1 where something needs a look."""
    from mnemolog.doctor import examine  # noqa: PLC0415 - see `opened`

    with opened(data, log, tenant, projects=False, record_recalls=False) as memory:
        findings = examine(memory.engine)
    if as_json:
        say_json(
            [
                {"check": f.check, "state": f.state, "detail": f.detail, "advice": f.advice}
                for f in findings
            ]
        )
    else:
        for finding in findings:
            say(f"{finding.state:<5} {finding.check}: {finding.detail}")
            if finding.advice:
                say(f"      {finding.advice}")
    if any(finding.state == "bad" for finding in findings):
        raise typer.Exit(1)
