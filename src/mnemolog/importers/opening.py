"""Open files as `Source`s: unpacked, without a byte order mark, with their head seen.

What a damaged file still gives is given before its error is raised.
"""

import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from mnemolog.importers.base import HEAD_BYTES, Source
from mnemolog.importers.sources import STDIN

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

READ_ERRORS: Final = (OSError, EOFError, zlib.error)
OPEN_ERRORS: Final = (*READ_ERRORS, ValueError)  # the last one is for a path with a NUL

_STDIN_NAME: Final = "standard input"
_PACKED_BYTES: Final = 16_384  # unpacked at a time: what damage hides at most
_BOM: Final = b"\xef\xbb\xbf"
_GZIP: Final = b"\x1f\x8b"
_GZIP_WBITS: Final = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class Opened:
    """An open file; `raw` tells how many bytes of it, packed as they are, were read."""

    source: Source
    raw: "Counted"
    bytes_total: int | None  # None where nobody knows it


@contextmanager
def opened(path: str) -> Iterator[Opened]:
    """Open *path*, or standard input. Raises one of `OPEN_ERRORS`."""
    if path == STDIN:
        if sys.stdin is None:  # as of a program that was started without one
            raise OSError("standard input is closed")
        yield _opened(_STDIN_NAME, cast("io.BufferedIOBase", sys.stdin.buffer), bytes_total=None)
        return
    with Path(path).open("rb") as file:
        size = Path(path).stat().st_size
        yield _opened(path, file, bytes_total=size or None)


def _opened(name: str, file: io.BufferedIOBase, *, bytes_total: int | None) -> Opened:
    raw = Counted(file)
    magic, stream = _headed(io.BufferedReader(raw), len(_GZIP))
    if magic == _GZIP:
        stream = io.BufferedReader(Gunzip(stream))
    head, stream = _headed(stream, len(_BOM) + HEAD_BYTES)
    if not head:
        stream.peek(1)  # what can't be read at all is not empty: it raises
    start = len(_BOM) if head.startswith(_BOM) else 0
    stream.read(start)
    source = Source(name, head[start : start + HEAD_BYTES], stream, start)
    return Opened(source, raw, bytes_total)


def _headed(stream: io.BufferedReader, size: int) -> tuple[bytes, io.BufferedReader]:
    """Return what *stream* begins with, and a stream that begins with it again.

    An error in it is not raised here: it comes again when the stream is read.
    """
    head = b""
    with suppress(*READ_ERRORS):
        while len(head) < size and (more := stream.read1(size - len(head))):
            head += more
    return head, io.BufferedReader(_Joined(head, stream))


class Counted(io.RawIOBase):
    """Counts what is read of a file, which it leaves open."""

    def __init__(self, file: io.BufferedIOBase) -> None:
        super().__init__()
        self._file = file
        self.bytes_read = 0

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read what one read of the file gives."""
        view = memoryview(buffer).cast("B")
        content = self._file.read1(len(view))
        view[: len(content)] = content
        self.bytes_read += len(content)
        return len(content)


class _Joined(io.RawIOBase):
    """A stream behind a head that was taken from it."""

    def __init__(self, head: bytes, stream: io.BufferedReader) -> None:
        super().__init__()
        self._head = head
        self._stream = stream

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Read from the head while there is some, then from the stream."""
        view = memoryview(buffer).cast("B")
        content = self._head[: len(view)] or self._stream.read1(len(view))
        self._head = self._head[len(view) :]
        view[: len(content)] = content
        return len(content)


class Gunzip(io.RawIOBase):
    """Unpacks gzip members, and gives all that can be unpacked before it raises.

    Raises EOFError where the data ends early, zlib.error where they are damaged, at each further
    read again. (`gzip.GzipFile` raises instead of giving what came before.)
    """

    def __init__(self, packed: io.BufferedReader) -> None:
        super().__init__()
        self._packed = packed
        self._inflate = zlib.decompressobj(_GZIP_WBITS)
        self._waiting = b""
        self._damage: zlib.error | None = None

    def readable(self) -> bool:
        """Say yes."""
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        """Unpack at most as much as fits."""
        view = memoryview(buffer).cast("B")
        content = b""
        while not content:
            self._waiting = self._waiting or self._packed.read1(_PACKED_BYTES)
            at_end = not self._waiting
            if at_end and self._inflate.eof:
                return 0
            content = self._unpacked(len(view))
            if at_end and not content:
                raise EOFError("the gzip data ends early")
        view[: len(content)] = content
        return len(content)

    def _unpacked(self, size: int) -> bytes:
        if self._damage:
            raise self._damage
        if self._inflate.eof:  # zero bytes may pad the end of a member
            self._waiting = self._waiting.lstrip(b"\0")
            self._inflate = zlib.decompressobj(_GZIP_WBITS) if self._waiting else self._inflate
            return b"" if not self._waiting else self._unpacked(size)
        try:
            content = self._inflate.decompress(self._waiting, size)
        except zlib.error as error:
            self._damage = error
            raise
        self._waiting = self._inflate.unconsumed_tail or self._inflate.unused_data
        return content
