"""How far an import is: one bar for a person, a line now and then where one asked for it."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from mnemolog.cli.output import BAR_AFTER_SECONDS, bars, note

if TYPE_CHECKING:
    from mnemolog.cli.output import Bars
    from mnemolog.importers.report import HowFar

LINE_SECONDS: Final = 5.0  # between two lines where there is no terminal
NAME_CHARS_MAX: Final = 40


class Pace:
    """What is known of an import on its way, and who is told of it."""

    def __init__(self, *, always: bool = False, every_seconds: float = LINE_SECONDS) -> None:
        """With *always* a line is printed every so often where standard error is no terminal."""
        self.far: HowFar | None = None
        self.is_settling = False  # all is on the log
        self._always = always
        self._every_seconds = every_seconds
        self._began = self._told = time.monotonic()
        self._bars: Bars | None = None

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Show how far it is during the block."""
        with bars() as self._bars:
            yield

    def tell(self, far: "HowFar") -> None:
        """Take note of how far it is, and show it if that is due."""
        self.far = far
        now = time.monotonic()
        if sys.stderr.isatty():
            if self._bars is not None and now - self._began > BAR_AFTER_SECONDS:
                done, total = far.bytes_read, far.bytes_total
                self._bars.show("import", done=done, total=total, described=_named(far))
        elif self._always and now - self._told >= self._every_seconds:
            self._told = now
            note(_line(far))


def _named(far: "HowFar") -> str:
    return f"{far.events} events, file {far.files}, {Path(far.file).name[-NAME_CHARS_MAX:]}"


def _line(far: "HowFar") -> str:
    share = f" ({100 * far.bytes_read // far.bytes_total} %)" if far.bytes_total else ""
    problems = f", {far.problems} problems" if far.problems else ""
    return f"{far.events} events of {far.files} file(s){problems}; at {far.file}{share}"
