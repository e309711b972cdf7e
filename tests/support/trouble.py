"""A small data folder with every kind of file in it, ways to spoil one, and a look at what is left.

made(folder)              a tenant that lived a little: events, checkpoints, a text beside the log
asked(data, "doctor")     the command line on it, in this process; never with a traceback
left(data)                what has to outlast any trouble: the records of the log, and the digests
"""

import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import MnemologError
from support import command_line
from support.command_line import Ended
from support.remembering import opened

LARGE = "a long report of the lamps. " * 12_000  # goes beside the log
EVENTS = 28
ENVIRONMENT = {
    "MNEMOLOG_EMBEDDER": "hashing",
    "MNEMOLOG_RECORD_RECALLS": "no",
    "MNEMOLOG_PROCESSORS": "no",
}

Spoil = Callable[[Path], None]


@dataclass(frozen=True)
class Left:
    """How many records the log has, and each projection's digest at its end."""

    records: int
    digests: Mapping[str, str]


def made(folder: Path, *, alive: Path | None = None) -> Left:
    """Make a tenant in *folder*; *alive* gets a copy while it is open, as a kill leaves it."""
    with opened(folder, agent="ops-1", processors=True) as mem:
        for number in range(12):
            mem.observe(f"lamp {number} is on", task="t")
            mem.checkpoint(f"goal {number}", plan_summary="go on", task="t")
        mem.observe(LARGE)
        mem.decide("take lamp 3", why="it is near")
        mem.feedback(mem.observe("lamp 12 is off").id, 0.5)
        mem.wait_for(mem.end(), projections=NAMES, vectors=True)
        mem.sql("SELECT 1")
        found = Left(sum(mem.engine.log.ends().values()), mem.digests())
        if alive is not None:
            shutil.copytree(folder, alive)
    return found


def left(data: Path) -> Left:
    """Return what is there now, once the projections hold what the log does."""
    with opened(data) as mem:
        return Left(sum(mem.engine.log.ends().values()), mem.digests())


def asked(data: Path, *arguments: str, stdin: bytes = b"") -> Ended:
    """Run `mnemolog` with *arguments* on *data*: it ends by an exit code, and says why if not 0."""
    given = {**ENVIRONMENT, "MNEMOLOG_DATA": str(data)}
    done = command_line.run(arguments, stdin=stdin, environment=given)
    assert done.error is None, done.error
    assert "Traceback" not in done.err, done.err
    return done


def refused(done: Ended, code: int, *words: str) -> None:
    """Check that a command was refused with *code*, all *words* and an advice."""
    assert done.code == code, (done.code, done.out, done.err)
    told = done.err.strip().splitlines()
    assert len(told) >= 2, told  # what and where, and what to do
    assert all(word in done.err for word in words), done.err


def say(data: Path, text: str, *options: str) -> Ended:
    """Append an observation."""
    fields = json.dumps({"text": text})
    given = ("append", "observation.recorded", fields, "--agent", "ops-1", *options)
    return asked(data, *given)


def findings(data: Path, *options: str) -> list[dict[str, Any]]:
    """Return what doctor finds that is not well; each says what to do."""
    found = json.loads(asked(data, "doctor", "--json", *options).out)
    wrong = [one for one in found if one["state"] != "ok"]
    assert all(one["advice"] for one in wrong), wrong
    return wrong


def bad(data: Path, *options: str) -> list[str]:
    """Return what doctor finds that is bad, as `check: detail`."""
    found = findings(data, *options)
    return [f"{one['check']}: {one['detail']}" for one in found if one["state"] == "bad"]


# The files of a folder by their kinds, and ways to spoil one.


def kinds(tenant: Path) -> dict[str, list[Path]]:
    """Return the files below *tenant* by kind: names that differ in numbers alone are one."""
    found: dict[str, list[Path]] = {}
    for path in sorted(tenant.rglob("*")):
        if path.is_file() and path.stat().st_size:
            relative = path.relative_to(tenant)
            found.setdefault(re.sub(r"[0-9a-f-]{8,}|\d+", "#", str(relative)), []).append(relative)
    return found


def _flipped(at: float) -> Spoil:
    def spoil(path: Path) -> None:
        content = bytearray(path.read_bytes())
        start = int(max(0, len(content) - 64) * at)
        content[start : start + 64] = bytes(byte ^ 0xFF for byte in content[start : start + 64])
        path.write_bytes(content)

    return spoil


SPOILS: Mapping[str, Spoil] = {
    "its start": _flipped(0.0),
    "its middle": _flipped(0.5),
    "its end": _flipped(1.0),
    "cut short": lambda path: (
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]) and None
    ),
    "empty": lambda path: path.write_bytes(b"") and None,
    "gone": Path.unlink,
}


def can_be_opened(data: Path) -> bool:
    """Say whether a Memory can be opened; nothing but an error of ours may say no."""
    try:
        opened(data).close()
    except MnemologError:
        return False
    return True
