"""Which errors were noted lately."""

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final

from mnemolog.doctor.finding import Finding, State
from mnemolog.doctor.patient import Patient
from mnemolog.engine import present
from mnemolog.error_log import FILE, last_errors

NAME: Final = "errors"
KINDS_MAX: Final = 5
RECENT: Final = timedelta(days=7)
ADVICE: Final = (
    f"{FILE} in the tenant's folder has the lines of code; --bundle takes them along. What is older"
    f" than {RECENT.days} days is only counted."
)


def check(patient: Patient) -> Iterator[Finding]:
    """Say how often which errors were noted, and when the last one was."""
    noted = last_errors(patient.folder)
    if not noted:
        yield Finding(NAME, "ok", "none was noted")
        return
    kinds = Counter(f"{line.get('error')} while {line.get('where')}" for line in noted)
    told = ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common(KINDS_MAX))
    detail = f"{len(noted)} were noted, the last {noted[-1].get('at')}: {told}"
    state: State = "look" if _is_recent(noted[-1]) else "ok"
    yield Finding(NAME, state, detail, advice=ADVICE, bundled=f"{len(noted)} were noted")


def _is_recent(line: dict[str, Any]) -> bool:
    """Say whether *line* was noted lately; one that says no time may have been."""
    try:
        return datetime.fromisoformat(str(line.get("at"))) > present() - RECENT
    except (ValueError, TypeError):
        return True
