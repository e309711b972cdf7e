"""Files in, events on the log: the one way by which every format is imported.

Whatever a file holds ends as events or as Problems; what is bad harms nothing beside it. Nothing
is kept in proportion to the history. An import that was broken off is simply run again: ids are
derived from the content, so that what is there already has no second effect.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, nullcontext
from pathlib import Path
from typing import Final

from mnemolog.importers.base import Found, Importer, Options, Problem, Source
from mnemolog.importers.formats import named, names, recognised
from mnemolog.importers.opening import OPEN_ERRORS, READ_ERRORS, Opened, opened
from mnemolog.importers.other_encodings import other_encoding
from mnemolog.importers.report import HowFar, ImportReport
from mnemolog.importers.sending import Sender, dry
from mnemolog.importers.sources import Named, named_files
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.streams.blobs import BlobStore
from mnemolog.streams.log import APPEND_RECORDS_MAX, Log
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
    batch and each file. A dry run appends nothing.

    Raises InvalidSetting for an unknown format or a batch out of bounds, LogUnavailable and
    StoreUnavailable as appending does: run it again. Nothing that a file holds raises.
    """
    if not 1 <= batch <= APPEND_RECORDS_MAX:
        raise InvalidSetting("batch", batch, f"a batch has 1 to {APPEND_RECORDS_MAX} events")
    importer = None if format is None else named(format)
    if dry_run:
        publisher, log, blobs = dry(publisher)
    report = ImportReport(dry_run=dry_run)
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
        for file in named_files(paths):
            if isinstance(file, Problem):
                self._report.add_unread(file)
            else:
                self._take(file)
        self._sender.flush()

    def _take(self, named: Named) -> None:
        """Import one file."""
        with ExitStack() as stack:
            try:
                file = stack.enter_context(opened(named.path))
            except OPEN_ERRORS as error:
                self._cannot_read(named, Problem(named.path, "file", _why(error)))
                return
            is_other = other_encoding(file.source.head) is not None
            importer = None if is_other else self._importer_for(named, file.source)
            if importer is not None:
                self._read(importer, file)
            elif named.outright:
                self._cannot_read(named, file.source.problem("file", _unknown(file.source)))
            else:
                self._report.add_skipped(named.path)

    def _cannot_read(self, named: Named, problem: Problem) -> None:
        if named.outright and problem.reason != EMPTY:
            self._report.add_unread(problem)
        else:
            self._report.add_problem(problem)

    def _importer_for(self, named: Named, source: Source) -> Importer | None:
        if self._importer is None:
            return recognised(source.name, source.head)
        fits = named.outright or self._importer.recognises(source.name, source.head)
        return self._importer if fits else None

    def _read(self, importer: Importer, file: Opened) -> None:
        self._report.files += 1
        for found in _whole(importer.read(file.source, self._options), file.source):
            if isinstance(found, Problem):
                self._report.add_problem(found)
            elif self._sender.send(file.source.name, found):
                self._tell_how_far(file)
        self._tell_how_far(file)

    def _tell_how_far(self, file: Opened) -> None:
        report = self._report
        read, total = file.raw.bytes_read, file.bytes_total
        name, problems = file.source.name, report.problems_total
        self._tell(HowFar(name, read, total, report.events, problems))


def _whole(found: Iterator[Found], source: Source) -> Iterator[Found]:
    """Yield what is *found*, and a Problem where the file can't be read to its end."""
    try:
        yield from found
    except READ_ERRORS as error:
        yield source.problem("end of what can be read", _why(error))


def _unknown(source: Source) -> str:
    if (encoding := other_encoding(source.head)) is not None:
        return f"a text in {encoding}; formats are read in UTF-8: save or convert it as that"
    known = ", ".join(names())
    return f"no known format; `--format` names one of {known}" if source.head else EMPTY


def _why(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error) or type(error).__name__
