"""Commits of a SQLite file that stand in its write-ahead log and can no longer be read.

SQLite takes a write-ahead log up to its last whole commit, and drops in silence what comes
behind a damaged frame; the next checkpoint then deletes it. A crash leaves at most one commit
torn, of which nobody had an acknowledgement, since each one is on the disk before the next
begins. So two commits or more behind the readable part are damage, and nothing may write until
somebody has looked.

The format: https://sqlite.org/fileformat2.html#the_write_ahead_log and
https://sqlite.org/walformat.html#the_wal_index_file_format.
"""

import struct
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

TORN_COMMITS_MAX: Final = 1  # what a power cut may leave
_HEADER: Final = struct.Struct(">IIII8sII")  # magic, format, page size, count, salts, checksum
_FRAME: Final = struct.Struct(">II8sII")  # page, pages after a commit or 0, salts, checksum
_MAGIC: Final = 0x377F0682  # the last bit says in which order of bytes checksums are reckoned
_INDEX_BYTES: Final = 48
_WORD: Final = 1 << 32


class _Frame(NamedTuple):
    number: int  # from 1
    is_commit: bool
    salts: bytes


def commits_lost(path: Path) -> int:
    """Return how many commits stand behind the readable part of the write-ahead log of *path*.

    Somebody has to have the file open, and hold its write lock: SQLite notes in the file beside
    it how far it could read, and writers move that on.
    """
    wal, index = _beside(path, "-wal"), _beside(path, "-shm")
    if not index.exists() or not wal.exists() or wal.stat().st_size <= _HEADER.size:
        return 0
    with wal.open("rb") as file:
        header = file.read(_HEADER.size)
    is_sound, page_bytes, salts = _header(header, path)
    frames = [frame for frame in _frames(wal, page_bytes) if frame.is_commit]
    if not is_sound:  # SQLite reads none of it
        return max(Counter(frame.salts for frame in frames).values(), default=0)
    readable = _frames_readable(index)
    return sum(1 for frame in frames if frame.salts == salts and frame.number > readable)


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _header(header: bytes, path: Path) -> tuple[bool, int, bytes]:
    """Return whether the *header* is sound, the size of pages, and the salts of its frames."""
    magic, _, page_bytes, _, salts, first, second = _HEADER.unpack(header)
    order = ">" if magic & 1 else "<"
    is_ours = magic & ~1 == _MAGIC
    if is_ours and _checksum(header[:24], order) == (first, second):
        return True, page_bytes, salts
    with path.open("rb") as file:
        (page,) = struct.unpack_from(">H", file.read(18), 16)
    return False, 65_536 if page == 1 else page, b""


def _checksum(data: bytes, order: str) -> tuple[int, int]:
    first = second = 0
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for even, odd in zip(words[::2], words[1::2], strict=True):
        first = (first + even + second) % _WORD
        second = (second + odd + first) % _WORD
    return first, second


def _frames(wal: Path, page_bytes: int) -> Iterator[_Frame]:
    step = _FRAME.size + page_bytes
    with wal.open("rb") as file:
        for number in range((wal.stat().st_size - _HEADER.size) // step):
            file.seek(_HEADER.size + number * step)
            _, pages, salts, *_ = _FRAME.unpack(file.read(_FRAME.size))
            yield _Frame(number + 1, pages > 0, salts)


def _frames_readable(index: Path) -> int:
    """Return the number of the last frame that SQLite reads, as it has noted it."""
    with index.open("rb") as file:
        header = file.read(_INDEX_BYTES)
    return int(struct.unpack_from("=I", header, 16)[0]) if len(header) == _INDEX_BYTES else 0
