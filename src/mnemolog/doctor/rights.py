"""Whether this user may write what mnemolog has to write."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient

NAME: Final = "rights"
SHOWN_MAX: Final = 5
GIVE: Final = (
    "Give this user the right to write them (chown, chmod), or mount the disk for writing. To read"
    " alone, open with read_only=True."
)


def check(patient: Patient) -> Iterator[Finding]:
    """Name the first files and folders of the tenant that may not be read or written."""
    if not patient.folder.exists():
        yield from _of_what_will_hold_it(patient.folder)
        return
    refused = [path for path in (patient.folder, *_below(patient.folder)) if not _may_write(path)]
    if refused:
        names = ", ".join(_named(path, patient.folder) for path in refused[:SHOWN_MAX])
        more = f" and {len(refused) - SHOWN_MAX} more" if len(refused) > SHOWN_MAX else ""
        bundled = f"{len(refused)} files or folders may not be written"
        detail = f"may not be written: {names}{more}"
        yield Finding(NAME, "bad", detail, advice=GIVE, bundled=bundled)
    else:
        yield Finding(NAME, "ok", "everything in the folder may be written")


def _of_what_will_hold_it(folder: Path) -> Iterator[Finding]:
    nearest = next(path for path in folder.parents if path.exists())
    if not nearest.is_dir() or not _may_write(nearest):
        reason = "may not be written" if nearest.is_dir() else "is no folder"
        detail = f"{folder} can't be made: {nearest} {reason}"
        yield Finding(NAME, "bad", detail, advice=GIVE, bundled=f"the folder's parent {reason}")


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        yield from (Path(parent, name) for name in (*folders, *files))


def _may_write(path: Path) -> bool:
    wanted = os.R_OK | os.W_OK | (os.X_OK if path.is_dir() else 0)
    return path.is_symlink() or os.access(path, wanted)


def _named(path: Path, folder: Path) -> str:
    return str(path.relative_to(folder)) if path != folder else "the folder itself"
