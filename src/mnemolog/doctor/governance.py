"""Whether each governance event stands in every partition: a crash may leave a part of a set."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Final

from mnemolog.doctor.finding import Finding, Repair
from mnemolog.doctor.patient import Patient
from mnemolog.doctor.repairs import BY_FIX
from mnemolog.engine import Engine
from mnemolog.ledgers import applied, places_of_types
from mnemolog.projections.kinds import CHECKPOINTS
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events.governance import EVERYWHERE
from mnemolog.schemas.partitioning import COPY_OF, governance_copy
from mnemolog.schemas.records import LogRecord
from mnemolog.settings import Settings

NAME: Final = "governance"
SHOWN_MAX: Final = 5
RECORDS_AT_ONCE: Final = 1_000
RETRY: Final = (
    "It holds in some partitions only. Append it again with the same id, or let the copies that"
    f" are missing be made from one that is there: {BY_FIX}"
)


_TYPES: Final = tuple(event.event_type for event in EVERYWHERE)


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
    for item in _ours(engine):
        named = item.envelope.extensions.get(COPY_OF)
        if isinstance(named, str) and item.event_type in _TYPES:
            found = sets.setdefault((named, item.envelope.source), CopySet(item.recorded))
            found.partitions.add(item.record.partition)
    return [one for one in sets.values() if len(one.partitions) < engine.log.partitions]


def _ours(engine: Engine) -> Iterator[Ours]:
    """Yield the governance events that have been applied, and all events that have not."""
    applied_to = applied(engine, CHECKPOINTS)
    places = places_of_types(engine, _TYPES)
    known = (engine.log.at(position) for position in places)
    for record in chain(known, _behind(engine, applied_to)):
        item = None if record is None else engine.codec.decode(record)
        if isinstance(item, Ours):
            yield item


def _behind(engine: Engine, applied_to: Mapping[int, int]) -> Iterator[LogRecord]:
    """Yield what the log has behind *applied_to*, up to its end as of now."""
    ends, starts = engine.log.ends(), engine.log.starts()
    begin = {p: min(max(applied_to.get(p, -1) + 1, starts[p]), end) for p, end in ends.items()}
    reader = engine.log.reader(begin)
    try:
        while any(reader.positions()[p] < end for p, end in ends.items()):
            yield from reader.poll(records_max=RECORDS_AT_ONCE, wait_seconds=0.2)
    finally:
        reader.close()


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
