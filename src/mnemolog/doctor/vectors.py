"""Which memories are without their vector."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.ledgers import vectors_outstanding

NAME: Final = "vectors"
FOLLOW: Final = "They are found by their words meanwhile; a process that projects fills them in."


def check(patient: Patient) -> Iterator[Finding]:
    """Say how many memories wait for their vector."""
    if patient.engine is None:
        return
    left = vectors_outstanding(patient.engine)
    detail = f"{left} memories wait for their vector"
    yield Finding(NAME, "look" if left else "ok", detail, advice=FOLLOW if left else "")
