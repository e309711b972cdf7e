"""Where an export goes: a file, which is written whole or not at all, or a stream.

A crash leaves a draft beside the file's name, which the next export to that name takes over.
"""

import fcntl
import gzip
import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, Final, Protocol, cast

from mnemolog.schemas.errors import InvalidSetting
from mnemolog.schemas.refusals import refused

GZIP_SUFFIX: Final = ".gz"
GZIP_LEVEL: Final = 6
BUFFER_BYTES: Final = 262_144

Write = Callable[[bytes], object]


class Stream(Protocol):
    """What bytes, or else texts, can be written to."""

    def write(self, content: Any, /) -> object:
        """Take *content*."""
        ...


@contextmanager
def opened_target(target: "str | os.PathLike[str] | Stream", *, force: bool) -> Iterator[Write]:
    """Give what writes to *target*.

    A path is a file, unless something else is there already (a pipe, a terminal); it is packed
    where it ends with ".gz". Raises InvalidSetting for a file that is there, unless *force*, and
    for one that can't be; StoreUnavailable where the disk refuses what is written.
    """
    if not isinstance(target, str | os.PathLike):
        yield _writing(target)
        return
    path = Path(target)
    with _translated(path):
        is_there, is_file = _kind(path)
    if is_there and not is_file:
        with path.open("wb") as stream:
            yield stream.write
    elif is_there and not force:
        raise InvalidSetting("to", str(path), "it is there already; --force writes over it")
    else:
        with _translated(path), _draft(path, force=force) as file:
            yield file.write


def _writing(stream: Stream) -> Write:
    if isinstance(stream, io.TextIOBase):
        return lambda content: stream.write(content.decode())
    return stream.write


def _kind(path: Path) -> tuple[bool, bool]:
    """Say whether something is at *path*, and whether it is a file."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False, False
    if stat.S_ISDIR(mode):
        raise InvalidSetting("to", str(path), "a folder; name a file in it")
    return True, stat.S_ISREG(mode)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, PermissionError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InvalidSetting("to", str(path), f"it can't be written: {reason}") from error
    except OSError as error:
        raise refused(str(path), error) from error


@contextmanager
def _draft(path: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Give a file that gets the name *path* once all that was written to it is on the disk.

    1. Take the draft, one export at a time; what a crash left in it goes.
    2. Write, and flush to the disk.
    3. Give it its name, unless another file has got it meanwhile.

    What fails before 3 leaves nothing; a crash leaves the draft.
    """
    draft = path.with_name(f".{path.name}.draft")
    with draft.open("ab", buffering=BUFFER_BYTES) as file:  # 1
        _take(file, draft, path)
        try:
            with _packing(file, path) as packing:  # 2
                yield packing
            file.flush()
            os.fsync(file.fileno())
            _name(draft, path, force=force)  # 3
        except BaseException:
            draft.unlink(missing_ok=True)
            raise


def _take(file: IO[bytes], draft: Path, path: Path) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise InvalidSetting("to", str(path), "another export is writing it") from error
    if not os.path.samestat(os.fstat(file.fileno()), draft.stat()):
        raise InvalidSetting("to", str(path), "another export has just written it")
    os.ftruncate(file.fileno(), 0)


@contextmanager
def _packing(file: IO[bytes], path: Path) -> Iterator[BinaryIO]:
    """Give *file* itself, or what packs into it; without a time, so that equal is equal."""
    if path.suffix != GZIP_SUFFIX:
        yield cast("BinaryIO", file)
        return
    with gzip.GzipFile("", "wb", compresslevel=GZIP_LEVEL, fileobj=file, mtime=0) as packed:
        yield cast("BinaryIO", packed)


def _name(draft: Path, path: Path, *, force: bool) -> None:
    if force or not _linked(draft, path):
        draft.replace(path)
    draft.unlink(missing_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _linked(draft: Path, path: Path) -> bool:
    """Give *draft* the name *path*, too; a rename would write over what came there meanwhile.

    Say whether this disk has links: without them that is looked for, and then hoped.
    """
    try:
        os.link(draft, path)
    except OSError as error:
        if path.exists():
            raise InvalidSetting("to", str(path), "a file came there meanwhile") from error
        return False
    return True
