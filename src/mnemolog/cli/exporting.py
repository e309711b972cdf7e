"""The command that writes a log out: export."""

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from mnemolog.cli.options import Agent, AsJSON, Data, LogURL, Tenant, opened
from mnemolog.cli.output import BAR_AFTER_SECONDS, bars, note, say

if TYPE_CHECKING:
    from mnemolog.exporting import ExportReport
    from mnemolog.memory import Memory

STDOUT: Final = "-"
INTERRUPTED: Final = 130


def add_to(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("export")(export)


def export(
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="FILE", help="A file, packed if it ends with .gz; - is stdout."
        ),
    ] = STDOUT,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    agent: Agent = None,
    recorded_from: Annotated[
        str | None, typer.Option("--from", help="Only what the log took then or later.")
    ] = None,
    recorded_until: Annotated[
        str | None, typer.Option("--until", help="Only what the log took before.")
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a file that is there.")
    ] = False,
    as_json: AsJSON = False,
) -> None:
    """Write the log as CloudEvents, one a line, from which `import` makes any other log.

    A file is written whole or not at all. Exits with 1 where a text beside the log is missing; the
    events are all there.

    Example: mnemolog export --to history.jsonl.gz

    Example: mnemolog export --agent ops-1 --from 2026-01-01 | mnemolog import - --tenant copy
    """
    wanted = {
        "agent": agent,
        "recorded_from": recorded_from,
        "recorded_until": recorded_until,
        "force": force,
    }
    with opened(data, log, tenant, read_only=True) as memory:
        try:
            report = _exported(memory, to, wanted)
            sys.stdout.buffer.flush()  # a reader that went away is heard of here
        except BrokenPipeError:
            _write_no_more()
            raise typer.Exit(0) from None
        except KeyboardInterrupt:
            left = "the events so far" if to == STDOUT else f"nothing: {to} is as it was"
            note(f"interrupted: what was written is {left}")
            raise typer.Exit(INTERRUPTED) from None
    _say_report(report, as_json=as_json, is_piped=to == STDOUT)
    if report.blobs_missing:
        raise typer.Exit(1)


def _exported(memory: "Memory", to: str, wanted: dict[str, Any]) -> "ExportReport":
    """Export, with a bar where that takes more than a second."""
    began = time.monotonic()
    with bars() as shown:

        def tell(done: int, total: int) -> None:
            if time.monotonic() - began > BAR_AFTER_SECONDS and sys.stderr.isatty():
                shown.show("records", done=done, total=total)

        return memory.export(sys.stdout.buffer if to == STDOUT else to, tell=tell, **wanted)


def _write_no_more() -> None:
    """Let what is still buffered for a reader that went away go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say_report(report: "ExportReport", *, as_json: bool, is_piped: bool) -> None:
    """Say what was written, on standard error where the events went to standard output."""
    tell = note if is_piped else say
    if as_json:
        tell(json.dumps(report.to_dict(), ensure_ascii=False, indent=2))
        return
    what = f"{report.events} events, {report.foreign} other records, {report.blobs} blobs"
    tell(what if is_piped else f"{what}: {report.target}")
    for missing in report.missing:
        note(f"missing: {missing}")
    if report.blobs_missing > len(report.missing):
        note(f"and {report.blobs_missing - len(report.missing)} more that are missing")
    if report.left_out:
        note(f"{report.left_out} marks of processors were left out: they name places of this log")
