"""What several checks mend in the same way: a projection is built anew from the log."""

from functools import partial
from pathlib import Path
from typing import Final

from mnemolog.doctor.finding import Repair
from mnemolog.doctor.patient import Patient
from mnemolog.engine import Engine
from mnemolog.folder import check_log_is_there
from mnemolog.maintaining import rebuild
from mnemolog.projections.kinds import NAMES
from mnemolog.settings import Settings

BY_FIX: Final = "`mnemolog doctor --fix` does it."
FIRST_THE_LOG: Final = "The log brings it back, once that can be opened."


def rebuilding(patient: Patient, name: str) -> tuple[str, Repair | None]:
    """Return what to do about the projection *name*, and the repair: it is built from the log.

    None where there is no log to build it from: what is there may be all that is left.
    """
    if patient.engine is None:
        return FIRST_THE_LOG, None
    run = partial(_rebuild, patient.settings, patient.folder, name)
    return BY_FIX, Repair(f"build {name} anew from the log", run)


def _rebuild(settings: Settings, folder: Path, name: str) -> str:
    if not settings["log"]:
        check_log_is_there(folder, settings.tenant)  # a new one would have it built empty
    engine = Engine(settings, rebuilding=NAMES)  # others that can't be opened keep none from it
    try:
        (built,) = rebuild(engine, [name], tell=lambda _: None)
    finally:
        engine.close()
    return f"generation {built.generation} serves, {built.rows} rows"
