"""Which errors were noted lately."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.error_log import FILE, last_errors

NAME: Final = "errors"
KINDS_MAX: Final = 5
ADVICE: Final = f"{FILE} in the tenant's folder has the lines of code; --bundle takes them along."


def check(patient: Patient) -> Iterator[Finding]:
    """Say how often which errors were noted, and when the last one was."""
    noted = last_errors(patient.folder)
    if not noted:
        yield Finding(NAME, "ok", "none was noted")
        return
    kinds = Counter(f"{line.get('error')} while {line.get('where')}" for line in noted)
    told = ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common(KINDS_MAX))
    detail = f"{len(noted)} were noted, the last {noted[-1].get('at')}: {told}"
    yield Finding(NAME, "look", detail, advice=ADVICE)
