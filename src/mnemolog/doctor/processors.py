"""What processors can't go on with."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.processing_status import processor_standings

NAME: Final = "processors"
MEND_OR_SKIP: Final = (
    "It is tried again each minute and by the next process; mend the cause, or append"
    " event.skipped with the identity and the projection processors/NAME."
)


def check(patient: Patient) -> Iterator[Finding]:
    """Name the keys whose later causes wait, of each processor that ran here."""
    if patient.engine is None:
        return
    for one in processor_standings(patient.engine, patient.engine.log.ends()):
        for trouble in one.troubles:
            bundled = f"{one.name} can't go on with something"
            detail = f"{one.name}: {trouble}"
            yield Finding(NAME, "bad", detail, advice=MEND_OR_SKIP, bundled=bundled)
        if one.ran and not one.troubles:
            detail = f"{one.name}: {one.waiting} causes wait, {one.behind} records behind"
            yield Finding(NAME, "ok", detail)
