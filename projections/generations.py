"""Generations of one projection in its folder, and which of them serves.

`<folder>/<generation>/` holds a build, `<folder>/CURRENT` the name of the serving one, replaced
atomically. Folders are never renamed: readers keep what they have open. One that was found damaged
stays for whoever wants to know why, with a file that says so, until `doctor --fix` removes it.
"""

import json
import os
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from mnemolog.schemas.errors import Damaged, MnemologError, NewerRelease
from mnemolog.schemas.refusals import refused

CURRENT: Final = "CURRENT"
DESCRIPTION: Final = "generation.json"
SET_ASIDE: Final = "SET-ASIDE"  # in a generation that was found damaged: why
GENERATIONS_MAX: Final = 999_999
_NAME = re.compile(r"\d{6}")


@dataclass(frozen=True, slots=True)
class Description:
    """What a generation was built by and for."""

    projection: str
    version: int  # of the fold
    topic: str
    partitions: int
    options: dict[str, Any]  # what else shapes its content, such as the embedder


class Generations:
    """The generations of one projection."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def serving(self) -> Path | None:
        """Return the serving generation's folder, or None if none serves.

        None serves before the first, and where CURRENT or the folder that it names is gone or no
        longer what we wrote: the log brings it back. Raises StoreUnavailable if the disk refuses.
        """
        with speaking_of_files(self.folder / CURRENT):
            try:
                name = (self.folder / CURRENT).read_bytes().decode("ascii", "replace").strip()
            except (FileNotFoundError, IsADirectoryError):
                return None
            found = self.folder / name
            return found if _NAME.fullmatch(name) and found.is_dir() else None

    def create(self, description: Description) -> Path:
        """Make the folder of a new generation, with its description, and return it."""
        name = f"{max([0, *map(int, self.names())]) + 1:06}"
        made = self.folder / name
        with speaking_of_files(made):
            made.mkdir(parents=True)
        write_whole(made / DESCRIPTION, json.dumps(asdict(description), indent=2).encode())
        return made

    def serve(self, generation: Path) -> None:
        """Let *generation* be the serving one, from one moment to the next."""
        assert generation.parent == self.folder
        write_whole(self.folder / CURRENT, generation.name.encode())

    def names(self) -> list[str]:
        """Return the names of all generations, oldest first."""
        with speaking_of_files(self.folder):
            if not self.folder.is_dir():
                return []
            return sorted(path.name for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def set_aside(self, generation: Path, reason: str) -> None:
        """Say in *generation* why it no longer serves, if the disk takes it."""
        with suppress(MnemologError):
            write_whole(generation / SET_ASIDE, reason.encode(errors="backslashreplace"))

    def discard(self, generation: Path) -> None:
        """Delete a generation that does not serve."""
        assert generation != self.serving()
        shutil.rmtree(generation, ignore_errors=True)


def described(generation: Path) -> Description:
    """Return the description of *generation*.

    Raises Damaged if it has none that can be read, NewerRelease if it says more than this code
    knows, StoreUnavailable if the disk refuses.
    """
    path = generation / DESCRIPTION
    try:
        told = json.loads(path.read_bytes())
        unknown = sorted(told.keys() - {field.name for field in fields(Description)})
        if unknown:
            reason = f"it has {', '.join(unknown)}, of which this one knows nothing"
            raise NewerRelease(str(path), reason)
        return _checked(Description(**told))
    except (FileNotFoundError, IsADirectoryError, ValueError, TypeError, AttributeError) as error:
        raise Damaged(str(path), str(error)) from error
    except OSError as error:
        raise refused(str(path), error) from error


def _checked(found: Description) -> Description:
    numbers, texts = (found.version, found.partitions), (found.projection, found.topic)
    if not all(isinstance(number, int) for number in numbers):
        raise TypeError("a version or a number of partitions is no number")
    if not all(isinstance(text, str) for text in texts) or not isinstance(found.options, dict):
        raise TypeError("a name or the options are not what was written")
    return found


def write_whole(path: Path, content: bytes) -> None:
    """Write *content* to *path* so that readers find the former content or all of this one.

    Raises StoreUnavailable if the disk refuses; then no draft is left. Several may write it at
    once: a draft is named by its thread and its process.
    """
    draft = path.with_name(f".{path.name}.{threading.get_ident()}.{os.getpid()}.draft")
    with speaking_of_files(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with draft.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            clear_the_way(path)
            draft.replace(path)
        except BaseException:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
            raise


def clear_the_way(path: Path) -> None:
    """Move a folder aside that stands where the file *path* belongs: it is none of ours."""
    if path.is_dir():
        number = sum(1 for _ in path.parent.glob(f"{path.name}.in-the-way*"))
        path.rename(path.with_name(f"{path.name}.in-the-way-{number + 1}"))


@contextmanager
def speaking_of_files(path: Path) -> Iterator[None]:
    """Turn what the system says of files into ours."""
    try:
        yield
    except OSError as error:
        raise refused(str(path), error) from error
