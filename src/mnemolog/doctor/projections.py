"""How far each projection is."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding, State
from mnemolog.doctor.patient import Patient
from mnemolog.status import Standing, status

NAME: Final = "projections"
CATCH_UP: Final = "Any command or program that reads it folds the rest."


def check(patient: Patient) -> Iterator[Finding]:
    """Name each projection's generation and how many records it is behind."""
    if patient.engine is None:
        return
    for one in status(patient.engine).projections:
        if one.trouble is None:  # of the others `stores` tells
            yield _told(one)


def _told(one: Standing) -> Finding:
    if one.generation is None:
        return Finding(NAME, "look", f"{one.name} has not been built", advice=CATCH_UP)
    state: State = "look" if one.behind else "ok"
    detail = f"{one.name}: generation {one.generation}, {one.behind} records behind"
    return Finding(NAME, state, detail, advice=CATCH_UP if one.behind else "")
