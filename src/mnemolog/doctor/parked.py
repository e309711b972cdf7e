"""Which events could not be applied, and hold back the later ones of their keys."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.ledgers import first_parked_in
from mnemolog.projections.kinds import NAMES

NAME: Final = "parked"
SHOWN_MAX: Final = 5  # of each projection
MEND_OR_SKIP: Final = "Mend the cause and rebuild, or append event.skipped with the identity."


def check(patient: Patient) -> Iterator[Finding]:
    """Name the first events that each projection has parked by their own fault."""
    if patient.engine is None:
        return
    for name in NAMES:
        for parked in first_parked_in(patient.engine, name, events_max=SHOWN_MAX):
            what = f"{parked.event_type} of {parked.key!r} at {parked.position}"
            detail = f"{name} parked {what}, identity {parked.identity}: {parked.reason}"
            bundled = f"{name} parked {parked.event_type} at {parked.position}"
            yield Finding(NAME, "bad", detail, advice=MEND_OR_SKIP, bundled=bundled)
