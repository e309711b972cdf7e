"""Read-your-writes: wait until what a token covers is in the read models.

The projections' own progress on disk tells, whoever keeps them; a dispatcher in this process
only makes the wait shorter.
"""

import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from mnemolog.engine import Engine
from mnemolog.projections.kinds import ANALYTICS, CHECKPOINTS, MEMORIES, WEIGHTS
from mnemolog.projections.ledger import ParkedRecord
from mnemolog.projections.sqlite_ledger import SQLiteLedger
from mnemolog.projections.sqlite_store import open_store, speaking_of
from mnemolog.schemas.errors import Parked, StoreUnavailable, TimedOut
from mnemolog.schemas.positions import Token

WAIT_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.02
ROWS: Final = (MEMORIES, WEIGHTS, CHECKPOINTS)  # what recall and resume read
_LEDGERS: Final[Mapping[str, str]] = {
    MEMORIES: "state.db",
    WEIGHTS: "weights.db",
    CHECKPOINTS: "index.db",
}

T = TypeVar("T")


def wait_for(
    engine: Engine,
    token: Token,
    *,
    timeout_seconds: float,
    projections: Iterable[str] = ROWS,
    vectors: bool = False,
) -> None:
    """Return once every one of *projections* has applied what *token* covers.

    With *vectors* also once the vectors are there, or known to be impossible. Raises TimedOut,
    or Parked if an event that *token* names could not be applied.
    """
    names = set(projections)
    if ANALYTICS in names:
        _request_publish(engine, token)

    def is_there() -> bool:
        engine.take_over()
        return all(_covers(engine, name, token, vectors=vectors) for name in names)

    until(engine, is_there, what=f"applying {token}", timeout_seconds=timeout_seconds)
    for name in names - {ANALYTICS}:
        _raise_if_parked(engine, name, token)


def until(engine: Engine, is_so: Callable[[], bool], *, what: str, timeout_seconds: float) -> None:
    """Return once *is_so*; raises TimedOut with *what*, or what stopped the dispatcher."""
    if engine.dispatcher is not None:
        engine.dispatcher.wait_until(is_so, what=what, timeout_seconds=timeout_seconds)
        return
    deadline = time.monotonic() + timeout_seconds
    while not is_so():
        if time.monotonic() >= deadline:
            raise TimedOut(what, waited_seconds=timeout_seconds)
        time.sleep(POLL_SECONDS)


def applied(engine: Engine, name: str, *, vectors: bool = False) -> Mapping[int, int]:
    """Return the last offsets that the serving generation of *name* holds; none before the first.

    With *vectors*, the last before the first event whose vectors are outstanding.
    """
    if name == ANALYTICS:
        from mnemolog.projections.analytics.publishing import (  # noqa: PLC0415 - DuckDB is heavy
            published_positions,
        )

        return published_positions(engine.folder)
    return _in_ledger(engine, name, lambda state: _applied(state, vectors=vectors), {})


def _applied(state: sqlite3.Connection, *, vectors: bool) -> Mapping[int, int]:
    last = {p: at.last_applied for p, at in SQLiteLedger(state).progress().items()}
    if vectors:
        rows = state.execute('SELECT partition, min("offset") FROM pending_vectors GROUP BY 1')
        last.update({partition: first - 1 for partition, first in rows})
    return last


def _covers(engine: Engine, name: str, token: Token, *, vectors: bool) -> bool:
    return token.is_covered_by(applied(engine, name, vectors=vectors and name == MEMORIES))


def _raise_if_parked(engine: Engine, name: str, token: Token) -> None:
    for parked in parked_in(engine, name):
        partition, offset = parked.record.position
        if token.offsets.get(partition) == offset:
            raise Parked(name, partition=partition, offset=offset, reason=parked.reason)


def parked_in(engine: Engine, name: str) -> list[ParkedRecord]:
    """Return what the serving generation of *name* has parked."""
    none: list[ParkedRecord] = []
    return _in_ledger(engine, name, lambda state: SQLiteLedger(state).parked(), none)


def _in_ledger(engine: Engine, name: str, ask: Callable[[sqlite3.Connection], T], none: T) -> T:
    """Return what *ask* reads from the ledger of *name*, or *none* where there is none yet."""
    path = ledger_file(engine, name)
    if path is None:
        return none
    try:
        state = open_store(path, schema="", read_only=True)
    except StoreUnavailable:
        return none  # being made at this moment
    try:
        with speaking_of(path):
            return ask(state)
    finally:
        state.close()


def ledger_file(engine: Engine, name: str) -> Path | None:
    """Return the ledger of the serving generation of *name*, or None where there is none yet."""
    serving = engine.shelf.generations(name).serving()
    path = None if serving is None else serving / _LEDGERS[name]
    return path if path is not None and path.exists() else None


def _request_publish(engine: Engine, token: Token) -> None:
    from mnemolog.projections.analytics.publishing import (  # noqa: PLC0415 - DuckDB is heavy
        request_publish,
    )

    request_publish(engine.folder, token)
