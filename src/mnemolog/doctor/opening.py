"""Whether the settings can be used and the tenant can be opened."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.schemas.errors import InvalidSetting, NewerRelease

NAME: Final = "opening"


def check(patient: Patient) -> Iterator[Finding]:
    """Say why the tenant can't be opened, if it can't."""
    error = patient.refusal
    if isinstance(error, InvalidSetting) and not isinstance(error, NewerRelease):
        bundled = f"the setting {error.name} can't be used"
        yield Finding(NAME, "bad", str(error), advice=error.hint, bundled=bundled)
        return
    if error is not None:
        yield Finding(NAME, "bad", str(error), advice=error.hint, bundled=type(error).__name__)
        return
    found = "can be opened" if patient.engine is not None else "has no log yet"
    advice = "" if patient.engine is not None else "The first append makes it."
    yield Finding(NAME, "ok", f"{patient.folder} {found}", advice=advice, bundled=found)
