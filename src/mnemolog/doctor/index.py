"""Whether the index of memories is looked after, and whether it has grown out of bounds."""

from collections.abc import Iterator
from typing import Final

from mnemolog.doctor.finding import Finding
from mnemolog.doctor.patient import Patient
from mnemolog.status import IndexStanding, index_standing

NAME: Final = "index"
TIMES_MAX: Final = 20  # as many bytes as the rows have: versions, indices, words
SMALL_BYTES: Final = 67_108_864  # below which nobody minds
MAKE_ROOM: Final = (
    "Appends and answers go on. Is the disk full, or the folder not writable? What projects tries"
    " again by itself; `mnemolog rebuild memories` writes the index anew."
)
REBUILD: Final = "`mnemolog rebuild memories` writes the index anew, without old versions."


def check(patient: Patient) -> Iterator[Finding]:
    """Say how large the index is, and whether its last maintenance failed."""
    if patient.engine is None:
        return
    found = index_standing(patient.engine)
    if found is None:
        return
    size = f"{found.bytes / 2**20:.1f} MiB on disk, {found.live_bytes / 2**20:.1f} MiB in rows"
    if found.failures:
        detail = f"maintenance failed {found.failures} times in a row: {found.error}; {size}"
        bundled = f"maintenance failed {found.failures} times in a row; {size}"
        yield Finding(NAME, "bad", detail, advice=MAKE_ROOM, bundled=bundled)
    elif has_outgrown(found):
        yield Finding(NAME, "look", size, advice=REBUILD)
    else:
        yield Finding(NAME, "ok", size)


def has_outgrown(index: IndexStanding) -> bool:
    """Say whether *index* is far larger than what it serves."""
    return index.bytes > max(SMALL_BYTES, TIMES_MAX * index.live_bytes)
