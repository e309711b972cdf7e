"""How full the disk is, and from when on work that can wait has to.

Two marks, in shares of what users may fill. Beyond the first `status` warns. Beyond the second
rebuilds, verification, compaction and publishing don't begin, so that what room is left stays
for the log: appends and folds go on until the disk is full.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from mnemolog.schemas.errors import NoRoom
from mnemolog.schemas.refusals import refused

WARN_SHARE: Final = 0.80
REFUSE_SHARE: Final = 0.95


class Usage(NamedTuple):
    """Bytes of a file system: those in use, and those that users may still fill."""

    used: int
    free: int

    @property
    def share(self) -> float:
        """The used share of what users may fill, as `df` tells it; a disk of no size is full."""
        return self.used / (self.used + self.free) if self.used + self.free else 1.0


def usage_of(folder: Path) -> Usage:
    """Return the usage of the file system that holds *folder*, or would hold it.

    Raises StoreUnavailable if the disk refuses to say.
    """
    try:
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        found = shutil.disk_usage(existing)
    except OSError as error:
        raise refused(str(folder), error) from error
    return Usage(found.used, found.free)


@dataclass(frozen=True, slots=True)
class Room:
    """The two marks, and how the usage is found."""

    warn_share: float = WARN_SHARE
    refuse_share: float = REFUSE_SHARE
    usage_of: Callable[[Path], Usage] = usage_of

    def warns(self, folder: Path) -> bool:
        """Say whether the disk of *folder* is beyond the first mark."""
        return self.usage_of(folder).share >= self.warn_share

    def is_there(self, folder: Path) -> bool:
        """Say whether work that can wait may begin."""
        return self.usage_of(folder).share < self.refuse_share

    def check(self, folder: Path, what: str, *, bytes_wanted: int = 0) -> None:
        """Raise NoRoom if *what* must not begin, or would go beyond the mark with its bytes."""
        now = self.usage_of(folder)
        then = Usage(now.used + bytes_wanted, now.free - bytes_wanted)
        if then.share >= self.refuse_share:
            more = f", {bytes_wanted / 2**20:.0f} MiB more would be written" if bytes_wanted else ""
            reason = f"{now.share:.0%} of the disk is used{more}; {what} waits from"
            raise NoRoom(str(folder), f"{reason} {self.refuse_share:.0%} on")
