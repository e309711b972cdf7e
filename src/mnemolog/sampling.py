"""Where a tenant's projections are at this moment, as `health` wants it: what I/O that takes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from mnemolog.engine import Engine
from mnemolog.health import Sample
from mnemolog.ledgers import applied
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.positions import Position
from mnemolog.waiting import ROWS

AGES_MAX: Final = 16  # partitions of which the first waiting record is looked at


def sampled(engine: Engine, *, now: float, present: datetime) -> dict[str, Sample]:
    """Return how each projection of *engine* stands: those that it keeps, or whoever keeps them.

    Of others' analytics nothing is told: what they have published tells only when they did.
    *now* is of a monotonic clock, *present* the time, to which ages are. Raises StoreUnavailable,
    Damaged or LogUnavailable where one can't be asked.
    """
    ends = engine.log.ends()
    names = NAMES if engine.is_owner else ROWS
    reached = {name: _next_to_apply(engine, name) for name in names}
    ages = _ages(engine, ends, reached, present)
    return {
        name: Sample(
            now,
            following,
            ends,
            waited_seconds=max((ages.get(at, 0.0) for at in _firsts(ends, following)), default=0.0),
        )
        for name, following in reached.items()
    }


def _next_to_apply(engine: Engine, name: str) -> Mapping[int, int]:
    """Return where *name* goes on: behind holes, where it is kept here and has taken a turn."""
    dispatcher = engine.dispatcher
    reached = {} if dispatcher is None else dispatcher.reached.get(name, {})
    return reached or {partition: last + 1 for partition, last in applied(engine, name).items()}


def _firsts(ends: Mapping[int, int], following: Mapping[int, int]) -> list[Position]:
    """Return the first place of each partition that was not applied, if it is before the end."""
    firsts = [Position(p, following.get(p, 0)) for p, end in ends.items()]
    return [at for at in firsts if at.offset < ends[at.partition]][:AGES_MAX]


def _ages(
    engine: Engine,
    ends: Mapping[int, int],
    reached: Mapping[str, Mapping[int, int]],
    present: datetime,
) -> dict[Position, float]:
    """Return how many seconds ago the log took each first record that waits."""
    ages = {}
    for at in {at for following in reached.values() for at in _firsts(ends, following)}:
        record = engine.log.at(at)
        if record is not None:
            ages[at] = max(0.0, (present - record.recorded_at).total_seconds())
    return ages
