"""A disk of a few mebibytes that can be filled to the last byte, where one may be mounted."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

BALLAST = ".ballast"


class SmallDisk:
    """What is mounted at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def free(self) -> int:
        found = os.statvfs(self.path)
        return found.f_bavail * found.f_frsize

    def fill(self, *, leave: int = 0) -> None:
        """Fill it, and leave so many bytes."""
        self.empty()
        with (self.path / BALLAST).open("wb", buffering=0) as file, suppress(OSError):
            while (left := self.free - leave) > 0:  # others may be writing meanwhile
                file.write(b"\0" * left)

    def fill_to(self, share: float) -> None:
        """Fill it until this share of it is used."""
        self.empty()
        found = os.statvfs(self.path)
        self.fill(leave=int(found.f_blocks * found.f_frsize * (1 - share)))

    def empty(self) -> None:
        """Take away what it was filled with."""
        (self.path / BALLAST).unlink(missing_ok=True)


@contextmanager
def small_disk(path: Path, *, mebibytes: int = 24) -> Iterator[SmallDisk]:
    """Mount a disk at *path*, with what stands there in it; skips where that is not allowed."""
    aside = path.with_name(f"{path.name}.aside")
    if path.exists():
        path.rename(aside)
    path.mkdir(parents=True)
    command = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no mount here")
    if done.returncode:
        pytest.skip(f"this process may not mount a disk: {done.stderr.decode().strip()}")
    try:
        if aside.exists():
            shutil.copytree(aside, path, dirs_exist_ok=True)
        yield SmallDisk(path)
    finally:
        subprocess.run(["umount", "-l", str(path)], check=False)
