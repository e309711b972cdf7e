"""Which records repeat an identity and say something else."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.ledgers import repeats_in
from mnemolog.projections.kinds import CHECKPOINTS

NAME: Final = "repeats"
SHOWN_MAX: Final = 5
GIVE_NEW_IDS: Final = "Who appends has to give each event an id of its own."


def check(patient: Patient) -> Iterator[Finding]:
    """Name the first repeats with other content."""
    if patient.engine is None:
        return
    for repeat in repeats_in(patient.engine, CHECKPOINTS, repeats_max=SHOWN_MAX):
        detail = f"{repeat.position} repeats an id with other content; the first one holds"
        yield Finding(NAME, "look", detail, advice=GIVE_NEW_IDS)
