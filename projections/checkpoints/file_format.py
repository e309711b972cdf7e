"""Snapshot files: how a checkpoint lies on the disk, sealed, whole or not at all.

    magic (8 bytes) | format version (2) | length of the structure (8)
    | length of the packed working memory (8) | its length unpacked (8)
    | SHA-256 over all of the above and the body (32)
    | the structure as canonical JSON | the working memory as JSON, packed by zlib

Numbers are big-endian, lengths are bytes. A file's name is the SHA-256 of its checkpoint's
canonical JSON: an id never becomes a path, and to write a checkpoint again changes nothing. Of
texts beside the log it has the heads and, as `dataref`, what its event said of the whole.
"""

import hashlib
import os
import re
import struct
import threading
import zlib
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from mnemolog.projections.generations import write_whole
from mnemolog.projections.sqlite_store import speaking_of
from mnemolog.schemas.blobs import lifted
from mnemolog.schemas.checkpoint import Checkpoint
from mnemolog.schemas.errors import Damaged, InvalidEvent
from mnemolog.schemas.events import ALL_EVENTS
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.schemas.upcasts import STEPS, Upcasts
from mnemolog.schemas.values import json_bytes, parse_json

MAGIC: Final = b"MNEMOCP\n"
FORMAT_VERSION: Final = 1
PACKING_LEVEL: Final = 6  # of zlib: more takes twice as long and saves 2 %
BODY_BYTES_MAX: Final = 8 * EVENT_BYTES_MAX  # defaults are written out, so a file may be larger
LOCKS: Final = 64  # of all folders in this process: two that share one wait for each other

_HEADER: Final = struct.Struct(">8sHQQQ")
_SEAL_BYTES: Final = 32
_BODY_START: Final = _HEADER.size + _SEAL_BYTES
_NAME: Final = re.compile(r"[0-9a-f]{64}")
_UPCASTS: Final = Upcasts(STEPS, events=ALL_EVENTS)
_CHANGING: Final = tuple(threading.RLock() for _ in range(LOCKS))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A checkpoint as a file: its name and its content."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Kept:
    """What a file holds: a checkpoint, and the blobs of those of its texts that are heads."""

    checkpoint: Checkpoint
    dataref: str | None = None


def snapshot(checkpoint: Checkpoint, *, dataref: str | None = None) -> Snapshot:
    """Return *checkpoint* as a file, with the *dataref* of the event that saved it."""
    written, memory = _written(checkpoint), b""
    if dataref is not None:
        written["dataref"] = dataref
    name = _digest(written)
    state = written["checkpoint"]["task_state"]
    if state is not None:
        memory = json_bytes(state.pop("working_memory"))
    return Snapshot(name, _sealed(json_bytes(written), memory))


def _written(checkpoint: Checkpoint) -> dict[str, Any]:
    fields = checkpoint.model_dump(mode="json")
    return {"version": CheckpointSaved.event_version, "checkpoint": fields}


def _digest(written: Mapping[str, Any]) -> str:
    return hashlib.sha256(json_bytes(written)).hexdigest()


def _sealed(structure: bytes, memory: bytes) -> bytes:
    packed = zlib.compress(memory, level=PACKING_LEVEL) if memory else b""
    header = _HEADER.pack(MAGIC, FORMAT_VERSION, len(structure), len(packed), len(memory))
    body = structure + packed
    return header + hashlib.sha256(header + body).digest() + body


def checkpoint_in(content: bytes, *, name: str) -> Kept:
    """Return the checkpoint in the *content* of the file *name*.

    Raises Damaged, which says what is wrong with it. A file of an older version of the event
    is lifted as the event would be.
    """
    structure, memory = _opened(content, name)
    try:
        written = parse_json(structure, field="structure")
        if memory:
            written["checkpoint"]["task_state"]["working_memory"] = parse_json(memory)
        if _digest(written) != name:
            raise Damaged(name, "it holds another checkpoint than its name says")
        return _lifted(written, name)
    except (InvalidEvent, KeyError, TypeError) as error:
        raise Damaged(name, f"its structure can't be read: {error}") from error


