"""What the serving generations' ledgers say, read from disk, whoever keeps them."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from mnemolog.engine import Engine
from mnemolog.projections.analytics.set_aside import SetAside, read_set_aside
from mnemolog.projections.checkpoints.times import Jump, jumps, places_of
from mnemolog.projections.kinds import ANALYTICS, CHECKPOINTS, MEMORIES, WEIGHTS
from mnemolog.projections.ledger import ForeignRecord, ParkedRecord, ParkedSummary, Repeat
from mnemolog.projections.memories.drawn import Named, drawn_from
from mnemolog.projections.memories.state_schema import OUTSTANDING
from mnemolog.projections.memories.upkeep import Upkeep, upkeep_in
from mnemolog.projections.memories.vector_state import VectorState
from mnemolog.projections.parked_pages import parked_page
from mnemolog.projections.sqlite_ledger import FIRST, SQLiteLedger
from mnemolog.projections.sqlite_store import open_store, speaking_of
from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.schemas.positions import Position

LEDGERS: Final[Mapping[str, str]] = {
    MEMORIES: "state.db",
    WEIGHTS: "weights.db",
    CHECKPOINTS: "index.db",
}

T = TypeVar("T")


def applied(engine: Engine, name: str, *, vectors: bool = False) -> Mapping[int, int]:
    """Return the last offsets that the serving generation of *name* holds; none before the first.

    Of analytics: what is published. With *vectors*, the last before the first event whose
    vectors are outstanding.
    """
    if name == ANALYTICS:
        from mnemolog.projections.analytics.publishing import (  # noqa: PLC0415 - DuckDB is heavy
            published_positions,
        )

        return published_positions(engine.folder)
    return _ask(engine, name, lambda state: _applied(state, vectors=vectors), {})


def _applied(state: sqlite3.Connection, *, vectors: bool) -> dict[int, int]:
    last = {p: at.last_applied for p, at in SQLiteLedger(state).progress().items()}
    if vectors:
        waiting = VectorState(state).first_waiting()
        last.update({partition: first - 1 for partition, first in waiting.items()})
    return last


def parked_at(engine: Engine, name: str, positions: Iterable[Position]) -> list[ParkedSummary]:
    """Return what the serving generation of *name* has parked at one of *positions*.

    Of analytics: among what `set_aside` has.
    """
    if name == ANALYTICS:
        wanted = set(positions)
        return [one for one in _set_aside(engine).parked if one.position in wanted]
    return _ask(engine, name, lambda state: SQLiteLedger(state).parked_at(positions), [])


def first_parked_in(engine: Engine, name: str, *, events_max: int) -> list[ParkedSummary]:
    """Return the first events that *name* has parked by their own fault."""
    if name == ANALYTICS:
        return [one for one in _set_aside(engine).parked if not one.behind][:events_max]
    return _ask(
        engine, name, lambda state: SQLiteLedger(state).first_parked(events_max=events_max), []
    )


def foreign_in(
    engine: Engine, name: str, *, records_max: int, after: Position = FIRST
) -> list[ForeignRecord]:
    """Return the first records behind *after* that are no events of this log.

    Analytics only counts its own.
    """

    def page(state: sqlite3.Connection) -> list[ForeignRecord]:
        return SQLiteLedger(state).foreign(records_max=records_max, after=after)

    return _ask(engine, name, page, [])


def repeats_in(engine: Engine, name: str, *, repeats_max: int) -> list[Repeat]:
    """Return the first that repeat an identity with other content; analytics only counts them."""
    return _ask(
        engine, name, lambda state: SQLiteLedger(state).repeats(repeats_max=repeats_max), []
    )


def counts_in(engine: Engine, name: str) -> Mapping[str, int]:
    """Return how many records are parked, foreign and repeats; none before the first."""
    if name == ANALYTICS:
        return _set_aside(engine).counts
    return _ask(engine, name, lambda state: dict(SQLiteLedger(state).counts()), {})


def vectors_outstanding(engine: Engine) -> int:
    """Return how many memories wait for their vector."""
    return _ask(engine, MEMORIES, lambda state: VectorState(state).counts()[OUTSTANDING], 0)


def drawn_from_what_is(engine: Engine, named: Named) -> list[str]:
    """Return the identities of what is known to be drawn from what is *named*."""
    return _ask(engine, MEMORIES, lambda state: drawn_from(state, named), [])


def without_vector(engine: Engine) -> Mapping[str, int]:
    """Return how many memories can have no vector, by the reason."""
    return _ask(engine, MEMORIES, lambda state: VectorState(state).reasons(), {})


def clock_jumps(engine: Engine, *, now: datetime, tolerance: timedelta) -> list[Jump]:
    """Return which events were recorded at times that tell of a clock that jumped."""
    return _ask(engine, CHECKPOINTS, lambda index: jumps(index, now=now, tolerance=tolerance), [])


def places_of_types(engine: Engine, types: tuple[str, ...]) -> list[Position]:
    """Return where events of *types* stand, of those that have been applied."""
    return _ask(engine, CHECKPOINTS, lambda index: places_of(index, types), [])


def last_applied(engine: Engine, name: str) -> Mapping[int, tuple[int, str]]:
    """Return offset and fingerprint of the last record that *name* applied in each partition.

    Of analytics nothing is told: its ledger stands in its live file.
    """
    if name == ANALYTICS:
        return {}
    return _ask(engine, name, _last_applied, {})


def _last_applied(state: sqlite3.Connection) -> dict[int, tuple[int, str]]:
    progress = SQLiteLedger(state).progress()
    return {p: (at.last_applied, at.fingerprint) for p, at in progress.items()}


def index_upkeep(engine: Engine) -> Upkeep:
    """Return how the memories' index was looked after."""
    return _ask(engine, MEMORIES, upkeep_in, Upkeep())


