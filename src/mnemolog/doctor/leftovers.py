"""What deaths and troubles left in the folder: drafts, spilt rows, what stood in the way."""

import os
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

from mnemolog.doctor.finding import Finding, Repair
from mnemolog.doctor.patient import Patient
from mnemolog.doctor.repairs import BY_FIX
from mnemolog.engine import BLOBS_FOLDER
from mnemolog.projections.generations import speaking_of_files
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import NewerRelease
from mnemolog.sizes import bytes_below

NAME: Final = "leftovers"
_WRITTEN_WHOLE: Final = re.compile(r"\..+\.\d+\.(\d+)\.draft")  # thread and process at its end
LOOK_YOURSELF: Final = "It is not ours: look what it is, and move it away."


def check(patient: Patient) -> Iterator[Finding]:
    """Name drafts that nobody is writing any more, and folders that were moved out of the way."""
    if not patient.folder.is_dir():
        return
    for path in sorted(patient.folder.rglob("*.in-the-way-*")):
        detail = f"{path.relative_to(patient.folder)} stood where a file of ours belongs"
        bundled = "something stood where a file of ours belongs"
        yield Finding(NAME, "look", detail, advice=LOOK_YOURSELF, bundled=bundled)
    is_left_alone = patient.is_kept or isinstance(patient.refusal, NewerRelease)
    drafts = [] if is_left_alone else list(_drafts(patient.folder))
    if drafts:
        size = sum(_size(path) for path in drafts) / 2**20
        repair = Repair("remove drafts that deaths left", partial(_remove, patient))
        detail = f"{len(drafts)} drafts that nobody finishes, {size:.1f} MiB"
        yield Finding(NAME, "look", detail, advice=BY_FIX, repair=repair)


def _drafts(folder: Path) -> Iterator[Path]:
    """Yield drafts of files that we write whole, and what tables spilt to the disk.

    A draft names the process that writes it, or stands where only the keeper writes. Those of
    blobs do neither: `blobs` tells of them. What somebody else calls a draft is theirs.
    """
    from mnemolog.projections.analytics.publishing import (  # noqa: PLC0415 - DuckDB is heavy
        published_folder,
    )

    for path in folder.rglob(".*.draft"):
        written = _WRITTEN_WHOLE.fullmatch(path.name)
        if written and not _lives(int(written[1])) and not _is_of_a_blob(path, folder):
            yield path
    yield from published_folder(folder).rglob(".*.draft*")
    for name in NAMES:
        yield from (folder / name).glob("*/spilt")


def _is_of_a_blob(path: Path, folder: Path) -> bool:
    return path.relative_to(folder).parts[0] == BLOBS_FOLDER


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # another user's
    return True


def _size(path: Path) -> int:
    if path.is_dir():
        return bytes_below(path)
    return path.stat().st_size if path.exists() else 0


def _remove(patient: Patient) -> str:
    with patient.kept_free():
        drafts = list(_drafts(patient.folder))
        for path in drafts:
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with speaking_of_files(path):
                    path.unlink(missing_ok=True)
    return f"{len(drafts)} removed"