def _opened(content: bytes, what: str) -> tuple[bytes, bytes]:
    """Return the structure and the unpacked working memory, once the seal was found whole."""
    if len(content) < _BODY_START:
        raise Damaged(what, f"cut short: {len(content)} bytes, a header has {_BODY_START}")
    magic, version, structure_bytes, packed_bytes, memory_bytes = _HEADER.unpack_from(content)
    if magic != MAGIC:
        raise Damaged(what, f"no snapshot file: it begins with {magic!r}")
    if version != FORMAT_VERSION:
        raise Damaged(what, f"format version {version}; this code reads {FORMAT_VERSION}")
    header, seal, body = (
        content[: _HEADER.size],
        content[_HEADER.size : _BODY_START],
        content[_BODY_START:],
    )
    if len(body) != structure_bytes + packed_bytes:
        told = structure_bytes + packed_bytes
        raise Damaged(what, f"the body has {len(body)} bytes, its header tells of {told}")
    if hashlib.sha256(header + body).digest() != seal:
        raise Damaged(what, "its SHA-256 does not match its header and body")
    return body[:structure_bytes], _unpacked(body[structure_bytes:], memory_bytes, what)


def _unpacked(packed: bytes, memory_bytes: int, what: str) -> bytes:
    if memory_bytes > BODY_BYTES_MAX:
        raise Damaged(what, f"{memory_bytes} bytes of working memory; at most {BODY_BYTES_MAX}")
    if not packed and not memory_bytes:
        return b""
    unpacker = zlib.decompressobj()
    try:
        memory = unpacker.decompress(packed, memory_bytes + 1)
    except zlib.error as error:
        raise Damaged(what, f"its working memory can't be unpacked: {error}") from error
    if len(memory) != memory_bytes:
        raise Damaged(what, f"its working memory is not {memory_bytes} bytes long")
    return memory


def _lifted(written: Mapping[str, Any], what: str) -> Kept:
    event, current = CheckpointSaved.event_type, CheckpointSaved.event_version
    version, dataref = written["version"], written.get("dataref")
    if version > current:
        raise Damaged(what, f"{event} version {version} is newer than this code")
    data = {"checkpoint": written["checkpoint"]}
    lift = partial(_UPCASTS.lifted, event, version, to_version=current)
    if version < current and dataref is not None:
        dataref = lifted(dataref, data, lift)
    try:
        return Kept(Checkpoint.model_validate(lift(data)["checkpoint"]), dataref)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        raise Damaged(what, f"{field} is not what this code saves: {first['msg']}") from error


@dataclass(frozen=True, slots=True)
class SnapshotFiles:
    """A folder of snapshot files, named by their digests.

    One process writes there; several threads of it may: who keeps the projection, and who reads
    and writes a damaged file anew.
    """

    folder: Path

    def unchanged(self) -> AbstractContextManager[object]:
        """Let no other thread write or remove a file within the block."""
        return _CHANGING[hash(self.folder) % LOCKS]

    def write(self, one: Snapshot) -> None:
        """Write *one* durably, unless a sound file of it is there.

        Raises StoreUnavailable when the disk refused it.
        """
        with self.unchanged(), speaking_of(self.folder):
            if self._is_sound(one.name):
                return
            write_whole(self._path(one.name), one.content)
            _keep_names(self.folder)

    def read(self, name: str) -> Kept:
        """Return the checkpoint in the file *name*. Raises Damaged, also where it is missing."""
        try:
            content = self._path(name).read_bytes()
        except OSError as error:
            raise Damaged(name, f"can't be read: {error.strerror}") from error
        return checkpoint_in(content, name=name)

    def names(self) -> set[str]:
        """Return the names of everything in the folder, drafts that a crash left included."""
        return {path.name for path in self.folder.iterdir()} if self.folder.is_dir() else set()

    def remove(self, name: str) -> None:
        """Remove a file of `names`, if the system lets go of it; one that is gone is no fault.

        A file that stays is litter, which the next look finds. Waits for a write: its draft is
        a name, too.
        """
        with self.unchanged(), suppress(OSError):
            (self.folder / name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        assert _NAME.fullmatch(name), "files are named by their digests"
        return self.folder / name

    def _is_sound(self, name: str) -> bool:
        with suppress(Damaged):
            self.read(name)
            return True
        return False


def _keep_names(folder: Path) -> None:
    """Make a rename in *folder* outlive a power cut, where the system can."""
    with suppress(PermissionError):  # Windows opens no folder
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
