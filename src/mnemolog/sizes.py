"""How many bytes a folder takes."""

from pathlib import Path


def bytes_below(folder: Path | None) -> int:
    """Return the bytes of all files below *folder*; what goes away meanwhile counts as nothing."""
    return 0 if folder is None else sum(sizes_below(folder).values())


def sizes_below(folder: Path) -> dict[Path, int]:
    """Return the size of each file below *folder*."""
    sizes: dict[Path, int] = {}
    for path in folder.rglob("*"):
        try:
            if path.is_file():
                sizes[path] = path.stat().st_size
        except OSError:
            continue  # compacted away since it was listed, or not ours to look at
    return sizes
