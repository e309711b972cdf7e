"""Commands that keep the projections true: rebuild, verify, doctor."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mnemolog.cli.options import AsJSON, Data, EmbedderName, LogURL, NoWait, Tenant, opened
from mnemolog.cli.output import bars, note, say, say_json
from mnemolog.cli.writing import settle

if TYPE_CHECKING:
    from mnemolog.doctor import Finding
    from mnemolog.maintaining import Rebuilt
    from mnemolog.settings import Settings

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
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what can be mended, and say what was done.")
    ] = False,
    bundle: Annotated[
        Path | None,
        typer.Option(
            "--bundle", metavar="FILE", help="Write what a maintainer needs, without any content."
        ),
    ] = None,
    as_json: AsJSON = False,
) -> None:
    """Check this installation and a tenant's data; exit with 1 where something is bad.

    Without --fix nothing is changed. What is mended never takes anything from the log.
    """
    from mnemolog.doctor import admitted, examined  # noqa: PLC0415 - see `opened`
    from mnemolog.doctor.bundle import check_free, write_bundle  # noqa: PLC0415
    from mnemolog.settings import Settings  # noqa: PLC0415

    settings = Settings.unchecked(data=data, log=log, tenant=tenant)
    if bundle is not None:
        check_free(bundle)  # before the work
    failed = _mended(settings) if fix else 0
    with admitted(settings) as patient:
        findings = examined(patient)
        _say_findings(findings, as_json=as_json)
        if bundle is not None:
            write_bundle(bundle, patient, findings)
            note(f"written: {bundle}")
    if failed or any(finding.state == "bad" for finding in findings):
        raise typer.Exit(1)


def _mended(settings: "Settings") -> int:
    """Mend what can be mended; return how many repairs failed."""
    from mnemolog.doctor import admitted, examined, mend  # noqa: PLC0415 - see `opened`

    with admitted(settings) as patient:
        return mend(examined(patient), tell=note)


def _say_findings(findings: "list[Finding]", *, as_json: bool) -> None:
    if as_json:
        say_json(
            [
                {
                    "check": one.check,
                    "state": one.state,
                    "detail": one.detail,
                    "advice": one.advice,
                    "repair": None if one.repair is None else one.repair.will,
                }
                for one in findings
            ]
        )
        return
    for one in findings:
        say(f"{one.state:<5} {one.check}: {one.detail}")
        if one.advice and one.state != "ok":
            say(f"      {one.advice}")
