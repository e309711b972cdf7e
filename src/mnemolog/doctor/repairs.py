"""What several checks mend in the same way: a projection is built anew from the log."""

from functools import partial

from mnemolog.doctor.finding import Repair
from mnemolog.doctor.patient import Patient
from mnemolog.engine import Engine
from mnemolog.maintaining import rebuild
from mnemolog.settings import Settings

BY_FIX = "`mnemolog doctor --fix` does it."


def rebuilding(patient: Patient, name: str) -> Repair:
    """Return the repair that builds the projection *name* anew from the log, and lets it serve."""
    return Repair(f"build {name} anew from the log", partial(_rebuild, patient.settings, name))


def _rebuild(settings: Settings, name: str) -> str:
    engine = Engine(settings, rebuilding=[name])
    try:
        (built,) = rebuild(engine, [name], tell=lambda _: None)
    finally:
        engine.close()
    return f"generation {built.generation} serves, {built.rows} rows"
