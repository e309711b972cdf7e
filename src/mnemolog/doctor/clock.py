"""Whether the log tells of a clock that jumped."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.engine import present
from mnemolog.ledgers import clock_jumps

NAME: Final = "clock"
TOLERANCE: Final = timedelta(minutes=5)
SET_THE_CLOCK: Final = (
    "Let the machine's clock be set over the network. Order is by position, so nothing is lost or"
    " out of order; only the times of these records are not to be trusted."
)


def check(patient: Patient) -> Iterator[Finding]:
    """Name where records stand that were recorded in the future, or long before earlier ones."""
    if patient.engine is None:
        return
    found = clock_jumps(patient.engine, now=present(), tolerance=TOLERANCE)
    for jump in found:
        if jump.latest is not None:
            told = f"in the future, up to {jump.latest:%Y-%m-%d %H:%M}"
        else:
            told = f"up to {jump.back_by} before earlier ones: the clock went back"
        detail = f"{jump.count} records from {jump.first} on were recorded {told}"
        yield Finding(NAME, "look", detail, advice=SET_THE_CLOCK)
    if not found:
        yield Finding(NAME, "ok", "no record was recorded at an odd time")