def parked_in(
    engine: Engine, name: str, *, after: Position, key: str | None, followers: bool, events_max: int
) -> list[ParkedSummary]:
    """Return the first that *name* has parked behind the place *after*; see `parked_page`.

    Of analytics: among what `set_aside` has.
    """
    if name != ANALYTICS:
        page = partial(
            parked_page, after=after, key=key, followers=followers, events_max=events_max
        )
        return _ask(engine, name, page, [])
    found = [
        one
        for one in _set_aside(engine).parked
        if one.position > after and key in {None, one.key} and (followers or not one.behind)
    ]
    return found[:events_max]


def parked_whole(engine: Engine, name: str, position: Position) -> ParkedRecord | None:
    """Return what *name* has parked at *position*, whole, or None; of analytics always None."""
    if name == ANALYTICS:
        return None
    return _ask(engine, name, lambda state: SQLiteLedger(state).whole(position), None)


def _set_aside(engine: Engine) -> SetAside:
    serving = engine.shelf.generations(ANALYTICS).serving()
    return SetAside() if serving is None else read_set_aside(serving)


def _ask(engine: Engine, name: str, ask: Callable[[sqlite3.Connection], T], none: T) -> T:
    """Return what *ask* reads from the ledger of *name*, or *none* where there is none yet."""
    path = _file(engine, name)
    if path is None:
        return none
    try:
        state = open_store(path, schema="", read_only=True)
    except StoreUnavailable:
        return none  # being made at this moment
    try:
        with speaking_of(path):
            return _answer(ask, state, none)
    finally:
        state.close()


def _answer(ask: Callable[[sqlite3.Connection], T], state: sqlite3.Connection, none: T) -> T:
    try:
        return ask(state)
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return none  # the keeper is making it, or will when it opens it
        raise


def _file(engine: Engine, name: str) -> Path | None:
    serving = engine.shelf.generations(name).serving()
    path = None if serving is None else serving / LEDGERS[name]
    return path if path is not None and path.exists() else None
