"""What processors can't go on with."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from mnemolog.doctor.finding import Finding, Repair
from mnemolog.doctor.patient import Patient
from mnemolog.doctor.reading import read_whole
from mnemolog.doctor.repairs import BY_FIX
from mnemolog.processing_status import processor_standings
from mnemolog.processors import PROCESSORS
from mnemolog.schemas.errors import Damaged
from mnemolog.streams.processor_store import path_of

NAME: Final = "processors"
MEND_OR_SKIP: Final = (
    "It is tried again each minute and by the next process; mend the cause, or append"
    " event.skipped with the identity and the projection processors/NAME."
)
NOTHING_TWICE: Final = "The log brings it back, and nothing is made twice."


def check(patient: Patient) -> Iterator[Finding]:
    """Name the keys whose later causes wait, of each processor that ran here."""
    if patient.engine is None:
        return
    damaged = list(_damaged(patient))
    yield from damaged
    if damaged:
        return
    for one in processor_standings(patient.engine, patient.engine.log.ends()):
        for trouble in one.troubles:
            bundled = f"{one.name} can't go on with something"
            detail = f"{one.name}: {trouble}"
            yield Finding(NAME, "bad", detail, advice=MEND_OR_SKIP, bundled=bundled)
        if one.ran and not one.troubles:
            detail = f"{one.name}: {one.waiting} causes wait, {one.behind} records behind"
            yield Finding(NAME, "ok", detail)


def _damaged(patient: Patient) -> Iterator[Finding]:
    for name in PROCESSORS:
        path = path_of(patient.folder, name)
        try:
            if path.exists():
                read_whole(path)
        except Damaged as error:
            repair = Repair(
                f"begin anew what the processor {name} noted", partial(_begin_anew, patient, path)
            )
            detail, advice = f"{name}: {error}", f"{NOTHING_TWICE} {BY_FIX}"
            bundled = f"{name} is damaged"
            yield Finding(NAME, "bad", detail, advice=advice, repair=repair, bundled=bundled)


def _begin_anew(patient: Patient, path: Path) -> str:
    """Take the file away; LeaseHeld while somebody may be running the processor."""
    with patient.kept_free():
        for suffix in ("", "-wal", "-shm"):
            one = path.with_name(path.name + suffix)
            if one.is_file():
                one.unlink(missing_ok=True)
    return "its next run reads the log from the start"
