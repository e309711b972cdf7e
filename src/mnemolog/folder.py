"""What a tenant's folder says of itself: the format in which a release wrote it.

A release that changes the folder so that earlier ones would misread or spoil it raises `FORMAT`;
those then refuse the folder by name, before they touch anything. Log, generations and the vector
cache carry formats of their own, too.
"""

import importlib.metadata
import json
from pathlib import Path
from typing import Any, Final

from mnemolog.projections.generations import write_whole
from mnemolog.schemas.errors import NewerRelease
from mnemolog.schemas.refusals import refused

FORMAT: Final = 1
FORMAT_FILE: Final = "mnemolog.json"


def check_format(folder: Path) -> None:
    """Raise NewerRelease if a later release wrote *folder*; one that says nothing is ours."""
    told = _told(folder)
    found = told.get("format")
    if isinstance(found, int) and found > FORMAT:
        release = f"mnemolog {told.get('release', '?')}"
        raise NewerRelease(str(folder), f"{release} made format {found}; this one reads {FORMAT}")


def note_format(folder: Path) -> None:
    """Say in *folder* which format it has, where that isn't said yet or can't be read any more."""
    if _told(folder).get("format") != FORMAT:
        told = {"format": FORMAT, "release": importlib.metadata.version("mnemolog")}
        write_whole(folder / FORMAT_FILE, json.dumps(told).encode())


def _told(folder: Path) -> dict[str, Any]:
    path = folder / FORMAT_FILE
    try:
        told = json.loads(path.read_bytes())
    except (FileNotFoundError, IsADirectoryError, ValueError):
        return {}
    except OSError as error:
        raise refused(str(path), error) from error
    return told if isinstance(told, dict) else {}
