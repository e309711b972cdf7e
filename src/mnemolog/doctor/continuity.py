"""Whether the log still holds what the projections were built from."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.ledgers import last_applied
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import Damaged, HistoryLost, LogReplaced, StoreUnavailable
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
    is_whole = True
    for name in NAMES:
        try:
            last = last_applied(patient.engine, name)
            check_continuity(patient.engine.log, last_applied=last)
        except (LogReplaced, HistoryLost) as error:
            advice = RESTORE if isinstance(error, LogReplaced) else error.hint
            bundled = f"{name}: {type(error).__name__}"
            yield Finding(NAME, "bad", f"{name}: {error}", advice=advice, bundled=bundled)
            is_whole = False
        except (Damaged, StoreUnavailable):
            is_whole = False  # `stores` tells of it
    if is_whole:
        yield Finding(NAME, "ok", "the log holds what was applied")
