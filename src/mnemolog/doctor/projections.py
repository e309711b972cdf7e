"""How far each projection is."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding, State
from mnemolog.doctor.patient import Patient
from mnemolog.status import status

NAME: Final = "projections"
CATCH_UP: Final = "Any command or program that reads it folds the rest."


def check(patient: Patient) -> Iterator[Finding]:
    """Name each projection's generation and how many records it is behind."""
    if patient.engine is None:
        return
    for one in status(patient.engine).projections:
        if one.generation is None:
            yield Finding(NAME, "look", f"{one.name} has not been built", advice=CATCH_UP)
            continue
        state: State = "look" if one.behind else "ok"
        detail = f"{one.name}: generation {one.generation}, {one.behind} records behind"
        yield Finding(NAME, state, detail, advice=CATCH_UP if one.behind else "")
