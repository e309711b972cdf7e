"""What the demo prints: steps, lines, tables and proofs; with rich in a terminal, else plain."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table

from mnemolog.schemas.text import cut, one_line

CELL_CHARACTERS_MAX = 70


class Screen:
    """Prints to standard output, and keeps count of what was proved."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, markup=False, soft_wrap=True)
        self._is_terminal = sys.stdout.isatty()
        self._steps = 0
        self.proved: list[str] = []
        self.failed: list[str] = []

    def title(self, text: str) -> None:
        """Print the title of a part."""
        if self._is_terminal:
            self._console.rule(text, style="bold")
        else:
            self._console.print(f"\n== {text} ==")

    def step(self, text: str) -> None:
        """Print what happens next, numbered."""
        self._steps += 1
        self._console.print(f"\n{self._steps}. {text}", style="bold")

    def say(self, text: str, *, style: str = "") -> None:
        """Print *text* below its step, every line indented."""
        for line in text.splitlines():
            self._console.print(f"   {line}", style=style)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Print rows, each cell on one line."""
        cells = [[_cell(value) for value in row] for row in rows]
        if not self._is_terminal:
            for row in [list(columns), *cells]:
                self.say(" | ".join(row))
            return
        table = Table(*columns)
        for row in cells:
            table.add_row(*row)
        self._console.print(table, soft_wrap=False)

    @contextmanager
    def busy(self, text: str) -> Iterator[None]:
        """Show that work goes on for the block."""
        if self._is_terminal:
            with self._console.status(text):
                yield
        else:
            self.say(text)
            yield

    def prove(self, what: str, *, holds: bool) -> None:
        """Print whether *what* holds, and remember it."""
        (self.proved if holds else self.failed).append(what)
        mark, style = ("ok", "green") if holds else ("FAILED", "bold red")
        self.say(f"[{mark}] {what}", style=style)


def _cell(value: Any) -> str:
    return cut(one_line("" if value is None else str(value)), characters_max=CELL_CHARACTERS_MAX)
