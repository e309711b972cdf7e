"""A release whose folds changed, on folders that an older one kept.

What the older one built goes on serving, to readers of that release, while a new generation is
built from the log beside it; then the new one serves. Nothing that an older release wrote is
written to.
"""

from collections.abc import Callable
from functools import partial

import structlog

from mnemolog.engine import Engine
from mnemolog.maintaining import rebuild
from mnemolog.replay.rebuilding import Stage
from mnemolog.schemas.errors import InvalidSetting, LogReplaced, NeedsRebuild

_log = structlog.get_logger("mnemolog.worker")


def take_over(engine: Engine) -> bool:
    """Do what `Engine.take_over` does, without what an older fold built: `build_anew` is next."""
    try:
        return engine.take_over()
    except NeedsRebuild:
        engine.rebuilding |= _of_older_folds(engine)
        return engine.take_over()


def build_anew(engine: Engine, *, tell: Callable[[str, Stage], None]) -> None:
    """Build what `take_over` left out, one projection after the other, and let it serve.

    *tell* hears of a projection's progress, and ends it by raising. Raises what a rebuild does.
    """
    for name in sorted(engine.rebuilding):
        _log.info("building anew", tenant=engine.settings.tenant, projection=name)
        (built,) = rebuild(engine, [name], tell=partial(tell, name))
        engine.rebuilding.discard(name)
        _log.info(
            "built anew",
            tenant=engine.settings.tenant,
            projection=name,
            generation=built.generation,
            rows=built.rows,
        )


def _of_older_folds(engine: Engine) -> set[str]:
    """Return the projections whose serving generation an older fold built."""
    found = set()
    for name, kind in engine.kinds().items():
        try:
            engine.shelf.check(kind)
        except NeedsRebuild:
            found.add(name)
        except (InvalidSetting, LogReplaced):
            continue  # another trouble: whoever takes over hears of it
    return found
