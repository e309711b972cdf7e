"""What waits because it could not be applied, and what is no event of ours: list, look, retry.

What is listed is read from the ledgers on disk, whoever keeps them; only the process that keeps
the projections applies again.
"""

from collections.abc import Mapping
from typing import Final

from mnemolog.engine import Engine
from mnemolog.ledgers import foreign_in, parked_at, parked_in, parked_whole
from mnemolog.maintaining import owned
from mnemolog.parked_records import (
    ForeignPage,
    ParkedEvent,
    ParkedPage,
    ParkedWhole,
    Retried,
    Which,
    position_of,
)
from mnemolog.projections.choosing import LATE
from mnemolog.projections.kinds import CHECKPOINTS
from mnemolog.projections.ledger import ForeignRecord, ParkedRecord, ParkedSummary
from mnemolog.projections.projection import Projection
from mnemolog.projections.sqlite_ledger import FIRST
from mnemolog.schemas.errors import InvalidSetting, NotFound
from mnemolog.schemas.positions import Position
from mnemolog.schemas.text import cut
from mnemolog.streams.projecting import Projector
from mnemolog.waiting import until

PAGE_EVENTS: Final = 50
PAGE_EVENTS_MAX: Final = 1_000
REASON_CHARS_MAX: Final = 500
FOLLOWERS_SHOWN_MAX: Final = 20
SEE_PARKED: Final = "`mnemolog parked list` shows what is parked; it may have gone on by now."
SEE_FOREIGN: Final = "`mnemolog foreign list` shows them."
NEWER: Final = "A later release understands it: upgrade the keeper, which then applies it itself."
FAILED: Final = (
    "Mend what failed and retry; or skip it, which a rebuild heeds, too, and what waits goes on."
)

REBUILD: Final = "Rebuild, which applies it in its place: neither a retry nor a skip helps."


def parked(
    engine: Engine,
    which: Which,
    *,
    followers: bool = False,
    after: str | None = None,
    events_max: int = PAGE_EVENTS,
) -> ParkedPage:
    """Return the first that is parked, behind the cursor *after*, projection by projection.

    With *followers* those that wait behind others, too.
    """
    wanted = min(max(events_max, 1), PAGE_EVENTS_MAX)
    name, place = _cursor(after, which.names)
    found: list[ParkedEvent] = []
    for projection in which.names[which.names.index(name) :] if name else which.names:
        page = parked_in(
            engine,
            projection,
            after=place if projection == name else FIRST,
            key=which.key,
            followers=followers,
            events_max=wanted + 1 - len(found),
        )
        found += [_event(projection, one) for one in page]
    last = found[wanted - 1] if len(found) > wanted else None
    return ParkedPage(
        tuple(found[:wanted]), None if last is None else f"{last.projection}:{last.position}"
    )


def _cursor(text: str | None, names: tuple[str, ...]) -> tuple[str | None, Position]:
    if text is None:
        return None, FIRST
    name, _, place = text.partition(":")
    if name not in names:
        raise InvalidSetting("after", text, "what an earlier page gave, with the same filters")
    return name, position_of(place)


def _event(projection: str, told: ParkedSummary) -> ParkedEvent:
    return ParkedEvent(
        projection=projection,
        position=told.position,
        key=told.key,
        identity=told.identity,
        event_type=told.event_type,
        recorded_at=told.recorded_at,
        reason=cut(told.reason, characters_max=REASON_CHARS_MAX),
        newer=told.newer,
        behind=told.behind,
        waiting=told.waiting,
    )


def parked_event(engine: Engine, which: Which) -> list[ParkedWhole]:
    """Return what is parked at the place that *which* names, one for each projection.

    Raises NotFound where none has it parked.
    """
    place = _place(which)
    before = Position(place.partition, place.offset - 1)
    found = []
    for name in which.names:
        page = parked_in(engine, name, after=before, key=None, followers=True, events_max=1)
        if page and page[0].position == place:
            found.append(_whole(engine, name, page[0]))
    if not found:
        raise NotFound("parked event", str(place), hint=SEE_PARKED)
    return found


def _place(which: Which) -> Position:
    if which.position is None:
        raise InvalidSetting("position", None, "say which: PARTITION@OFFSET")
    return which.position


def _whole(engine: Engine, name: str, told: ParkedSummary) -> ParkedWhole:
    kept = parked_whole(engine, name, told.position)
    behind = parked_in(
        engine,
        name,
        after=told.position,
        key=told.key,
        followers=True,
        events_max=FOLLOWERS_SHOWN_MAX,
    )
    return ParkedWhole(
        event=_event(name, told),
        record=engine.log.at(told.position) if kept is None else kept.record,
        followers=tuple(one.position for one in behind),
        advice=_advice(engine, name, told),
    )


