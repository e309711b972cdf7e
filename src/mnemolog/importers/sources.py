"""From what a person names to files: each itself, a folder's, a pattern's, or standard input.

Nothing is opened here, so that a pipe that lies somewhere stops nobody. Names that begin with a
dot, and folders behind links, are left alone: a loop of links ends.
"""

import glob
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemolog.importers.base import Problem

STDIN: Final = "-"
_DEEP: Final = "**"


@dataclass(frozen=True, slots=True)
class Named:
    """A file to read; `outright` says that it was named and did not just lie there."""

    path: str
    outright: bool


def named_files(paths: Iterable[str | Path]) -> Iterator[Named | Problem]:
    """Yield the files of *paths* in order, those of a folder or pattern by name.

    A path that exists is no pattern, whatever it is called.
    """
    for path in paths:
        yield from files_of(os.fspath(path))


def files_of(path: str) -> Iterator[Named | Problem]:
    """Yield the files of one path, in an order that is the same every time."""
    if path != STDIN and not os.path.lexists(path) and glob.has_magic(path):
        yield from _matching(path)
    elif path != STDIN and _is_folder(path):
        yield from _inside(path)
    else:
        yield Named(path, outright=True)


def _matching(pattern: str) -> Iterator[Named | Problem]:
    """Yield what *pattern* matches, each file once, or that nothing does."""
    told: set[str] = set()
    for path in sorted(_matches(pattern)):
        for found in _inside(path) if _is_folder(path) else _lying(path):
            name = found.path if isinstance(found, Named) else found.file
            if name not in told:
                told.add(name)
                yield found
    if not told:
        yield Problem(pattern, "pattern", "no file matches")


def _matches(pattern: str) -> set[str]:
    """Return the paths that match. "**" is any number of folders, none of them behind a link."""
    parts = pattern.split("/")
    if _DEEP not in parts:
        return set(glob.glob(pattern))  # noqa: PTH207 - Path.glob takes no absolute pattern
    at = parts.index(_DEEP)
    above, below = "/".join(parts[:at]), parts[at + 1 :]
    bases = glob.glob(above or "/") if at else [""]  # noqa: PTH207 - see above
    if not below:
        return {base or os.curdir for base in bases if _is_folder(base or os.curdir)}
    found: set[str] = set()
    for folder in (folder for base in bases for folder in _walked(base)):
        above = f"{glob.escape(folder).rstrip('/')}/" if folder else ""
        found |= _matches(above + "/".join(below))
    return found


def _walked(base: str) -> Iterator[str]:
    """Yield *base*, "" for where we are, and the folders in it, without what hides."""
    waiting = [base]
    while waiting:
        folder = waiting.pop()
        yield folder
        with suppress(OSError), os.scandir(folder or os.curdir) as inner:
            waiting += [
                str(Path(folder, one.name))
                for one in inner
                if one.name[:1] != "." and one.is_dir(follow_symlinks=False)
            ]


def _inside(top: str) -> Iterator[Named | Problem]:
    """Yield the files of a folder and of those in it, by name, however deep they lie."""
    waiting = [_children(top)]
    while waiting:
        child = next(waiting[-1], None)
        if child is None:
            waiting.pop()
        elif isinstance(child, Problem):
            yield child
        elif not os.path.islink(child) and _is_folder(child):  # noqa: PTH114 - Path's raises
            waiting.append(_children(child))
        else:
            yield from _lying(child)


def _children(folder: str) -> Iterator[str | Problem]:
    try:
        names = sorted(name for name in os.listdir(folder) if name[:1] != ".")  # noqa: PTH208 - texts
    except OSError as error:
        yield Problem(folder, "folder", error.strerror or str(error))
        return
    for name in names:
        yield str(Path(folder, name))


def _lying(path: str) -> Iterator[Named]:
    """Yield a file that was not named itself; no pipe, device or link that leads nowhere."""
    try:
        is_file = stat.S_ISREG(Path(path).stat().st_mode)
    except PermissionError:
        is_file = True  # who opens it says why it can't be read
    except OSError:
        is_file = False
    if is_file:
        yield Named(path, outright=False)


def _is_folder(path: str) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - Path's raises for odd names
