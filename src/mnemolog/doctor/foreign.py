"""Which records are no events of this log."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.ledgers import foreign_in
from mnemolog.projections.kinds import CHECKPOINTS

NAME: Final = "foreign records"
SHOWN_MAX: Final = 5
LOOK_AT_THE_SENDER: Final = "Nothing waits for it. Who appended it should send events instead."


def check(patient: Patient) -> Iterator[Finding]:
    """Name the first foreign records."""
    if patient.engine is None:
        return
    for record in foreign_in(patient.engine, CHECKPOINTS, records_max=SHOWN_MAX):
        detail = f"{record.record.position} is no event of this log: {record.reason}"
        bundled = f"{record.record.position} is no event of this log"
        yield Finding(NAME, "look", detail, advice=LOOK_AT_THE_SENDER, bundled=bundled)
