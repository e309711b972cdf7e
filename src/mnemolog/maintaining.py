"""Rebuild and verify, by the process that keeps the projections."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mnemolog.engine import LEASE_FILE, Engine
from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.fault_points import reached
from mnemolog.projections.kinds import NAMES, Kind
from mnemolog.projections.lease import holder
from mnemolog.projections.projection import Projection
from mnemolog.replay.comparing import Comparison, compare
from mnemolog.replay.rebuilding import Built, Tell, built, fold, follow_up
from mnemolog.schemas.errors import Damaged, InvalidSetting, LeaseHeld, StoreUnavailable
from mnemolog.sizes import bytes_below
from mnemolog.streams.dispatching import Dispatcher
from mnemolog.streams.projecting import Projector


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """A projection that was rebuilt and serves now.

    `comparison` is with the generation that served before, or None where there was none that
    could be compared.
    """

    projection: str
    generation: str
    rows: int
    digest: str
    comparison: Comparison | None


def rebuild(engine: Engine, names: Iterable[str], *, tell: Tell) -> list[Rebuilt]:
    """Rebuild each of *names* from offset 0 beside what serves, compare, and swap.

    What the log says holds: a generation that differed from the rebuilt one is replaced, and
    the difference is in the answer. Raises LeaseHeld if another process keeps this folder,
    Parked, HistoryLost, StoreUnavailable, NoRoom on a disk that is too full.
    """
    dispatcher = owned(engine)
    every = engine.kinds()
    with engine.maintaining:
        return [_rebuild(engine, dispatcher, every[name], tell=tell) for name in checked(names)]


def verify(engine: Engine, names: Iterable[str], *, tell: Tell) -> list[Comparison]:
    """Compare what serves with a fresh fold of the log, projection by projection.

    Raises as `rebuild` does.
    """
    dispatcher = owned(engine)
    every = engine.kinds()
    with engine.maintaining:
        return [_verify(engine, dispatcher, every[name], tell=tell) for name in checked(names)]


def digests(engine: Engine, names: Iterable[str] = NAMES) -> Mapping[str, str]:
    """Return the content digests of what serves, at the log's end as of now."""
    dispatcher = owned(engine)
    with dispatcher.paused() as projector:
        projector.catch_up(engine.log.ends())
        return {
            projection.name: ContentDigest.of(projection.content()).hex
            for projection in projector.projections
            if projection.name in set(names)
        }


def checked(names: Iterable[str]) -> list[str]:
    """Return *names* without repeats; none or "all" means every projection."""
    wanted = list(dict.fromkeys(names))
    if not wanted or wanted == ["all"]:
        return list(NAMES)
    for name in wanted:
        if name not in NAMES:
            raise InvalidSetting("projection", name, f"one of {', '.join(NAMES)}, or all")
    return wanted


def owned(engine: Engine) -> Dispatcher:
    """Return the dispatcher of this process; raises LeaseHeld if another keeps the folder."""
    engine.take_over()
    if engine.dispatcher is None:
        path = engine.folder / LEASE_FILE
        raise LeaseHeld(str(path), holder(path))
    return engine.dispatcher


def _rebuild(engine: Engine, dispatcher: Dispatcher, kind: Kind, *, tell: Tell) -> Rebuilt:
    """Build a generation of *kind* and let it serve.

    1. Build it while the old one serves and live work goes on.
    2. Between two turns of live work, bring both to the log's end and compare them.
    3. Replace CURRENT; from here on readers find the new one.
    4. Let live work go on with the new one.

    A crash before 3 leaves the old one serving, one after 3 the new one. What fails before 3
    leaves no new one behind.
    """
    fresh = _built(engine, kind, tell=tell)  # 1
    with dispatcher.paused() as projector:
        try:
            comparison = _compared(engine, projector, fresh.projection, tell=tell)  # 2
            digest = ContentDigest.of(fresh.projection.content())
        except BaseException:
            _drop(engine, fresh)
            raise
        engine.shelf.swap(kind.name, fresh.folder)  # 3
        reached("rebuild.swapped")
        projector.replace(kind.name, fresh.projection)  # 4
    return Rebuilt(kind.name, fresh.folder.name, digest.rows, digest.hex, comparison)


def _verify(engine: Engine, dispatcher: Dispatcher, kind: Kind, *, tell: Tell) -> Comparison:
    """Fold the log into a generation that never serves, and compare."""
    fresh = _built(engine, kind, tell=tell)
    try:
        with dispatcher.paused() as projector:
            comparison = _compared(engine, projector, fresh.projection, tell=tell)
    finally:
        _drop(engine, fresh)
    if comparison is None:
        raise Damaged(kind.name, "what serves can't be read")
    return comparison


def _drop(engine: Engine, fresh: Built) -> None:
    fresh.projection.close()
    engine.shelf.generations(fresh.projection.name).discard(fresh.folder)


def _built(engine: Engine, kind: Kind, *, tell: Tell) -> Built:
    assert engine.lease is not None
    serving = engine.shelf.generations(kind.name).serving()
    engine.room.check(
        engine.folder, f"building {kind.name} anew", bytes_wanted=bytes_below(serving)
    )
    return built(
        kind,
        shelf=engine.shelf,
        log=engine.log,
        codec=engine.codec,
        epoch=engine.lease.epoch,
        tell=tell,
    )


def _compared(
    engine: Engine, projector: Projector, fresh: Projection, *, tell: Tell
) -> Comparison | None:
    """Compare *fresh* with what serves, both at the log's end; None if that can't be read."""
    ends = engine.log.ends()
    fold(fresh, log=engine.log, codec=engine.codec, until=ends, tell=tell)
    follow_up(fresh, tell=tell)
    serving = [p for p in projector.projections if p.name == fresh.name]
    try:
        projector.catch_up(ends)
        return compare(serving[0], fresh) if serving else None
    except (Damaged, StoreUnavailable):
        return None
