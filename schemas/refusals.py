"""What to say where the system refused a file: which store, why, and what to do about it."""

import errno
from typing import Final

from mnemolog.schemas.errors import StoreUnavailable

HINT_FULL: Final = "Make room on the disk and try again; what was acknowledged is there."
HINT_RIGHTS: Final = (
    "May this user write there, and is it mounted for writing? `mnemolog doctor` names what"
    " can't be written; read_only=True needs no right to write."
)
HINT_IN_THE_WAY: Final = "Move away what stands there; it is not ours."


def refused(store: str, error: OSError) -> StoreUnavailable:
    """Return what to raise where the system refused a file, with a hint that fits the reason."""
    reason = error.strerror or str(error)
    if error.filename is not None and str(error.filename) != store:
        reason = f"{reason}: {error.filename}"
    return StoreUnavailable(store, reason, hint=_HINTS.get(error.errno or 0))


_HINTS: Final = {
    errno.ENOSPC: HINT_FULL,
    errno.EDQUOT: HINT_FULL,
    errno.EFBIG: HINT_FULL,
    errno.EACCES: HINT_RIGHTS,
    errno.EPERM: HINT_RIGHTS,
    errno.EROFS: HINT_RIGHTS,
    errno.EISDIR: HINT_IN_THE_WAY,
    errno.ENOTDIR: HINT_IN_THE_WAY,
    errno.EEXIST: HINT_IN_THE_WAY,
}
