"""The members of a .eval file, a zip archive, one at a time.

What an archive says of itself is not believed: its directory, each member and all of them together
are bounded by what is read. A member that is damaged, too large or packed in a way that is not
known is a Problem, and the others come.
"""

import io
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, Final

from mnemolog.importers.base import Problem, Source, Unreadable
from mnemolog.importers.documents import ITEM_BYTES_MAX
from mnemolog.importers.inspect_log_values import parse_log
from mnemolog.schemas.errors import shown

MAGIC: Final = b"PK\x03\x04"
ARCHIVE_BYTES_MAX: Final = 4_294_967_296  # packed; on disk while it is read
DIRECTORY_BYTES_MAX: Final = 33_554_432  # about 300,000 members
UNPACKED_BYTES_MAX: Final = 17_179_869_184  # of all members that are read
_IN_MEMORY_BYTES: Final = 33_554_432
_CHUNK_BYTES: Final = 1_048_576
_END: Final = b"PK\x05\x06"  # of the directory; behind it at most a comment
_END_BYTES: Final = 22
_END_AT_MOST: Final = _END_BYTES + 65_535
_DIRECTORY_BYTES_AT: Final = slice(12, 16)
_ERRORS: Final = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, RuntimeError, OSError)


class Archive:
    """An open archive."""

    def __init__(self, archive: zipfile.ZipFile, source: Source) -> None:
        self._archive = archive
        self._source = source
        self._left = UNPACKED_BYTES_MAX
        self.names = list(dict.fromkeys(archive.namelist()))

    def value(self, name: str) -> Any:
        """Return the JSON that the member *name* holds. Raises Unreadable."""
        return parse_log(self._content(name))

    def _content(self, name: str) -> bytes:
        most = min(ITEM_BYTES_MAX, self._left)
        try:
            with self._archive.open(name) as member:
                content = member.read(most + 1)
        except NotImplementedError as error:
            limit = (
                "packed in a way that this Python does not know; write the log again with deflate"
            )
            raise Unreadable(f"{error}: {limit}") from error
        except _ERRORS as error:
            raise Unreadable(f"damaged: {error}") from error
        self._left -= len(content)
        if len(content) > most:
            raise Unreadable(f"unpacked more than {most} bytes")
        return content

    def problem(self, name: str, reason: str) -> Problem:
        """Return a Problem of a member."""
        return self._source.problem(shown(name), reason)


@contextmanager
def opened_archive(source: Source) -> Iterator[Archive]:
    """Open the archive that *source* is. Raises Unreadable, and what reading the stream raises."""
    with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES) as file:
        _copy(source.stream, file)
        _check_directory(file)
        try:
            archive = zipfile.ZipFile(file)
        except _ERRORS as error:
            raise Unreadable(f"no archive that can be read: {error}") from error
        with archive:
            yield Archive(archive, source)


def _copy(stream: IO[bytes], file: IO[bytes]) -> None:
    """Copy *stream*: an archive is read from its end, and a stream has none."""
    size = 0
    while chunk := stream.read(_CHUNK_BYTES):
        size += len(chunk)
        if size > ARCHIVE_BYTES_MAX:
            raise Unreadable(f"an archive of more than {ARCHIVE_BYTES_MAX} bytes")
        file.write(chunk)


def _check_directory(file: IO[bytes]) -> None:
    """Raise Unreadable for a directory that is not there, or too long to be held."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - _END_AT_MOST))
    tail = file.read()
    at = tail.rfind(_END)
    if at < 0:
        raise Unreadable("an archive without its directory: the file ends early")
    length = int.from_bytes(tail[at:][_DIRECTORY_BYTES_AT], "little")
    if length > DIRECTORY_BYTES_MAX:
        raise Unreadable(f"a directory of {length} bytes; at most {DIRECTORY_BYTES_MAX} are read")
    file.seek(0)
