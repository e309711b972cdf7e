"""The items of a JSON array as bytes, without ever holding the array.

Only the structure is looked at: strings, brackets and commas. An item that is no JSON is cut out
like any other, and whoever parses it finds out.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from typing import Final

_CHUNK_BYTES: Final = 262_144
_OUTSIDE = re.compile(rb'["\[\]{},]')
_INSIDE = re.compile(rb'["\\]')


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file that should be one JSON value; `trouble` says what was wrong around it."""

    place: str
    offset: int
    content: bytes
    trouble: str | None = None


def array_items(stream: BufferedReader, *, bytes_max: int) -> Iterator[Piece]:
    """Yield the items of the array that *stream* begins with, numbered from 1.

    An item of more than *bytes_max* is passed over without being held. An array that does not
    end, and bytes behind its end, are told as trouble.
    """
    cutter = _Cutter(bytes_max)
    while chunk := stream.read1(_CHUNK_BYTES):
        yield from cutter.cut(chunk)
    yield from cutter.finish()


class _Cutter:
    """Follows the structure through chunks and collects the item that it is in."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._depth = 0
        self._in_string = False
        self._ended = False
        self._skip = 0  # bytes of the next chunk that a backslash has escaped
        self._number = 1
        self._held: list[bytes] = []
        self._size = 0  # of the item so far, held or not
        self._offset = 0  # of the item's first byte

    def cut(self, chunk: bytes) -> Iterator[Piece]:
        """Yield the items that end in *chunk*."""
        index, taken = self._skip, 0
        while found := (_INSIDE if self._in_string else _OUTSIDE).search(chunk, index):
            index = found.end() + (found[0] == b"\\")
            if self._is_boundary(found[0]):
                self._keep(chunk[taken : found.start()])
                taken = found.end()
                yield from self._taken()
        self._skip = max(0, index - len(chunk))
        self._keep(chunk[taken:])

    def finish(self) -> Iterator[Piece]:
        """Yield what is left when there are no more bytes."""
        rest = b"".join(self._held)
        if self._ended and (rest.strip() or self._size > len(rest)):
            trouble = f"{self._size} bytes behind the array's end"
            yield Piece("end", self._offset, b"", trouble)
        elif not self._ended and (self._depth or rest.strip()):
            trouble = "the file ends within the array"
            yield Piece(f"item {self._number}", self._offset, rest, trouble)

    def _is_boundary(self, mark: bytes) -> bool:
        """Take *mark* into the state; say whether an item begins or ends at it."""
        if self._ended:
            return False
        if mark == b'"':
            self._in_string = not self._in_string
        elif mark in b"[{":
            self._depth += 1
            return self._depth == 1
        elif mark in b"]}":
            self._depth -= 1
            self._ended = self._depth <= 0
            return self._ended
        return mark == b"," and self._depth == 1

    def _keep(self, content: bytes) -> None:
        self._size += len(content)
        if self._size > self._bytes_max:
            self._held.clear()
        else:
            self._held.append(content)

    def _taken(self) -> Iterator[Piece]:
        """Yield the item that ended just now, if there is one, and begin the next."""
        content, place = b"".join(self._held), f"item {self._number}"
        if self._size > self._bytes_max:
            trouble = f"{self._size} bytes; an item has at most {self._bytes_max}"
            yield Piece(place, self._offset, b"", trouble)
            self._number += 1
        elif content.strip():
            yield Piece(place, self._offset, content)
            self._number += 1
        self._offset += self._size + 1
        self._size = 0
        self._held.clear()
