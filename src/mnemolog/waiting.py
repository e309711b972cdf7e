"""Read-your-writes: wait until what a token covers is in the read models.

The projections' own progress on disk tells, whoever keeps them; a dispatcher in this process
only makes the wait shorter.
"""

import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext, suppress
from typing import Final

from mnemolog import asked as check
from mnemolog.engine import Engine
from mnemolog.ledgers import applied, parked_at
from mnemolog.projections.kinds import ANALYTICS, CHECKPOINTS, MEMORIES, WEIGHTS
from mnemolog.schemas.errors import Damaged, InvalidSetting, Parked, StoreUnavailable, TimedOut
from mnemolog.schemas.positions import Position, Token

WAIT_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.02
ROWS: Final = (MEMORIES, WEIGHTS, CHECKPOINTS)  # what recall and resume read


def wait_for(
    engine: Engine,
    token: Token,
    *,
    timeout_seconds: float,
    projections: Iterable[str] = ROWS,
    vectors: bool = False,
    tell: Callable[[float], None] = lambda _: None,
) -> None:
    """Return once every one of *projections* has applied what *token* covers.

    With *vectors* also once the vectors are there, or known to be impossible. *tell* hears now
    and then how many seconds it has waited. Raises TimedOut, Parked if an event that *token*
    names could not be applied, NoRoom where analytics wait for a disk that is too full, or
    InvalidSetting for the token of another log.
    """
    _check_partitions(check.token(token), engine.log.partitions)
    check.seconds(timeout_seconds)
    names = set(projections)
    began = time.monotonic()
    if ANALYTICS in names:
        _request_publish(engine, token)

    def is_there() -> bool:
        engine.take_over()
        tell(time.monotonic() - began)
        return all(_covers(engine, name, token, vectors=vectors) for name in names)

    until(engine, is_there, what=f"applying {token}", timeout_seconds=timeout_seconds)
    for name in names:
        _raise_if_parked(engine, name, token)


def _check_partitions(token: Token, partitions: int) -> None:
    """Raise InvalidSetting for a token of another log: nothing would ever cover it."""
    if any(partition >= partitions for partition in token.offsets):
        raise InvalidSetting("token", str(token), f"of a log of {partitions} partitions")


def until(engine: Engine, is_so: Callable[[], bool], *, what: str, timeout_seconds: float) -> None:
    """Return once *is_so*; raises TimedOut with *what*, or what stopped the dispatcher."""
    deadline = time.monotonic() + timeout_seconds
    while (dispatcher := engine.dispatcher) is None:
        if is_so():
            return
        if time.monotonic() >= deadline:
            raise TimedOut(what, waited_seconds=timeout_seconds)
        time.sleep(POLL_SECONDS)
    left = round(max(0.0, deadline - time.monotonic()), 3)
    dispatcher.wait_until(is_so, what=what, timeout_seconds=left)


def _covers(engine: Engine, name: str, token: Token, *, vectors: bool) -> bool:
    if name != ANALYTICS:
        return token.is_covered_by(applied(engine, name, vectors=vectors and name == MEMORIES))
    with suppress(Damaged):  # what is published is published anew
        if token.is_covered_by(applied(engine, name)):
            return True
    engine.room.check(engine.folder, "publishing")
    return False


def _raise_if_parked(engine: Engine, name: str, token: Token) -> None:
    named = [Position(*item) for item in token.offsets.items()]
    for parked in parked_at(engine, name, named):
        partition, offset = parked.position
        raise Parked(name, partition=partition, offset=offset, reason=parked.reason)


def _request_publish(engine: Engine, token: Token) -> None:
    from mnemolog.projections.analytics.publishing import (  # noqa: PLC0415 - DuckDB is heavy
        request_publish,
    )

    # A reader of a folder that it may not write waits for the owner's own pace.
    with suppress(StoreUnavailable) if engine.read_only else nullcontext():
        request_publish(engine.folder, token)
