"""Generations of one projection in its folder, and which of them serves.

`<folder>/<generation>/` holds a build, `<folder>/CURRENT` the name of the serving one, replaced
atomically. Folders are never renamed: readers keep what they have open.
"""

import json
import os
import re
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from mnemolog.schemas.errors import Damaged

CURRENT: Final = "CURRENT"
DESCRIPTION: Final = "generation.json"
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
        """Return the serving generation's folder, or None if none serves yet."""
        try:
            name = (self.folder / CURRENT).read_text().strip()
        except FileNotFoundError:
            return None
        found = self.folder / name
        if not _NAME.fullmatch(name) or not found.is_dir():
            return None  # its folder was deleted: the log brings it back
        return found

    def create(self, description: Description) -> Path:
        """Make the folder of a new generation, with its description, and return it."""
        name = f"{max([0, *map(int, self.names())]) + 1:06}"
        made = self.folder / name
        made.mkdir(parents=True)
        write_whole(made / DESCRIPTION, json.dumps(asdict(description), indent=2).encode())
        return made

    def serve(self, generation: Path) -> None:
        """Let *generation* be the serving one, from one moment to the next."""
        assert generation.parent == self.folder
        write_whole(self.folder / CURRENT, generation.name.encode())

    def names(self) -> list[str]:
        """Return the names of all generations, oldest first."""
        if not self.folder.is_dir():
            return []
        return sorted(path.name for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def discard(self, generation: Path) -> None:
        """Delete a generation that does not serve."""
        assert generation != self.serving()
        shutil.rmtree(generation, ignore_errors=True)


def described(generation: Path) -> Description:
    """Return the description of *generation*. Raises Damaged if it has none that can be read."""
    path = generation / DESCRIPTION
    try:
        return Description(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise Damaged(str(path), str(error)) from error


def write_whole(path: Path, content: bytes) -> None:
    """Write *content* to *path* so that readers find the former content or all of this one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.draft")
    with draft.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
