"""All checks, in the order in which their findings are told, and all repairs."""

from collections.abc import Callable, Iterator, Sequence
from types import ModuleType
from typing import Final, Protocol, cast

from mnemolog.doctor import (
    blobs,
    cache,
    clock,
    continuity,
    disk,
    errors,
    foreign,
    generations,
    governance,
    index,
    keeper,
    leftovers,
    log,
    opening,
    packages,
    parked,
    processors,
    projections,
    published,
    repeats,
    rights,
    stores,
    vectors,
)
from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.engine import Engine
from mnemolog.schemas.errors import MnemologError

Tell = Callable[[str], None]


class Check(Protocol):
    """What a module of a check has."""

    NAME: str

    def check(self, patient: Patient) -> Iterator[Finding]:
        """Yield what is found at *patient*, and change nothing."""
        ...


_MODULES: Final[Sequence[ModuleType]] = (
    *(packages, opening, rights, disk, keeper),
    *(log, continuity, clock, governance),
    *(generations, stores, cache, published, index, blobs, leftovers),
    *(projections, parked, foreign, repeats, vectors, processors, errors),
)
CHECKS: Final = tuple(cast("Check", module) for module in _MODULES)


def examine(engine: Engine) -> list[Finding]:
    """Return what every check finds at the tenant of *engine*, and change nothing."""
    return examined(Patient.of(engine))


def examined(patient: Patient) -> list[Finding]:
    """Return what every check finds, in their order.

    A check that fails is a finding itself, unless another one tells of the same.
    """
    found: list[Finding] = []
    failed: list[Finding] = []
    for module in CHECKS:
        try:
            found.extend(module.check(patient))
        except Exception as error:  # noqa: BLE001 - what is damaged breaks in unforeseen ways, too
            failed.append(_failed(module.NAME, error))
    for finding in failed:
        if not any(finding.detail in other.detail for other in found):
            found.append(finding)
    return found


def _failed(check: str, error: Exception) -> Finding:
    bundled = f"the check failed: {type(error).__name__}"
    if isinstance(error, MnemologError):
        return Finding(check, "bad", str(error), advice=error.hint, bundled=bundled)
    detail = f"the check failed: {type(error).__name__}: {error}"
    return Finding(check, "bad", detail, advice=MnemologError.hint, bundled=bundled)


def mend(findings: Sequence[Finding], *, tell: Tell) -> int:
    """Run each repair of *findings* once, telling what it will do and did; return how many failed.

    One that fails stops none of the others.
    """
    repairs = {finding.repair.will: finding.repair for finding in findings if finding.repair}
    failed = 0
    for will, repair in repairs.items():
        tell(f"will {will}")
        try:
            tell(f"  done: {repair.run()}")
        except MnemologError as error:
            failed += 1
            tell(f"  not done: {error}. {error.hint}")
        except Exception as error:  # noqa: BLE001 - the others are run all the same
            failed += 1
            tell(f"  not done: {type(error).__name__}: {error}. {MnemologError.hint}")
    return failed
