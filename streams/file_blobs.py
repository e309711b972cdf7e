"""Blobs as files: `<folder>/ab/cdef...`, named by their SHA-256, written whole or not at all.

The folder may be shared by processes and machines: nothing in it is locked, and each step is one
that a file system does at once. What crashes leave begins with a dot and is nobody's.
"""

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from mnemolog.schemas.blobs import digest_of
from mnemolog.schemas.errors import BlobDamaged, BlobMissing, StoreUnavailable
from mnemolog.schemas.limits import BLOB_BYTES_MAX
from mnemolog.schemas.refusals import refused
from mnemolog.streams.blobs import Leftover, StoredBlob

DRAFT: Final = ".draft"
REMOVING: Final = ".removing"
_SHELF = re.compile(r"[0-9a-f]{2}")
_REST = re.compile(r"[0-9a-f]{62}")
_LEFTOVER = re.compile(r"\.([0-9a-f]{62})\.[0-9a-f]{16}\.(?:draft|removing)")


class FileBlobs:
    """The blobs in a folder, which is made by the first put."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, content: bytes) -> str:
        """Keep *content* and return its SHA-256 once it is durable.

        1. Where it is there and sound: note that it was put again.
        2. Else write it beside its name, durably, and give it the name.
        3. Make the name durable: who found it there may be faster than who put it there.

        A crash before 3 leaves nothing, a leftover or the blob.
        """
        assert len(content) <= BLOB_BYTES_MAX, "who cuts keeps to the bound"
        sha256 = digest_of(content)
        path = self._path(sha256)
        with self._speaking():
            if not _is_noted(path, content):  # 1
                self._make(path.parent)
                draft = _aside(path, DRAFT)
                _write(draft, content)  # 2
                draft.replace(path)
            _keep_names(path.parent)  # 3
        return sha256

    def get(self, sha256: str) -> bytes:
        """Return a blob, checked. Raises BlobMissing, BlobDamaged or StoreUnavailable."""
        path = self._path(sha256)
        try:
            with self._speaking(), path.open("rb") as file:
                content = file.read(BLOB_BYTES_MAX + 1)
        except StoreUnavailable as error:
            if isinstance(error.__cause__, FileNotFoundError | NotADirectoryError):
                raise BlobMissing(sha256, str(self._folder)) from error
            raise
        if digest_of(content) != sha256:
            raise BlobDamaged(sha256, f"what {path} holds has another SHA-256")
        return content

    def stored(self) -> Iterator[StoredBlob]:
        """Yield what is there, shelf by shelf."""
        for path, found in self._files():
            if _REST.fullmatch(path.name):
                name = path.parent.name + path.name
                yield StoredBlob(name, found.st_size, _changed_at(found))

    def discard(self, sha256: str, *, put_before: datetime) -> bool:
        """Take a blob away if it was last put *put_before*; say whether it was taken.

        1. Take its name away, which nobody else can do at the same time.
        2. Look when it was put: whoever found it under its name has noted it there.
        3. Take it away, or give it its name back.

        Who puts it after 1 finds nothing and writes it anew. A crash after 1 leaves a leftover,
        which `sweep` gives its name back.
        """
        path = self._path(sha256)
        with self._speaking():
            if not _is_older(path, put_before):
                return False
            aside = _aside(path, REMOVING)
            try:
                path.rename(aside)  # 1
            except FileNotFoundError:
                return False  # another has it
            is_old = _is_older(aside, put_before)  # 2
            if not is_old:
                _name_again(aside, path)
            aside.unlink(missing_ok=True)  # 3
            _keep_names(path.parent)
        return is_old

    def leftovers(self) -> Iterator[Leftover]:
        """Yield what crashes left; what is being put at this moment looks the same."""
        for path, found in self._files():
            if _LEFTOVER.fullmatch(path.name):
                name = f"{path.parent.name}/{path.name}"
                yield Leftover(name, found.st_size, _changed_at(found))

    def sweep(self, *, written_before: datetime) -> int:
        """Take away older leftovers; return how many. A blob among them gets its name back."""
        swept = 0
        for path, _ in list(self._files()):
            match = _LEFTOVER.fullmatch(path.name)
            with self._speaking():
                if match is None or not _is_older(path, written_before):
                    continue
                if path.name.endswith(REMOVING):
                    _name_again(path, path.with_name(match[1]))
                path.unlink(missing_ok=True)
                _keep_names(path.parent)
                swept += 1
        return swept

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        """Yield the files of all shelves; one that goes meanwhile is passed over."""
        for shelf in sorted(self._listed(self._folder)):
            for name in self._listed(self._folder / shelf) if _SHELF.fullmatch(shelf) else ():
                path = self._folder / shelf / name
                found = None
                with self._speaking(), suppress(FileNotFoundError):
                    found = path.stat()
                if found is not None:
                    yield path, found

    def _listed(self, folder: Path) -> list[str]:
        with self._speaking(), suppress(FileNotFoundError, NotADirectoryError):
            return [path.name for path in folder.iterdir()]
        return []

    def _make(self, shelf: Path) -> None:
        if not shelf.is_dir():
            shelf.mkdir(parents=True, exist_ok=True)
            for parent in (self._folder, self._folder.parent):
                _keep_names(parent)

    def _path(self, sha256: str) -> Path:
        assert _SHELF.fullmatch(sha256[:2]), "a blob is named by its digest"
        assert _REST.fullmatch(sha256[2:]), "a blob is named by its digest"
        return self._folder / sha256[:2] / sha256[2:]

    @contextmanager
    def _speaking(self) -> Iterator[None]:
        """Turn the disk's errors into ours."""
        try:
            yield
        except OSError as error:
            raise refused(str(self._folder), error) from error


def _is_noted(path: Path, content: bytes) -> bool:
    """Note that the sound blob at *path* was put again; False where there is none."""
    try:
        if path.stat().st_size != len(content) or path.read_bytes() != content:
            return False
        os.utime(path)
    except OSError:
        return False  # it is not there, or not ours to touch: it is written anew
    return True


def _write(draft: Path, content: bytes) -> None:
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)  # half a blob on a full disk helps nobody
        raise


def _aside(path: Path, ending: str) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}{ending}")


def _name_again(aside: Path, path: Path) -> None:
    try:
        os.link(aside, path)
    except (FileExistsError, FileNotFoundError):
        return  # it was put anew, or another was faster
    except OSError:  # a file system without links
        if not path.exists():
            aside.replace(path)


def _is_older(path: Path, moment: datetime) -> bool:
    """Say whether the file was last changed before *moment*; False where there is none."""
    try:
        return _changed_at(path.stat()) < moment
    except FileNotFoundError:
        return False


def _changed_at(found: os.stat_result) -> datetime:
    return datetime.fromtimestamp(found.st_mtime, UTC)


def _keep_names(folder: Path) -> None:
    """Make the names in *folder* outlive a power cut, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except (PermissionError, FileNotFoundError):
        return  # a system that opens no folder; a shelf that somebody took away
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
