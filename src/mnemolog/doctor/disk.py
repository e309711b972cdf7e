"""Whether there is room on the disk."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding, State
from mnemolog.doctor.patient import Patient
from mnemolog.projections.room import Room
from mnemolog.schemas.errors import NoRoom
from mnemolog.status import disk_warnings

NAME: Final = "disk"
MAKE_ROOM: Final = "Make room, or move the data folder to a larger disk."


def check(patient: Patient) -> Iterator[Finding]:
    """Say how much of the disk that holds the folder is used, and what that stops."""
    room = Room() if patient.engine is None else patient.engine.room
    usage = room.usage_of(patient.folder)
    free = f"{usage.share:.0%} used, {usage.free / 2**30:.1f} GiB free"
    warnings = disk_warnings(room, usage)
    if not warnings:
        yield Finding(NAME, "ok", free)
        return
    is_beyond = usage.share >= room.refuse_share
    state: State = "bad" if is_beyond else "look"
    advice = NoRoom.hint if is_beyond else MAKE_ROOM
    yield Finding(NAME, state, f"{free}: {warnings[0]}", advice=advice)
