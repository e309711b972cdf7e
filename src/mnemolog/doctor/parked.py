"""Which events could not be applied, and hold back the later ones of their keys."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.ledgers import first_parked_in
from mnemolog.parked import REBUILD
from mnemolog.projections.choosing import LATE
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.events import ALL_EVENTS

NAME: Final = "parked"
_KNOWN: Final = frozenset(event.event_type for event in ALL_EVENTS)
SHOWN_MAX: Final = 5  # of each projection
MEND_OR_SKIP: Final = (
    "Mend the cause, then `mnemolog parked retry`; or `mnemolog parked skip`, which appends"
    " event.skipped with the identity."
)


def check(patient: Patient) -> Iterator[Finding]:
    """Name the first events that each projection has parked by their own fault."""
    if patient.engine is None:
        return
    for name in NAMES:
        for parked in first_parked_in(patient.engine, name, events_max=SHOWN_MAX):
            what = f"{parked.event_type} of {parked.key!r} at {parked.position}"
            detail = f"{name} parked {what}, identity {parked.identity}: {parked.reason}"
            kind = parked.event_type if parked.event_type in _KNOWN else "what is none of ours"
            bundled = f"{name} parked {kind} at {parked.position}"
            advice = REBUILD if parked.reason == LATE else MEND_OR_SKIP
            yield Finding(NAME, "bad", detail, advice=advice, bundled=bundled)
