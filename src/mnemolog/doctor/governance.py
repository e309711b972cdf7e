"""Whether each governance event stands in every partition: a crash may leave a part of a set."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

from mnemolog.doctor.finding import Finding, Repair
from mnemolog.doctor.patient import Patient
from mnemolog.doctor.repairs import BY_FIX
from mnemolog.engine import Engine
from mnemolog.ledgers import places_of_types
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events.governance import EVERYWHERE
from mnemolog.schemas.partitioning import COPY_OF, governance_copy
from mnemolog.settings import Settings

NAME: Final = "governance"
SHOWN_MAX: Final = 5
RETRY: Final = (
    "It holds in some partitions only. Append it again with the same id, or let the copies that"
    f" are missing be made from one that is there: {BY_FIX}"
)


@dataclass
class CopySet:
    """The copies of one governance event that stand in the log."""

    one: RecordedEvent
    partitions: set[int] = field(default_factory=set)


def check(patient: Patient) -> Iterator[Finding]:
    """Name governance events that some partitions lack."""
    if patient.engine is None or patient.engine.log.partitions == 1:
        return
    torn = _torn(patient.engine)
    repair = Repair("append the missing copies", partial(_complete, patient.settings))
    for one in torn[:SHOWN_MAX]:
        lacking = sorted(set(range(patient.engine.log.partitions)) - one.partitions)
        what = f"{one.one.event.event_type} at {one.one.position}"
        detail = f"{what} has no copy in the partitions {lacking}"
        yield Finding(NAME, "bad", detail, advice=RETRY, repair=repair)
    if not torn:
        yield Finding(NAME, "ok", "every governance event stands in every partition")


def _torn(engine: Engine) -> list[CopySet]:
    """Return the sets that lack a copy, in the order of their first copies."""
    sets: dict[tuple[str, str], CopySet] = {}
    types = tuple(event.event_type for event in EVERYWHERE)
    for position in places_of_types(engine, types):
        record = engine.log.at(position)
        item = None if record is None else engine.codec.decode(record)
        if not isinstance(item, Ours):
            continue
        named = item.envelope.extensions.get(COPY_OF)
        if isinstance(named, str):
            found = sets.setdefault((named, item.envelope.source), CopySet(item.recorded))
            found.partitions.add(position.partition)
    return [one for one in sets.values() if len(one.partitions) < engine.log.partitions]


def _complete(settings: Settings) -> str:
    """Append the copies that are missing by now, with the ids that a retry would give them."""
    engine = Engine(settings, projects=False)
    try:
        records = []
        for one in _torn(engine):
            named = str(one.one.envelope.extensions[COPY_OF])
            for partition in sorted(set(range(engine.log.partitions)) - one.partitions):
                copy_id, key = governance_copy(named, partition, partitions=engine.log.partitions)
                envelope = replace(one.one.envelope, id=copy_id, key=key)
                records.append(engine.publisher.record(one.one.event, envelope))
        if records:
            engine.log.append(records)
        return f"{len(records)} copies were appended"
    finally:
        engine.close()
