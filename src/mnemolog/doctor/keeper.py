"""Who keeps the projections, and whether that process still lives."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding, State
from mnemolog.doctor.patient import Patient
from mnemolog.engine import LEASE_FILE
from mnemolog.projections.lease import Holding, look

NAME: Final = "keeper"
END_THE_CHILD: Final = (
    "End the process that holds the file (`fuser` or `lsof` name it); then any other takes over."
)
WAKE_IT: Final = "Let it go on (`kill -CONT`), or end it; until then nothing is projected."
ONE_HOST: Final = (
    "Of another host it can't be known whether it lives; a folder belongs to one host."
)


def check(patient: Patient) -> Iterator[Finding]:
    """Name the process that keeps the projections, or kept them last."""
    if patient.engine is not None and patient.engine.is_owner:
        yield Finding(NAME, "ok", "this process keeps the projections")
        return
    found = look(patient.folder / LEASE_FILE)
    state, advice = _judged(found)
    bundled = f"held {found.is_held}, lives {found.lives}, stopped {found.is_stopped}"
    detail = f"the projections are kept by {found}"
    yield Finding(NAME, state, detail, advice=advice, bundled=bundled)


def _judged(found: Holding) -> tuple[State, str]:
    if not found.is_held:
        return "ok", ""
    if found.lives is False:
        return "bad", END_THE_CHILD
    if found.is_stopped:
        return "bad", WAKE_IT
    return ("look", ONE_HOST) if found.lives is None and found.pid is not None else ("ok", "")
