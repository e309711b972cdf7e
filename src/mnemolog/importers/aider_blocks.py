"""The blocks of an Aider chat history: starts, prompts, answers, and what the program printed.

The program writes a prompt's lines behind "#### " and what it prints behind "> ", with two spaces
at the end, and an answer as it is, between blank lines. Of what it prints in several lines, only
the first has the mark and only the last the spaces. So a heading or a quotation in an answer,
which has no such spaces, is told from a prompt or a print; and an answer from the rest of a print,
of which a line in the middle had such spaces, by the empty line before it.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

from mnemolog.importers.base import Problem, Source
from mnemolog.importers.documents import ITEM_BYTES_MAX

BLOCK_CHARS_MAX: Final = 8_388_608  # a longer block is told in pieces
START: Final = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*")
_END: Final = "  "
Kind = Literal["start", "prompt", "print", "answer"]


@dataclass(slots=True)
class Block:
    """A block and the line that it begins with.

    `texts` are the start's time, the prompt, the answer, or the prints, one for each.
    """

    kind: Kind
    line: int
    texts: list[str] = field(default_factory=list)

    @property
    def place(self) -> str:
        """Where it stands."""
        return f"line {self.line}"


def blocks(source: Source) -> Iterator[Block | Problem]:
    """Yield the blocks of *source* in order, and a Problem for a line that is too long."""
    reader, number = _Reader(), 0
    while line := source.stream.readline(ITEM_BYTES_MAX + 1):
        number += 1
        if len(line) > ITEM_BYTES_MAX:
            size = len(line)
            while line and not line.endswith(b"\n"):
                line = source.stream.readline(ITEM_BYTES_MAX)
                size += len(line)
            reason = f"{size} bytes; a line has at most {ITEM_BYTES_MAX}"
            yield source.problem(f"line {number}", reason)
            continue
        text = line.removesuffix(b"\n").removesuffix(b"\r")
        yield from reader.take(number, text.decode("utf-8", "surrogateescape"))
    yield from reader.finish()


class _Reader:
    """Puts lines together."""

    def __init__(self) -> None:
        self._block: Block | None = None
        self._chars = 0
        self._after_blank = True
        self._is_open = False  # a print of several lines has not come to its end
        self._printed: list[str] = []  # the lines of the print that is being read

    def take(self, number: int, line: str) -> Iterator[Block]:
        """Take a line; yield the block that ended before it."""
        kind = self._kind_of(line)
        if kind is None:
            self._blank(line)
        elif self._block is None or self._begins(kind):
            yield from self.finish()
            self._block = Block(kind, number)
            self._add(kind, line)
        else:
            self._add(kind, line)
        self._after_blank = line == ""
        if self._chars > BLOCK_CHARS_MAX and self._block is not None:
            yield from self._whole(self._block)
            self._block, self._chars = Block(self._block.kind, number + 1), 0

    def finish(self) -> Iterator[Block]:
        """Yield the last block."""
        if self._block is not None:
            yield from self._whole(self._block)
        self._block, self._chars, self._is_open = None, 0, False

    def _kind_of(self, line: str) -> Kind | None:
        """Say what *line* is of; None is a blank line."""
        if self._after_blank and START.fullmatch(line):
            return "start"
        if line.startswith("####") and line[4:5] in ("", " ") and line.endswith(_END):
            return "prompt"
        if self._is_open:
            return "print"
        if not line.strip():
            return None
        is_print = line == ">" or line.startswith("> ")
        match self._block.kind if self._block else None:
            case "answer":
                is_print = is_print and line.endswith(_END)
            case "print":
                is_print = is_print or not self._after_blank
        return "print" if is_print else "answer"

    def _begins(self, kind: Kind) -> bool:
        """Say whether a line of *kind* begins a new block."""
        assert self._block is not None, "it was asked before"
        if kind == "start" or kind != self._block.kind:
            return True
        return kind == "prompt" and self._after_blank

    def _blank(self, line: str) -> None:
        if self._block is not None and self._block.kind == "answer":
            self._block.texts.append(line)

    def _add(self, kind: Kind, line: str) -> None:
        assert self._block is not None, "it was begun before"
        self._chars += len(line)
        if kind == "print":
            self._print(self._block, line)
        elif kind == "prompt":
            self._block.texts.append(line[5:].removesuffix(_END))
        else:
            self._block.texts.append(line)

    def _print(self, block: Block, line: str) -> None:
        """Add a line to what is printed; a blank one is not the last, whatever it ends with."""
        is_last = line.endswith(_END) and bool(line.strip())
        said = line.removesuffix(_END) if is_last else line
        is_marked = line == ">" or line.startswith("> ")
        if is_marked and (is_last or not self._is_open):
            self._take_print(block)
            said = said[2:]
        self._printed.append(said)
        self._is_open = not is_last

    def _take_print(self, block: Block) -> None:
        if self._printed:
            block.texts.append("\n".join(self._printed))
        self._printed = []

    def _whole(self, block: Block) -> Iterator[Block]:
        """Yield *block* with its lines put together, unless it says nothing."""
        self._take_print(block)
        if block.kind in ("prompt", "answer"):
            block.texts = ["\n".join(block.texts).strip("\n")]
        if block.kind == "prompt" or any(block.texts):
            yield block
