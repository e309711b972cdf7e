"""What commands print: answers to standard output, everything else to standard error.

What a stream can't encode is printed escaped, and a terminal is given no control characters of a
text's: they would move its cursor, or worse.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TextIO

from mnemolog.schemas.refusals import refused

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from mnemolog.replay.rebuilding import Stage

UNWRITTEN: Final = 4  # the exit code where the disk refused what was to be printed
STANDARD_MAX: Final = 2  # the numbers of the standard streams end here
BAR_AFTER_SECONDS: Final = 1.0  # quicker work needs no bar
_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tabs and line feeds


def say(text: str) -> None:
    """Print a line of an answer."""
    try:
        sys.stdout.write(_printable(text, sys.stdout) + "\n")
    except BrokenPipeError:
        raise
    except OSError as error:
        raise refused("standard output", error) from error


def note(text: str) -> None:
    """Print a line that is no answer, if anybody reads those."""
    with suppress(BrokenPipeError):
        sys.stderr.write(_printable(text, sys.stderr) + "\n")


def open_closed_streams() -> None:
    """Let a standard stream that is closed lead nowhere.

    Else the next file that is opened, perhaps a store, got its number, and what is printed.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= STANDARD_MAX:
        pass
    os.close(number)
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115 - until the end
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115


def flushed(code: int | str | None) -> int | str | None:
    """Write out what is buffered at a command's end, and return its *code*.

    A reader that went away changes nothing; a disk that refused makes a failure of a success.
    """
    for stream, name in ((sys.__stdout__, "standard output"), (sys.__stderr__, "standard error")):
        if stream is None:
            continue
        try:
            stream.flush()
        except OSError as error:
            # What is buffered yet would be tried again, and told, when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if not isinstance(error, BrokenPipeError) and not code:
                note(f"mnemolog: {name}: {error.strerror}")
                code = UNWRITTEN
    return code


def _printable(text: str, stream: TextIO) -> str:
    encoding = stream.encoding or "utf-8"
    shown = _CONTROLS.sub(_escaped, text) if stream.isatty() else text
    return shown.encode(encoding, "backslashreplace").decode(encoding)


def _escaped(found: re.Match[str]) -> str:
    return f"\\x{ord(found[0]):02x}"


def say_json(value: Any) -> None:
    """Print *value* as JSON on lines of its own; times and what else JSON lacks as texts."""
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    say(json.dumps(value, ensure_ascii=not is_unicode, indent=2, default=str))


def say_json_line(value: Any) -> None:
    """Print *value* as JSON on one line."""
    is_unicode = (sys.stdout.encoding or "utf-8").lower().startswith("utf")
    say(json.dumps(value, ensure_ascii=not is_unicode, default=str))


def say_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table that fits a terminal; without one, tab-separated lines."""
    if not sys.stdout.isatty():
        say("\t".join(columns))
        for row in rows:
            say("\t".join("" if value is None else str(value) for value in row))
        return
    from rich.console import Console  # noqa: PLC0415 - only a terminal needs it
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415 - a plain text may hold what looks like markup

    def cell(value: Any) -> Text:
        return Text("" if value is None else _printable(str(value), sys.stdout))

    table = Table()
    for name in columns:
        table.add_column(cell(name))
    for row in rows:
        table.add_row(*map(cell, row))
    Console().print(table)


def say_pairs(pairs: Mapping[str, Any]) -> None:
    """Print names with their values, aligned."""
    width = max(map(len, pairs), default=0)
    for name, value in pairs.items():
        say(f"{name:<{width}}  {value}")


class Bars:
    """Progress bars on standard error, for a person, of work that takes more than a second."""

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def tell(self, stage: "Stage") -> None:
        """Show how far *stage* is."""
        if stage.seconds < BAR_AFTER_SECONDS or not sys.stderr.isatty():
            return
        self.show(stage.name, done=stage.done, total=stage.total)

    def show(
        self, name: str, *, done: int, total: int | None, described: str | None = None
    ) -> None:
        """Show *done* of *total* under *name*, or as *described*, which may change."""
        from rich.markup import escape  # noqa: PLC0415 - only a terminal needs it

        progress = self._shown()
        words = escape(_CONTROLS.sub(_escaped, described or name).replace("\n", " "))
        if name not in self._tasks:
            self._tasks[name] = progress.add_task(words, total=total)
        progress.update(self._tasks[name], completed=done, total=total, description=words)

    def close(self) -> None:
        """Take the bars away."""
        if self._progress is not None:
            self._progress.stop()

    def _shown(self) -> "Progress":
        if self._progress is None:
            from rich.console import Console  # noqa: PLC0415 - quick work needs no bar
            from rich.progress import Progress  # noqa: PLC0415

            self._progress = Progress(console=Console(stderr=True), transient=True)
            self._progress.start()
        return self._progress


@contextmanager
def bars() -> Iterator[Bars]:
    """Give bars for the block, and take them away after it."""
    shown = Bars()
    try:
        yield shown
    finally:
        shown.close()
