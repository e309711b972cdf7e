"""The projector's lease: within one data folder one process at a time writes the projections.

The operating system holds it: a process that ends, however it ends, lets go. The epoch grows with
each holder and is written with rows where a store can't refuse a former holder (LanceDB).
"""

import fcntl
import json
import os
import socket
from pathlib import Path
from typing import IO, Any, Self

from mnemolog.schemas.errors import LeaseHeld, StoreUnavailable


class Lease:
    """Held from `take` to `release`. A folder belongs to one host: locks do not cross a network."""

    def __init__(self, file: IO[bytes], epoch: int) -> None:
        self._file = file
        self.epoch = epoch

    @classmethod
    def take(cls, path: Path) -> Self:
        """Return the lease at *path*. Raises LeaseHeld, naming the holder, if another has it."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, mode=0o644), "r+b")
        except OSError as error:
            raise StoreUnavailable(str(path), str(error)) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise LeaseHeld(str(path), holder(path)) from error
        epoch = _content(path).get("epoch", 0) + 1
        _write(file, {"epoch": epoch, "pid": os.getpid(), "host": socket.gethostname()})
        return cls(file, epoch)

    def release(self) -> None:
        """Let another process take the lease. Harmless twice."""
        self._file.close()


def holder(path: Path) -> str:
    """Return who holds, or last held, the lease at *path*, for a message."""
    content = _content(path)
    return f"process {content.get('pid', '?')} on {content.get('host', '?')}"


def _content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write(file: IO[bytes], content: dict[str, Any]) -> None:
    """Write over what stands there and cut then: a death in between leaves an epoch to read."""
    written = json.dumps(content).encode()
    os.pwrite(file.fileno(), written, 0)
    os.ftruncate(file.fileno(), len(written))
    os.fsync(file.fileno())
