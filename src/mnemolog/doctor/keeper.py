"""Who keeps the projections, and whether that process still lives."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.engine import LEASE_FILE
from mnemolog.projections.lease import look

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
    detail = f"the projections are kept by {found}"
    if not found.is_held:
        yield Finding(NAME, "ok", detail)
    elif found.lives is False:
        yield Finding(NAME, "bad", detail, advice=END_THE_CHILD)
    elif found.is_stopped:
        yield Finding(NAME, "bad", detail, advice=WAKE_IT)
    else:
        yield Finding(NAME, "ok", detail, advice=ONE_HOST if found.lives is None else "")