def _advice(engine: Engine, name: str, told: ParkedSummary) -> str:
    if told.reason == LATE:
        return REBUILD
    if not told.behind:
        return NEWER if told.newer else FAILED
    heads = parked_in(engine, name, after=FIRST, key=told.key, followers=False, events_max=1)
    return f"It waits behind {heads[0].position}: look at that one." if heads else FAILED


def heads(engine: Engine, which: Which) -> dict[tuple[str, str], ParkedEvent]:
    """Return what waits by its own fault, by projection and key: the first `PAGE_EVENTS_MAX`.

    At a place: what the event there waits behind, or itself.
    """
    if which.position is None:
        found = list(parked(engine, which, events_max=PAGE_EVENTS_MAX).events)
    else:
        found = []
        for one in parked_event(engine, which):
            name, key = one.event.projection, one.event.key
            found += parked(engine, Which((name,), key=key), events_max=1).events
    return {(one.projection, one.key): one for one in found}


def became(
    before: Mapping[tuple[str, str], ParkedEvent], after: Mapping[tuple[str, str], ParkedEvent]
) -> list[Retried]:
    """Return what became of what waited *before*."""
    return [
        Retried(name, key, 1 + one.waiting, 0)
        if (now := after.get((name, key))) is None
        else Retried(name, key, max(0, one.waiting - now.waiting), 1 + now.waiting, now.reason)
        for (name, key), one in before.items()
    ]


def let_go(engine: Engine, which: Which, *, timeout_seconds: float) -> None:
    """Return once what stands at the place of *which* is parked no more, after a skip of it.

    Raises TimedOut where its keeper has not come so far.
    """
    place = _place(which)
    until(
        engine,
        lambda: not any(parked_at(engine, name, [place]) for name in which.names),
        what=f"skipping {place}",
        timeout_seconds=timeout_seconds,
    )


def foreign(
    engine: Engine, *, after: str | None = None, records_max: int = PAGE_EVENTS
) -> ForeignPage:
    """Return the first records behind the cursor *after* that are no events of this log."""
    wanted = min(max(records_max, 1), PAGE_EVENTS_MAX)
    place = FIRST if after is None else position_of(after)
    found = foreign_in(engine, CHECKPOINTS, records_max=wanted + 1, after=place)
    following = str(found[wanted - 1].record.position) if len(found) > wanted else None
    return ForeignPage(tuple(found[:wanted]), following)


def foreign_record(engine: Engine, position: Position) -> ForeignRecord:
    """Return the foreign record at *position*. Raises NotFound."""
    before = Position(position.partition, position.offset - 1)
    found = foreign_in(engine, CHECKPOINTS, records_max=1, after=before)
    if not found or found[0].record.position != position:
        raise NotFound("foreign record", str(position), hint=SEE_FOREIGN)
    return found[0]


def retry(engine: Engine, which: Which) -> list[Retried]:
    """Apply again, key by key and in order, what is parked; say what became of each key.

    At a place: its key's events, all of them. Raises LeaseHeld if another process keeps the
    folder, NotFound where nothing of the kind is parked, StoreUnavailable as a projection does.
    """
    done: list[Retried] = []
    with owned(engine).paused() as projector:
        for projection in projector.projections:
            if projection.name in which.names:
                done += _retry(projector, projection, which)
    if not done and which.position is not None:
        raise NotFound("parked event", str(which.position), hint=SEE_PARKED)
    return done


def _retry(projector: Projector, projection: Projection, which: Which) -> list[Retried]:
    before = _by_key(projection)
    keys = [key for key, waiting in sorted(before.items()) if _is_meant(which, key, waiting)]
    projector.retry(projection, *keys)
    after = _by_key(projection) if keys else {}
    return [_retried(projection.name, key, len(before[key]), after.get(key, [])) for key in keys]


def _retried(name: str, key: str, before: int, left: list[ParkedRecord]) -> Retried:
    why = cut(left[0].reason, characters_max=REASON_CHARS_MAX) if left else None
    return Retried(name, key, before - len(left), len(left), why)


def _by_key(projection: Projection) -> Mapping[str, list[ParkedRecord]]:
    found: dict[str, list[ParkedRecord]] = {}
    for one in projection.parked():
        found.setdefault(one.key, []).append(one)
    return found


def _is_meant(which: Which, key: str, waiting: list[ParkedRecord]) -> bool:
    if which.position is not None:
        return any(one.record.position == which.position for one in waiting)
    return which.key in {None, key}
