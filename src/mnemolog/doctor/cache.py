"""Whether the vector cache can be read, and what a damaged one left."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from mnemolog.doctor.finding import Finding, Repair
from mnemolog.doctor.patient import Patient
from mnemolog.doctor.repairs import BY_FIX
from mnemolog.projections.generations import speaking_of_files
from mnemolog.projections.kinds import VECTORS_FILE
from mnemolog.projections.memories.sqlite_vector_cache import (
    DAMAGED_SUFFIX,
    SQLiteVectorCache,
    faults_of,
)
from mnemolog.schemas.errors import Damaged, NewerRelease
from mnemolog.sizes import bytes_below

NAME: Final = "vector cache"


def check(patient: Patient) -> Iterator[Finding]:
    """Say how many vectors it has, or what is wrong with it."""
    path = patient.folder / VECTORS_FILE
    try:
        count = faults_of(path)
    except NewerRelease as error:
        bundled = "it was written by a later release"
        yield Finding(NAME, "bad", str(error), advice=error.hint, bundled=bundled)
    except Damaged as error:
        repair = Repair("begin the vector cache anew", partial(_begin_anew, path))
        advice = f"Vectors are made again where they are wanted. {BY_FIX}"
        bundled = "it is damaged"
        yield Finding(NAME, "bad", str(error), advice=advice, repair=repair, bundled=bundled)
    else:
        yield Finding(NAME, "ok", f"{count} vectors")
    yield from _set_aside(path)


def _set_aside(path: Path) -> Iterator[Finding]:
    left = sorted(path.parent.glob(f"{path.name}{DAMAGED_SUFFIX}*"))
    if left:
        repair = Repair("remove the damaged vector cache", partial(_remove, left))
        detail = f"{left[0].name} was found damaged and set aside"
        yield Finding(NAME, "look", detail, advice=f"Nobody reads it. {BY_FIX}", repair=repair)


def _begin_anew(path: Path) -> str:
    """Set a damaged cache aside, as any process does that comes across the damage."""
    cache = SQLiteVectorCache(path)
    try:
        return f"{cache.set_aside_if_damaged()} vectors are left"
    finally:
        cache.close()


def _remove(paths: list[Path]) -> str:
    for path in paths:
        if path.is_file():
            with speaking_of_files(path):
                path.unlink(missing_ok=True)
    left = sum(bytes_below(path) for path in paths)
    return "removed" if not left else "what is no file of ours was left"
