"""From what a person names to files: each itself, a folder's, a pattern's, or standard input.

Nothing is opened here. Names that begin with a dot, and folders behind links, are left alone.
"""

import glob
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemolog.importers.base import Problem

STDIN: Final = "-"


@dataclass(frozen=True, slots=True)
class Named:
    """A file to read; `outright` says that it was named and did not just lie there."""

    path: str
    outright: bool


def named_files(paths: Iterable[str | Path]) -> Iterator[Named | Problem]:
    """Yield the files of *paths* in order, those of a folder or pattern by name.

    A path that exists is no pattern, whatever it is called.
    """
    for path in (os.fspath(path) for path in paths):
        if path == STDIN or os.path.lexists(path) or not glob.has_magic(path):
            yield from _found(path, outright=True)
        else:
            yield from _matching(path)


def _matching(pattern: str) -> Iterator[Named | Problem]:
    # Path.glob takes no absolute pattern.
    matches = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 - see above
    if not matches:
        yield Problem(pattern, "pattern", "no file matches")
    for path in matches:
        yield from _found(path, outright=False)


def _found(path: str, *, outright: bool) -> Iterator[Named | Problem]:
    if path == STDIN or not os.path.isdir(path):  # noqa: PTH112 - Path's raises for odd names
        yield Named(path, outright=outright)
    else:
        yield from _inside(Path(path))


def _inside(folder: Path) -> Iterator[Named | Problem]:
    try:
        children = sorted(child for child in folder.iterdir() if child.name[:1] != ".")
    except OSError as error:
        yield Problem(str(folder), "folder", error.strerror or str(error))
        return
    for child in children:
        if child.is_file():
            yield Named(str(child), outright=False)
        elif child.is_dir() and not child.is_symlink():
            yield from _inside(child)
