"""All checks, in the order in which their findings are told."""

from collections.abc import Callable, Iterator
from typing import Final

from mnemolog.doctor import (
    blobs,
    disk,
    foreign,
    index,
    log,
    packages,
    parked,
    processors,
    projections,
    repeats,
    vectors,
)
from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.engine import Engine
from mnemolog.schemas.errors import MnemologError

Check = Callable[[Patient], Iterator[Finding]]

CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    (packages.NAME, packages.check),
    (log.NAME, log.check),
    (projections.NAME, projections.check),
    (parked.NAME, parked.check),
    (foreign.NAME, foreign.check),
    (repeats.NAME, repeats.check),
    (vectors.NAME, vectors.check),
    (processors.NAME, processors.check),
    (index.NAME, index.check),
    (blobs.NAME, blobs.check),
    (disk.NAME, disk.check),
)


def examine(engine: Engine) -> list[Finding]:
    """Return what every check finds at the tenant of *engine*, and change nothing."""
    return examined(Patient.of(engine))


def examined(patient: Patient) -> list[Finding]:
    """Return what every check finds, in their order. A check that fails is a finding itself."""
    found: list[Finding] = []
    for name, check in CHECKS:
        try:
            found.extend(check(patient))
        except MnemologError as error:
            found.append(Finding(name, "bad", str(error), advice=error.hint))
    return found
