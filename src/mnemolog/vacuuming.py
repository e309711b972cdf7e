"""Old generations leave the disk: those that were replaced long ago, and builds that nobody ended.

What serves, what was replaced a while ago (a rollback may want it) and what was set aside as
damaged (`doctor --fix` removes it) stay. No content is decided here: the log has all of it.
"""

from collections.abc import Iterator
from pathlib import Path

import structlog

from mnemolog.engine import Engine
from mnemolog.projections.generations import CURRENT, SET_ASIDE, Generations
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import StoreUnavailable

_log = structlog.get_logger("mnemolog.upkeep")


def vacuum(engine: Engine, *, present: float, retired_seconds: float) -> list[Path]:
    """Delete what was replaced, or left unfinished, more than *retired_seconds* before *present*.

    *present* is in seconds since 1970, as files have it. Does nothing where another process keeps
    the folder, or while something is rebuilt. Raises StoreUnavailable for what can't be deleted.
    """
    if not engine.is_owner or not engine.maintaining.acquire(blocking=False):
        return []
    try:
        every = [engine.shelf.generations(name) for name in NAMES]
        return [
            _deleted(generations, folder)
            for generations in every
            for folder in _worn(generations, before=present - retired_seconds)
        ]
    finally:
        engine.maintaining.release()


def _worn(generations: Generations, *, before: float) -> Iterator[Path]:
    serving = generations.serving()
    if serving is None:
        return
    swapped = (generations.folder / CURRENT).stat().st_mtime
    for name in generations.names():
        folder = generations.folder / name
        if folder == serving or (folder / SET_ASIDE).exists():
            continue
        since = swapped if name < serving.name else folder.stat().st_mtime
        if since < before:
            yield folder


def _deleted(generations: Generations, folder: Path) -> Path:
    generations.discard(folder)
    if folder.exists():
        raise StoreUnavailable(str(folder), "it can't be deleted", hint="Look at its rights.")
    _log.info("old generation deleted", projection=generations.folder.name, generation=folder.name)
    return folder
