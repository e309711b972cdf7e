"""Whether there is room on the disk."""

import shutil
from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding, State
from mnemolog.doctor.patient import Patient

NAME: Final = "disk"
DISK_FREE_SHARE_MIN: Final = 0.05


def check(patient: Patient) -> Iterator[Finding]:
    """Say how much of the disk that holds the folder is free."""
    folder = patient.folder
    usage = shutil.disk_usage(folder if folder.exists() else folder.anchor)
    state: State = "ok" if usage.free >= DISK_FREE_SHARE_MIN * usage.total else "bad"
    free, total = usage.free / 2**30, usage.total / 2**30
    yield Finding(NAME, state, f"{free:.1f} of {total:.1f} GiB are free")
