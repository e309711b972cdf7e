"""Whether each projection's serving generation is ours to write, and what others are left over."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from mnemolog.doctor.finding import Finding, Repair
from mnemolog.doctor.patient import Patient
from mnemolog.doctor.repairs import BY_FIX, rebuilding
from mnemolog.projections.generations import CURRENT, SET_ASIDE, Generations, described
from mnemolog.projections.kinds import NAMES, VERSIONS
from mnemolog.schemas.errors import Damaged, NewerRelease, StoreUnavailable
from mnemolog.sizes import bytes_below

NAME: Final = "generations"


def check(patient: Patient) -> Iterator[Finding]:
    """Name generations that can't be written, that were set aside, and that nobody finished."""
    for name in NAMES:
        try:
            yield from _of(patient, name)
        except StoreUnavailable as error:
            bundled = f"the generations of {name} can't be read now"
            yield Finding(NAME, "bad", f"{name}: {error}", advice=error.hint, bundled=bundled)


def _of(patient: Patient, name: str) -> Iterator[Finding]:
    generations = Generations(patient.folder / name)
    serving = generations.serving()
    if serving is not None:
        yield from _of_serving(patient, name, serving)
    elif generations.names():
        detail = f"{name}: {CURRENT} names no generation that is there"
        yield _to_rebuild(patient, name, detail)
    yield from _left_over(patient, generations)


def _of_serving(patient: Patient, name: str, serving: Path) -> Iterator[Finding]:
    try:
        version = described(serving).version
    except NewerRelease as error:
        bundled = f"{name} was written by a later release"
        yield Finding(NAME, "bad", f"{name}: {error}", advice=error.hint, bundled=bundled)
        return
    except Damaged as error:
        yield _to_rebuild(patient, name, f"{name}: {error}", bundled=f"{name} is not described")
        return
    if version > VERSIONS[name]:
        detail = f"{name} serves version {version}; this release folds {VERSIONS[name]}"
        yield Finding(NAME, "bad", detail, advice=NewerRelease.hint)
    elif version < VERSIONS[name]:
        detail = f"{name} serves version {version}; this release folds {VERSIONS[name]}"
        yield _to_rebuild(patient, name, detail)


def _to_rebuild(patient: Patient, name: str, detail: str, *, bundled: str | None = None) -> Finding:
    advice, repair = rebuilding(patient, name)
    return Finding(NAME, "bad", detail, advice=advice, repair=repair, bundled=bundled)


def _left_over(patient: Patient, generations: Generations) -> Iterator[Finding]:
    serving = generations.serving()
    name = generations.folder.name
    for found in generations.names():
        folder = generations.folder / found
        repair = Repair(f"remove {name}/{found}", partial(_remove, patient, folder))
        size = f"{bytes_below(folder) / 2**20:.1f} MiB"
        if folder == serving:
            continue
        if (folder / SET_ASIDE).exists():
            detail = f"{name}/{found} was found damaged and set aside, {size}"
            yield Finding(NAME, "look", detail, advice=f"Nobody reads it. {BY_FIX}", repair=repair)
        elif serving is not None and found > serving.name and not patient.is_kept:
            detail = f"{name}/{found} was begun by a rebuild that did not end, {size}"
            yield Finding(NAME, "look", detail, advice=f"Nobody reads it. {BY_FIX}", repair=repair)


def _remove(patient: Patient, folder: Path) -> str:
    generations = Generations(folder.parent)
    with patient.kept_free():  # a rebuild that is under way looks like one that did not end
        size = bytes_below(folder)
        if folder.exists() and folder != generations.serving():
            generations.discard(folder)
    return f"{size / 2**20:.1f} MiB are free again"
