"""The command that brings histories in: import. It shows how far it is and says what it did."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

import typer

from mnemolog.cli.import_progress import Pace
from mnemolog.cli.options import (
    Agent,
    AsJSON,
    Data,
    EmbedderName,
    LogURL,
    NoWait,
    Project,
    Tenant,
    User,
    opened,
)
from mnemolog.cli.output import note, say, say_json
from mnemolog.schemas.errors import NotFound

if TYPE_CHECKING:
    from mnemolog.importers.report import ImportReport
    from mnemolog.memory import Memory

INTERRUPTED: Final = 130
SKIPPED_SHOWN_MAX: Final = 20


def add_to(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command("import")(import_)


def import_(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...", help="Files, folders or globs in quotes; - reads standard input."
        ),
    ],
    *,
    data: Data = None,
    log: LogURL = None,
    tenant: Tenant = None,
    embedder: EmbedderName = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format", help="One of docs/importing.md, as openai-chat; recognised if not given."
        ),
    ] = None,
    agent: Agent = None,
    user: User = None,
    project: Project = None,
    start: Annotated[
        str | None, typer.Option(help="Time of the first message where a format has no times.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Say what would be added and what is there; write nothing at all."
        ),
    ] = False,
    progress: Annotated[
        bool,
        typer.Option("--progress", help="Say how far it is where there is no terminal, too."),
    ] = False,
    no_wait: NoWait = False,
    as_json: AsJSON = False,
) -> None:
    """Bring an agent's history in; what was imported before adds nothing.

    A bad line or item is counted, named and skipped, and the rest goes in. A path that gives
    nothing to read is named, and the exit code is 2, after the others have come in: one that is
    not there, a file of no known format or of another than --format says, a folder or glob with
    no file that fits. Interrupted, it says how much went in; run again, it adds the rest.

    Example: mnemolog import ./chats --agent ops-1 --dry-run

    Example: mnemolog import "logs/**/*.jsonl" old.json.gz --agent ops-1

    Example: zcat dump.gz | mnemolog import - --format openai-chat
    """
    pace = Pace(always=progress)
    how = {
        "format": format_name,
        "dry_run": dry_run,
        "agent": agent,
        "user": user,
        "project": project,
        "start": start or None,
    }
    projects = not (no_wait or dry_run)
    open_it = partial(opened, embedder=embedder, projects=projects)
    with (
        _told_of_interruption(pace, dry_run=dry_run),
        (_opened_to_try if dry_run else open_it)(data, log, tenant) as memory,
    ):
        report = _imported(memory, paths, pace, how)
        _say(report, as_json=as_json)  # what may keep it from being recalled takes nothing back
        if projects:
            pace.is_settling = True
            _settle(memory, report)
    if report.unread:
        raise typer.Exit(2)


def _opened_to_try(data: str | None, log: str | None, tenant: str | None) -> "Memory":
    """Return a Memory that writes nothing: of the log that is there, or of an empty one."""
    try:
        return opened(data, log, tenant, read_only=True)
    except NotFound:
        return opened(":memory:", "", tenant)


def _imported(
    memory: "Memory", paths: list[str], pace: Pace, how: dict[str, Any]
) -> "ImportReport":
    with pace.shown():
        return memory.import_histories(*paths, on_progress=pace.tell, **how)


def _settle(memory: "Memory", report: "ImportReport") -> None:
    from mnemolog.cli.writing import settle  # noqa: PLC0415 - which adds this command
    from mnemolog.ledgers import counts_in  # noqa: PLC0415 - drivers are heavy
    from mnemolog.projections.kinds import CHECKPOINTS  # noqa: PLC0415

    settle(memory, report.token)
    if parked := counts_in(memory.engine, CHECKPOINTS).get("parked"):
        note(f"parked, so that nothing tells of them yet: {parked} (`mnemolog parked list`)")


@contextmanager
def _told_of_interruption(pace: Pace, *, dry_run: bool) -> Iterator[None]:
    """Let SIGTERM end the block as Ctrl-C does; then say what went in, and exit."""

    def stop(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    is_main = threading.current_thread() is threading.main_thread()
    former = signal.signal(signal.SIGTERM, stop) if is_main else None
    try:
        yield
    except KeyboardInterrupt:
        note(f"interrupted: {_what_went_in(pace, dry_run=dry_run)}")
        raise typer.Exit(INTERRUPTED) from None
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, former)


def _what_went_in(pace: Pace, *, dry_run: bool) -> str:
    far = pace.far
    if dry_run:
        return "nothing was to be added, and nothing was"
    if pace.is_settling:
        return "all went in; the next command goes on with what recall and sql read"
    if far is None:
        return "nothing went in yet; run it again"
    return (
        f"{far.added} events went in at least, {far.events - far.added} were there, from "
        f"{far.files} file(s), the last one {far.file}; run it again, and it adds the rest alone"
    )


def _say(report: "ImportReport", *, as_json: bool) -> None:
    if as_json:
        say_json(as_dict(report))
    else:
        say_report(report)


def say_report(report: "ImportReport") -> None:
    """Print what an import did, and name what it passed over."""
    told, repeats = "added", f"{report.already_there} were there"
    if report.dry_run:
        told, repeats = "would be added", f"{report.already_there} are there or come twice"
    say(f"{report.added} events {told}, {repeats}, {report.files} file(s)")
    if not report.tells_repeats:
        note(
            "this log can't say what it holds: what is there already counts as new, without effect"
        )
    if report.by_type:
        say(f"  {'new':>8} {'there':>8}")
    for event_type, events in sorted(report.by_type.items()):
        added = report.added_by_type[event_type]
        say(f"  {added:>8} {events - added:>8} {event_type}")
    if report.foreign or report.blobs:
        say(f"and {report.foreign} records that are no events, {report.blobs} blobs")
    _note_skipped(report)
    for problem in report.problems:
        note(f"skipped: {problem}")
    if report.problems_total > len(report.problems):
        note(f"and {report.problems_total - len(report.problems)} more that were skipped")


def _note_skipped(report: "ImportReport") -> None:
    shown = report.skipped[:SKIPPED_SHOWN_MAX]
    for path in shown:
        note(f"passed over, of no known format: {path}")
    if report.skipped_total > len(shown):
        note(f"and {report.skipped_total - len(shown)} more files that were passed over")


def as_dict(report: "ImportReport") -> dict[str, Any]:
    """Return what an import did as JSON values."""
    return {
        "files": report.files,
        "unread": report.unread,
        "added": report.added,
        "already_there": report.already_there,
        "tells_repeats": report.tells_repeats,
        "dry_run": report.dry_run,
        "by_type": dict(report.by_type),
        "added_by_type": dict(report.added_by_type),
        "foreign": report.foreign,
        "blobs": report.blobs,
        "skipped_files": report.skipped,
        "skipped_total": report.skipped_total,
        "problems": [str(problem) for problem in report.problems],
        "problems_total": report.problems_total,
        "token": str(report.token),
    }
