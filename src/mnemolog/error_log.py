"""The last errors of a tenant, for `doctor` and its bundle: never a word of a payload.

    <tenant folder>/errors.jsonl    a line for each error, the newest last
    <tenant folder>/errors.1.jsonl  what stood there before

An error's text may quote what an agent said, and a path may name a person. So a line has the
error's class and code, its numbers, the classes behind it, and the lines of our code where it
arose. What is the caller's fault is not noted. An error that comes again and again is noted the
first, second, fourth, eighth time, and so on.
"""

import json
import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, Final

from mnemolog.schemas.errors import InvalidEvent, InvalidSetting, MnemologError, NotFound, ReadOnly

FILE: Final = "errors.jsonl"
FORMER_FILE: Final = "errors.1.jsonl"
BYTES_MAX: Final = 131_072  # of each of the two
FRAMES_MAX: Final = 8
CAUSES_MAX: Final = 5
KINDS_MAX: Final = 256  # of errors whose repeats are counted; then counting begins anew
_NUMBERS: Final = ("partition", "offset", "wanted", "start", "waited_seconds", "errno")
_NAMES: Final = ("projection",)  # of ours: never a value that somebody gave
_OURS: Final = "mnemolog"
_CALLERS: Final = (InvalidEvent, InvalidSetting, NotFound, ReadOnly)


class ErrorLog:
    """Notes errors in a tenant's *folder*. Any thread may use it; it never raises."""

    def __init__(self, folder: Path, *, now: Callable[[], datetime]) -> None:
        self._folder = folder
        self._now = now
        self._lock = Lock()
        self._times: dict[tuple[str, ...], int] = {}

    def note(self, error: BaseException, *, where: str) -> None:
        """Note *error*, met in *where*; not if the caller is at fault or the folder isn't there."""
        if isinstance(error, _CALLERS) or not isinstance(error, Exception):
            return
        with self._lock, suppress(OSError, ValueError):
            line = _told(error, where)
            times = self._counted(line)
            if times & (times - 1) == 0 and self._folder.is_dir():
                moment = self._now().isoformat(timespec="seconds")
                self._write({"at": moment, "times": times, **line})

    def _counted(self, line: dict[str, Any]) -> int:
        kind = (line["where"], line["error"], *line["frames"])
        if len(self._times) >= KINDS_MAX:
            self._times.clear()
        self._times[kind] = self._times.get(kind, 0) + 1
        return self._times[kind]

    def _write(self, line: dict[str, Any]) -> None:
        path = self._folder / FILE
        if path.exists() and path.stat().st_size >= BYTES_MAX:
            path.replace(self._folder / FORMER_FILE)
        # One write at the end of the file: lines of several processes don't mix.
        with path.open("ab", buffering=0) as file:
            file.write(json.dumps(line).encode() + b"\n")


def last_errors(folder: Path) -> list[dict[str, Any]]:
    """Return what was noted in *folder*, oldest first; torn lines are left out."""
    found = []
    for name in (FORMER_FILE, FILE):
        with suppress(OSError):
            for line in (folder / name).read_bytes().splitlines():
                with suppress(ValueError):
                    told = json.loads(line)
                    found += [told] if isinstance(told, dict) else []
    return found


def _told(error: BaseException, where: str) -> dict[str, Any]:
    numbers = {name: getattr(error, name, None) for name in _NUMBERS}
    named = {name: getattr(error, name, None) for name in _NAMES}
    return {
        "pid": os.getpid(),
        "where": where,
        "error": type(error).__name__,
        "code": error.code if isinstance(error, MnemologError) else None,
        **{name: n for name, n in numbers.items() if isinstance(n, int | float)},
        **{name: text for name, text in named.items() if isinstance(text, str)},
        "causes": list(_causes(error)),
        "frames": _frames(error),
    }


def _causes(error: BaseException) -> Iterator[str]:
    """Yield the classes of what led to *error*, with the numbers that drivers give."""
    for _ in range(CAUSES_MAX):
        behind = error.__cause__ or error.__context__
        if behind is None:
            return
        number = getattr(behind, "sqlite_errorcode", getattr(behind, "errno", None))
        yield type(behind).__name__ + (f" {number}" if isinstance(number, int) else "")
        error = behind


def _frames(error: BaseException) -> list[str]:
    """Return where in our code *error* arose, innermost last: modules and lines, no values."""
    frames = [
        f"{frame.f_globals.get('__name__', '?')}:{line}"
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] == _OURS
    ]
    return frames[-FRAMES_MAX:]
