"""Whether the log still holds what the projections were built from."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.ledgers import last_applied
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import HistoryLost, LogReplaced
from mnemolog.streams.continuity import check_continuity

NAME: Final = "continuity"
RESTORE: Final = (
    "Records that were acknowledged are gone from the log, or it is another log: restore it from a"
    " backup. To go on with what it holds, on purpose: `mnemolog rebuild`."
)


def check(patient: Patient) -> Iterator[Finding]:
    """Name the projections that know more than the log, or another one."""
    if patient.engine is None:
        return
    for name in NAMES:
        try:
            last = last_applied(patient.engine, name)
            check_continuity(patient.engine.log, last_applied=last)
        except LogReplaced as error:
            yield Finding(NAME, "bad", f"{name}: {error}", advice=RESTORE)
        except HistoryLost as error:
            yield Finding(NAME, "bad", f"{name}: {error}", advice=error.hint)
