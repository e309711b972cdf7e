"""What a tenant's folder says of itself: in which format, and whether its log is still there.

A release that changes the folder so that earlier ones would misread or spoil it raises `FORMAT`;
those then refuse the folder by name, before they touch anything. Log, generations and the vector
cache carry formats of their own, too.
"""

import importlib.metadata
import json
from pathlib import Path
from typing import Any, Final

from mnemolog.projections.generations import Generations, write_whole
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import LogReplaced, NewerRelease
from mnemolog.schemas.refusals import refused
from mnemolog.streams.log import topic_of
from mnemolog.streams.opening import LOG_FILE

LOG_FOLDER: Final = "log"  # of the embedded log
FORMAT: Final = 1
FORMAT_FILE: Final = "mnemolog.json"


def check_format(folder: Path) -> None:
    """Raise NewerRelease if a later release wrote *folder*; one that says nothing is ours."""
    told = _told(folder)
    found = told.get("format")
    if isinstance(found, int) and found > FORMAT:
        release = f"mnemolog {told.get('release', '?')}"
        raise NewerRelease(str(folder), f"{release} made format {found}; this one reads {FORMAT}")


def check_log_is_there(folder: Path, tenant: str) -> None:
    """Raise LogReplaced where a new log would be made beside what was built from a former one.

    Whoever wants that rebuilds all on purpose.
    """
    path = folder / LOG_FOLDER / LOG_FILE
    if path.exists() and (not path.is_file() or path.stat().st_size):
        return
    built = [name for name in NAMES if Generations(folder / name).serving() is not None]
    if built:
        reason = f"{path} is gone; {', '.join(built)} were built from it and are still here"
        raise LogReplaced(topic_of(tenant), partition=0, offset=0, reason=reason)


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
