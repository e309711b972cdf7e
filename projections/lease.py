"""The projector's lease: within one data folder one process at a time writes the projections.

The operating system holds it: a process that ends, however it ends, lets go. The epoch grows with
each holder and is written with rows where a store can't refuse a former holder (LanceDB). A
holder that lets go says so; one that does not has ended in mid-write, perhaps with the machine.
"""

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Self

from mnemolog.schemas.errors import LeaseHeld
from mnemolog.schemas.refusals import refused

# Who looks whether a lease is held has it for an instant; a taker tries again after so long.
LOOK_SECONDS: Final = 0.002
_ENDED: Final = ("", "Z", "X")  # none, or one that nobody has taken notice of yet


class Lease:
    """Held from `take` to `release`. A folder belongs to one host: locks do not cross a network.

    `is_after_a_death` says that the holder before did not let go of it.
    """

    def __init__(self, file: IO[bytes], epoch: int, *, is_after_a_death: bool) -> None:
        self._file = file
        self.epoch = epoch
        self.is_after_a_death = is_after_a_death

    @classmethod
    def take(cls, path: Path) -> Self:
        """Return the lease at *path*.

        Raises LeaseHeld, naming the holder, if another has it, StoreUnavailable if the disk
        refuses.
        """
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, mode=0o644), "r+b")
        except OSError as error:
            raise refused(str(path), error) from error
        try:
            _lock(file)
            former = _content(path)
            epoch = former.get("epoch", 0) + 1
            _write(file, _holder_now(epoch))
        except BlockingIOError as error:
            file.close()
            raise LeaseHeld(str(path), holder(path)) from error
        except OSError as error:
            file.close()
            raise refused(str(path), error) from error
        died = "epoch" in former and not former.get("ended", False)
        return cls(file, epoch, is_after_a_death=died)

    def release(self) -> None:
        """Let another process take the lease. Harmless twice."""
        if not self._file.closed:
            with suppress(OSError):  # else the next holder looks more closely, that is all
                _write(self._file, {**_holder_now(self.epoch), "ended": True})
            self._file.close()


@dataclass(frozen=True, slots=True)
class Holding:
    """Who has a lease, or had it last; `pid` and `host` are None before the first.

    `lives` says whether that process runs, None where that can't be known: it is of another host.
    `is_held` without it is a child that the holder left behind.
    """

    is_held: bool
    pid: int | None = None
    host: str | None = None
    lives: bool | None = None
    is_stopped: bool = False  # by a signal: it holds on and does nothing

    def __str__(self) -> str:
        if self.pid is None:
            return "nobody yet"
        who = f"process {self.pid} on {self.host}"
        if not self.is_held:
            return f"nobody; last by {who}"
        if self.lives is False:
            return f"a process that was begun by {who}, which has ended"
        return f"{who}, which is stopped" if self.is_stopped else who


def look(path: Path) -> Holding:
    """Return who has the lease at *path*. Raises StoreUnavailable if the disk refuses."""
    content = _content(path)
    pid, host = content.get("pid"), content.get("host")
    if not isinstance(pid, int):
        return Holding(_is_held(path))
    is_here = host == socket.gethostname()
    state = _state_of(pid, content.get("started")) if is_here else ""
    lives = state not in _ENDED if is_here else None
    return Holding(_is_held(path), pid, str(host), lives, is_stopped=state == "T")


@contextmanager
def kept_free(path: Path) -> Iterator[None]:
    """Let nobody take the lease at *path* within the block, and don't take it: who died stays told.

    Raises LeaseHeld if somebody has it, StoreUnavailable if the disk refuses.
    """
    try:  # to read: where nothing may be written it can be looked at in peace, too
        file = os.fdopen(os.open(path, os.O_RDONLY | os.O_CREAT, mode=0o644), "rb")
    except OSError as error:
        raise refused(str(path), error) from error
    with file:
        try:
            _lock(file)
        except BlockingIOError as error:
            raise LeaseHeld(str(path), holder(path)) from error
        yield


def holder(path: Path) -> str:
    """Return who holds, or last held, the lease at *path*, for a message."""
    content = _content(path)
    return f"process {content.get('pid', '?')} on {content.get('host', '?')}"


def _lock(file: IO[bytes]) -> None:
    """Lock *file*, or raise BlockingIOError if another process has it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        time.sleep(LOOK_SECONDS)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is_held(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    except OSError as error:
        raise refused(str(path), error) from error
    return False


def _state_of(pid: int, started: object) -> str:
    """Return how the process *pid* is, as one letter of Linux, or "" if there is none.

    One that did not start at *started* is another, which got the number of one that ended.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        pass  # another user's: it lives
    try:
        state, now = _stat(pid)
    except OSError:
        return "?"
    return state if started in {None, now} else ""


def _stat(pid: int) -> tuple[str, int]:
    """Return a process's state, and when it started in ticks of Linux since the machine did."""
    fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()
    return fields[0].decode(), int(fields[19])


def _holder_now(epoch: int) -> dict[str, Any]:
    now = {"epoch": epoch, "pid": os.getpid(), "host": socket.gethostname()}
    with suppress(OSError):  # elsewhere than on Linux the number alone has to do
        now["started"] = _stat(os.getpid())[1]
    return now


def _content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) and isinstance(content.get("epoch"), int) else {}


def _write(file: IO[bytes], content: dict[str, Any]) -> None:
    """Write over what stands there and cut then: a death in between leaves an epoch to read."""
    written = json.dumps(content).encode()
    os.pwrite(file.fileno(), written, 0)
    os.ftruncate(file.fileno(), len(written))
    os.fsync(file.fileno())
