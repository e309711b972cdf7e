"""The repository's own files, as tests about the repository see them."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
STAGES: Final = ("schemas", "projections", "streams", "replay")  # in the order of imports
SOURCE_FOLDERS: Final = (*STAGES, "src/mnemolog")
OTHER_FOLDERS: Final = ("tests", "bench", "examples")


def python_files(*folders: str) -> Iterator[Path]:
    """Yield the Python files of *folders*, each once: what hangs on a link is not walked."""
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if not any(parent.is_symlink() for parent in path.parents):
                yield path


def name_of(path: Path) -> str:
    """Return *path* as the repository writes it: from its root, with slashes."""
    return path.relative_to(ROOT).as_posix()


def tracked_files() -> list[Path]:
    """Return the files under version control that stand in the work tree."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.is_file() and not path.is_symlink()]
