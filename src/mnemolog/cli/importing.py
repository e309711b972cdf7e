"""The import command's work: run the importers, show how far they are, say what they did."""

import sys
import time
from typing import TYPE_CHECKING, Any

from mnemolog.cli.output import BAR_AFTER_SECONDS, bars, note, say
from mnemolog.importers.report import HowFar, ImportReport

if TYPE_CHECKING:
    from mnemolog.memory import Memory


def run_import(
    memory: "Memory",
    paths: list[str],
    **how: Any,
) -> ImportReport:
    """Import *paths* into *memory*'s log, with a bar a file where that takes more than a second.

    *how* is what `Memory.import_histories` takes.
    """
    began = time.monotonic()
    with bars() as shown:

        def tell(far: HowFar) -> None:
            if time.monotonic() - began > BAR_AFTER_SECONDS and sys.stderr.isatty():
                shown.show(far.file, done=far.bytes_read, total=far.bytes_total)

        return memory.import_histories(*paths, on_progress=tell, **how)


def say_report(report: ImportReport) -> None:
    """Print what an import did, and name what it passed over."""
    told, repeats = "added", f"{report.already_there} were there"
    if report.dry_run:  # which knows of no other log
        told, repeats = "would be added to an empty log", f"{report.already_there} repeat them"
    say(f"{report.added} events {told}, {repeats}, {report.files} file(s)")
    for event_type, events in sorted(report.by_type.items()):
        say(f"  {events:>7} {event_type}")
    if report.foreign or report.blobs:
        say(f"and {report.foreign} records that are no events, {report.blobs} blobs")
    if report.skipped_total:
        note(f"{report.skipped_total} file(s) of no known format were passed over")
    for problem in report.problems:
        note(f"skipped: {problem}")
    if report.problems_total > len(report.problems):
        note(f"and {report.problems_total - len(report.problems)} more that were skipped")


def as_dict(report: ImportReport) -> dict[str, Any]:
    """Return what an import did as JSON values."""
    return {
        "files": report.files,
        "unread": report.unread,
        "added": report.added,
        "already_there": report.already_there,
        "dry_run": report.dry_run,
        "by_type": dict(report.by_type),
        "foreign": report.foreign,
        "blobs": report.blobs,
        "skipped_files": report.skipped,
        "problems": [str(problem) for problem in report.problems],
        "problems_total": report.problems_total,
        "token": str(report.token),
    }
