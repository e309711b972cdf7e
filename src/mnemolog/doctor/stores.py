"""Whether every store of what serves can be read, to its last page."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Final

from mnemolog.doctor.finding import Finding, Repair
from mnemolog.doctor.patient import Patient
from mnemolog.doctor.reading import read_whole
from mnemolog.doctor.repairs import BY_FIX, rebuilding
from mnemolog.engine import LEASE_FILE, Engine
from mnemolog.maintaining import owned
from mnemolog.projections.analytics.set_aside import read_set_aside
from mnemolog.projections.checkpoints.checking import damaged_files
from mnemolog.projections.generations import described
from mnemolog.projections.kinds import ANALYTICS, CHECKPOINTS, MEMORIES, WEIGHTS
from mnemolog.schemas.errors import Damaged, LeaseHeld, MnemologError, StoreUnavailable
from mnemolog.settings import Settings

NAME: Final = "stores"
DEEPER: Final = "To compare content with the log, too: `mnemolog verify`."
OF_ITS_KEEPER: Final = "its keeper has it open and counts its rows with each opening"

Look = Callable[[Path], None]  # raises Damaged


def check(patient: Patient) -> Iterator[Finding]:
    """Read every store of what serves; what its keeper is writing is left to it."""
    for name, looks in _LOOKS.items():
        try:
            serving = patient.serving(name)
        except StoreUnavailable:
            continue  # `generations` tells of it
        if serving is None:
            continue
        try:
            is_whole = _look(patient, serving, looks)
        except Damaged as error:
            detail, bundled = f"{name}: {error}", f"{name} is damaged"
            advice, repair = rebuilding(patient, name)
            yield Finding(NAME, "bad", detail, advice=advice, repair=repair, bundled=bundled)
        except MnemologError as error:
            detail, bundled = f"{name}: {error}", f"{name} can't be read now"
            yield Finding(NAME, "bad", detail, advice=error.hint, bundled=bundled)
        else:
            found = "can be read whole" if is_whole else f"is sound as far as seen; {OF_ITS_KEEPER}"
            yield Finding(NAME, "ok", f"{name} {found}", advice=DEEPER)
            if name == ANALYTICS:
                yield from _set_aside(patient, serving)


def _set_aside(patient: Patient, serving: Path) -> Iterator[Finding]:
    """Say if what analytics tell of set-aside records can't be read; whoever opens them tells."""
    try:
        read_set_aside(serving)
    except Damaged as error:
        run = partial(_tell_anew, patient.settings)
        repair = Repair("tell anew which records analytics set aside", run)
        yield Finding(
            NAME,
            "bad",
            str(error),
            advice=BY_FIX,
            repair=repair,
            bundled="what is set aside can't be read",
        )


def _tell_anew(settings: Settings) -> str:
    engine = Engine(settings)
    try:
        owned(engine)
    finally:
        engine.close()
    return "it is told"


def _look(patient: Patient, serving: Path, looks: Mapping[Look, bool]) -> bool:
    """Say whether all could be looked at: what needs rest can't be beside a keeper."""
    for look, needs_rest in looks.items():
        try:
            with _at_rest(patient) if needs_rest else nullcontext():
                look(serving)
        except LeaseHeld:
            return False
    return True


def _at_rest(patient: Patient) -> AbstractContextManager[None]:
    """Have nobody begin to write meanwhile: who does now would find a file that is in use."""
    has_lease = (patient.folder / LEASE_FILE).exists()
    return patient.kept_free() if has_lease else nullcontext()


def _sqlite(file: str) -> Look:
    return lambda serving: read_whole(serving / file)


def _index(serving: Path) -> None:
    from mnemolog.projections.memories.checking import check_index  # noqa: PLC0415 - heavy

    dimensions = described(serving).options.get("dimensions")
    if not isinstance(dimensions, int):
        raise Damaged(str(serving), "its description has no dimensions of vectors")
    check_index(serving, dimensions=dimensions)


def _files(serving: Path) -> None:
    found = list(damaged_files(serving))
    if found:
        raise Damaged(f"files of {len(found)} checkpoints", f"the first is {found[0].what}")


def _tables(serving: Path) -> None:
    from mnemolog.projections.analytics.checking import check_closed  # noqa: PLC0415 - heavy
    from mnemolog.projections.analytics.projection import DATABASE  # noqa: PLC0415

    path = serving / DATABASE
    if not path.is_file() or not path.stat().st_size:
        raise Damaged(str(path), "it is gone or empty")
    check_closed(path)


# Projection -> what is looked at, and whether that can't be while somebody writes it.
_LOOKS: Final[Mapping[str, Mapping[Look, bool]]] = {
    MEMORIES: {_sqlite("state.db"): False, _index: True},
    ANALYTICS: {_tables: True},
    CHECKPOINTS: {_sqlite("index.db"): False, _files: False},
    WEIGHTS: {_sqlite("weights.db"): False},
}
