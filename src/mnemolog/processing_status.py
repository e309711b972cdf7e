"""How the processors of a tenant stand, read from disk, whoever runs them."""

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from mnemolog.engine import Engine
from mnemolog.processors import PROCESSORS
from mnemolog.projections.sqlite_ledger import SQLiteLedger
from mnemolog.projections.sqlite_store import open_store, speaking_of
from mnemolog.schemas.errors import Damaged, InvalidEvent, StoreUnavailable
from mnemolog.streams.processor_store import SCHEMA, ProcessorStore, path_of

SHOWN_MAX = 5  # held keys and parked events that are named, of each processor


@dataclass(frozen=True, slots=True)
class ProcessorStanding:
    """How one processor stands; of one that never ran here only how far it is behind is told.

    `waiting` are causes about which there is something to do, `held` keys whose later causes wait
    for one that failed, `parked` events that its rule could not take in, with those behind them.
    `troubles` say why, by place and error, without a word of a payload.
    """

    name: str
    ran: bool
    behind: int
    waiting: int = 0
    held: int = 0
    parked: int = 0
    troubles: tuple[str, ...] = ()


def processor_standings(engine: Engine, ends: dict[int, int]) -> tuple[ProcessorStanding, ...]:
    """Return how each processor stands that mnemolog comes with."""
    return tuple(_standing(engine, name, ends) for name in PROCESSORS)


def _standing(engine: Engine, name: str, ends: dict[int, int]) -> ProcessorStanding:
    path, behind = path_of(engine.folder, name), sum(ends.values())
    if not path.exists():
        return ProcessorStanding(name, ran=False, behind=behind)
    try:
        with speaking_of(path):
            return _from_file(path, name, ends)
    except (Damaged, StoreUnavailable) as error:
        return ProcessorStanding(name, ran=True, behind=behind, troubles=(str(error),))


def _from_file(path: Path, name: str, ends: dict[int, int]) -> ProcessorStanding:
    with closing(open_store(path, schema=SCHEMA, read_only=True)) as connection:
        ledger, store = SQLiteLedger(connection), ProcessorStore(connection)
        last = {p: at.last_applied for p, at in ledger.progress().items()}
        counts = {**ledger.counts(), **store.counts()}
        held = [(at, error) for _, at, error in store.held(keys_max=SHOWN_MAX)]
        parked = [(p.position, p.reason) for p in ledger.first_parked(events_max=SHOWN_MAX)]
        stopped = store.trouble()
    troubles = [] if stopped is None else [f"it stopped: {_class_of(stopped)}"]
    troubles += [f"a key waits at {at}: {_class_of(error)}" for at, error in (*held, *parked)]
    return ProcessorStanding(
        name,
        ran=True,
        behind=sum(max(0, end - 1 - last.get(p, -1)) for p, end in ends.items()),
        waiting=counts["waiting"],
        held=counts["held"],
        parked=counts["parked"],
        troubles=tuple(troubles),
    )


def _class_of(error: str) -> str:
    """Return the error's class: what follows may quote what an agent said.

    Of an event that could not be read the reason begins with the field and its value, not a class.
    """
    head = error.split(":", 1)[0]
    return InvalidEvent.__name__ if " = " in head else head
