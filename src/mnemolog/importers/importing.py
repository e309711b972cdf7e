"""Files in, events on the log: the one way by which every format is imported.

Whatever a file holds ends as events or as Problems; what is bad harms nothing beside it. Nothing
is kept in proportion to the history. An import that was broken off is simply run again: ids are
derived from the content, so that what is there already has no second effect.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path
from typing import Final

from mnemolog.importers.base import HEAD_BYTES, Found, Importer, Options, Problem, Source
from mnemolog.importers.dry_running import dry
from mnemolog.importers.formats import named, names, recognised
from mnemolog.importers.opening import OPEN_ERRORS, READ_ERRORS, Opened, opened
from mnemolog.importers.other_encodings import other_encoding
from mnemolog.importers.report import HowFar, ImportReport
from mnemolog.importers.sending import Sender
from mnemolog.importers.sources import Named, files_of
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.streams.blobs import BlobStore
from mnemolog.streams.log import APPEND_RECORDS_MAX, Knowing, Log
from mnemolog.streams.publishing import Publisher

BATCH_EVENTS: Final = 500
OPTIONS: Final = Options()
EMPTY: Final = "an empty file"  # which nobody may have written to yet: named, and no failure


def import_paths(
    paths: Iterable[str | Path],
    *,
    publisher: Publisher,
    log: Log,
    blobs: BlobStore | None = None,
    format: str | None = None,  # noqa: A002 - the word of `--format`
    options: Options = OPTIONS,
    on_progress: Callable[[HowFar], None] | None = None,
    dry_run: bool = False,
    batch: int = BATCH_EVENTS,
) -> ImportReport:
    """Import files, folders, patterns and "-" (standard input), in order, and report.

    Each file is read by the importer of *format*, or by the one that recognises it; in a folder
    only files that one of these recognises are read. *log* is the publisher's: its ends tell what
    was added. *blobs* takes what stands beside an exported log. *on_progress* is told after each
    batch and each file. A dry run appends nothing: it asks *log* what is there, if that can tell.

    Raises InvalidSetting for an unknown format or a batch out of bounds, LogUnavailable and
    StoreUnavailable as appending does: run it again. Nothing that a file holds raises.
    """
    if not 1 <= batch <= APPEND_RECORDS_MAX:
        raise InvalidSetting("batch", batch, f"a batch has 1 to {APPEND_RECORDS_MAX} events")
    importer = None if format is None else named(format)
    report = ImportReport(dry_run=dry_run, tells_repeats=isinstance(log, Knowing))
    if dry_run:
        publisher, log, blobs = dry(publisher, log)
    sender = Sender(publisher, log, report=report, batch_events=batch, blobs=blobs)
    importing = _Importing(importer, options, sender, report, on_progress or _tell_nobody)
    with closing(log) if dry_run else nullcontext():
        importing.run(paths)
    return report


def _tell_nobody(_: HowFar) -> None:
    """Tell nobody how far it is."""


class _Importing:
    """One import on its way through its files."""

    def __init__(
        self,
        importer: Importer | None,
        options: Options,
        sender: Sender,
        report: ImportReport,
        tell: Callable[[HowFar], None],
    ) -> None:
        self._importer = importer
        self._options = options
        self._sender = sender
        self._report = report
        self._tell = tell

    def run(self, paths: Iterable[str | Path]) -> None:
        """Import all files of *paths*."""
        for path in paths:
            self._take_all(os.fspath(path))
        self._sender.flush()

    def _take_all(self, path: str) -> None:
        """Import the files of one path; name a folder or pattern of which none could be read."""
        report = self._report
        before, with_content = (report.files, report.unread), 0
        for file in files_of(path):
            if isinstance(file, Problem):
                report.add_unread(file)
                continue
            with_content += self._take(file)
            if file.outright:
                return
        if with_content and (report.files, report.unread) == before:
            report.add_unread(Problem(path, "files", f"none of them is of {self._wanted()}"))
        elif not with_content and report.unread == before[1]:
            report.add_problem(Problem(path, "files", "none that has any content"))

    def _wanted(self) -> str:
        return "a known format" if self._importer is None else f"the format {self._importer.name}"

    def _take(self, named: Named) -> bool:
        """Import one file; say whether it has any content."""
        with ExitStack() as stack:
            try:
                file = stack.enter_context(opened(named.path))
            except OPEN_ERRORS as error:
                self._cannot_read(named, Problem(named.path, "file", _why(error)))
                return True
            head = file.source.head
            importer = None if other_encoding(head) is not None else self._importer_for(named, file)
            if importer is not None:
                self._read(importer, file, outright=named.outright)
            elif named.outright:
                self._cannot_read(named, file.source.problem("file", _unknown(file.source)))
            else:
                self._report.add_skipped(named.path)
            return bool(head)

    def _cannot_read(self, named: Named, problem: Problem) -> None:
        if named.outright and problem.reason != EMPTY:
            self._report.add_unread(problem)
        else:
            self._report.add_problem(problem)

    def _importer_for(self, named: Named, file: Opened) -> Importer | None:
        name, head = file.source.name, file.source.head
        if self._importer is None:
            return recognised(name, head)
        fits = (named.outright and head) or self._importer.recognises(name, head)
        return self._importer if fits else None

    def _read(self, importer: Importer, file: Opened, *, outright: bool) -> None:
        problems, accepted = self._report.problems_total, self._sender.accepted
        self._report.files += 1
        for found in _whole(importer.read(file.source, self._options), file.source):
            if isinstance(found, Problem):
                self._report.add_problem(found)
            elif self._sender.send(file.source.name, found):
                self._tell_how_far(file)
        if outright and accepted == self._sender.accepted:
            self._gave_nothing(
                importer, file.source, troubled=problems < self._report.problems_total
            )
        self._tell_how_far(file)

    def _gave_nothing(self, importer: Importer, source: Source, *, troubled: bool) -> None:
        """Count a file that was named and gave nothing, unless nothing is all that it tells.

        What was wrong with it was named; what it looks like instead is added.
        """
        fits = importer.recognises(source.name, source.head)
        likely = None if fits else recognised(source.name, source.head)
        if fits and not troubled:
            return
        self._report.files -= 1
        if troubled and likely is None:
            self._report.unread += 1
            return
        hint = "" if likely is None else f"; it looks like {likely.name}"
        reason = f"nothing in it could be read as {importer.name}{hint}"
        self._report.add_unread(source.problem("file", reason))

    def _tell_how_far(self, file: Opened) -> None:
        report = self._report
        self._tell(
            HowFar(
                file.source.name,
                file.raw.bytes_read,
                file.bytes_total,
                report.events,
                report.problems_total,
                added=report.added,
                files=report.files,
            )
        )


def _whole(found: Iterator[Found], source: Source) -> Iterator[Found]:
    """Yield what is *found*, and a Problem where the file can't be read to its end."""
    try:
        yield from found
    except READ_ERRORS as error:
        yield source.problem("end of what can be read", _why(error))


def _unknown(source: Source) -> str:
    if (encoding := other_encoding(source.head)) is not None:
        return f"a text in {encoding}; formats are read in UTF-8: save or convert it as that"
    if not source.head:
        return EMPTY
    try:
        source.stream.read(HEAD_BYTES)
    except READ_ERRORS as error:
        return f"{_why(error)}; what can be read of it is of no known format"
    return f"no known format; `--format` names one of {', '.join(names())}"


def _why(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
