"""Small histories for tests of folds: events in, records of a log and batches out.

    records = recorded(
        ObservationRecorded(text="the pool is exhausted"),  # "e0" of agent "ops-1"
        happened(MemoryUsed(memories=[memory_of("e0")]), agent="ops-2", event_id="used-1"),
        partitions=2,
    )
    for batch in batches(records, records_max=2, partitions=2):
        projection.apply(batch)

Everything is fixed: the n-th event has the id "e<n>" and occurs n minutes after `START` unless it
says otherwise. `deliveries` is a Hypothesis strategy of all the ways in which one history may come.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from mnemolog.projections.batch import BATCH_RECORDS_MAX, Batch, decoded
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.envelope import Envelope, RecordedEvent, key_of
from mnemolog.schemas.events import Event
from mnemolog.schemas.ids import identity_of, memory_id
from mnemolog.schemas.partitioning import partition_of
from mnemolog.schemas.records import LogRecord

TENANT = "tests"
SOURCE = "/tests"
AGENT = "ops-1"
START = datetime(2030, 1, 1, tzinfo=UTC)
RECORDED_AFTER = timedelta(seconds=1)
# Of texts beside the log: their heads stand where events have texts, or lead nowhere; not ours.
DATAREFS = (
    f"blobs?/text={'a' * 64}.300000",
    f"blobs?/text={'b' * 64}.300000",
    f"blobs?/texts/0={'a' * 64}.300000",
    f"blobs?/checkpoint/plan_summary={'b' * 64}.70000&/what={'a' * 64}.300000",
    "https://example.invalid/elsewhere",
)


@dataclass(frozen=True)
class Happened:
    """An event with what its envelope says; None takes the place in the history."""

    event: Event
    agent: str | None = AGENT
    event_id: str | None = None
    at: datetime | None = None
    key: str | None = None  # of governance events; else it follows from the agent
    names: dict[str, Any] = field(default_factory=dict)  # user, project, task, cause, ...


def happened(
    event: Event,
    *,
    agent: str | None = AGENT,
    event_id: str | None = None,
    at: datetime | None = None,
    key: str | None = None,
    **names: Any,
) -> Happened:
    """Return *event* as it happened to *agent*; *names* are further fields of the envelope."""
    return Happened(event, agent, event_id, at, key, names)


def codec(*, partitions: int = 1) -> Codec:
    """Return the codec of the tests' log."""
    return Codec(tenant=TENANT, partitions=partitions)


def recorded(*events: Event | Happened, partitions: int = 1) -> list[LogRecord]:
    """Return the records of *events* as a log of *partitions* keeps them, in the order given."""
    ends: dict[int, int] = defaultdict(int)
    return [
        _record(enveloped(number, one), number, ends, partitions)
        for number, one in enumerate(events)
    ]


def enveloped(number: int, one: Event | Happened) -> tuple[Event, Envelope]:
    """Return event *number* of a history with its envelope."""
    told = one if isinstance(one, Happened) else Happened(one)
    envelope = Envelope(
        id=told.event_id or f"e{number}",
        source=SOURCE,
        occurred_at=told.at or START + timedelta(minutes=number),
        key=told.key or key_of(told.agent),
        agent=None if told.key else told.agent,
        **told.names,
    )
    return told.event, envelope


def _record(
    said: tuple[Event, Envelope], number: int, ends: dict[int, int], partitions: int
) -> LogRecord:
    new = codec(partitions=partitions).encode(*said)
    partition = partition_of(new.key, partitions=partitions)
    moment = START + timedelta(minutes=number) + RECORDED_AFTER
    offset, ends[partition] = ends[partition], ends[partition] + 1
    return LogRecord(partition, offset, moment, new.key, new.value, new.headers)


def batches(
    records: Sequence[LogRecord],
    *,
    records_max: int = BATCH_RECORDS_MAX,
    partitions: int = 1,
) -> Iterator[Batch]:
    """Yield *records* decoded, in batches of at most *records_max*."""
    for start in range(0, len(records), records_max):
        yield decoded(records[start : start + records_max], codec(partitions=partitions))


def opened(*events: Event | Happened, partitions: int = 1) -> list[RecordedEvent]:
    """Return *events* as folds see them: recorded, decoded and lifted. Each has to be sound."""
    records = recorded(*events, partitions=partitions)
    items = [item for batch in batches(records, partitions=partitions) for item in batch.items]
    assert all(isinstance(item, Ours) for item in items), items
    return [item.recorded for item in items if isinstance(item, Ours)]


def appended_again(records: Sequence[LogRecord], again: Iterable[LogRecord]) -> list[LogRecord]:
    """Return *records* and, at later offsets, the same events once more."""
    grown = list(records)
    for record in again:
        offset = 1 + max(r.offset for r in grown if r.partition == record.partition)
        grown.append(replace(record, offset=offset))
    return grown


def identity(event_id: str, *, agent: str | None = AGENT) -> str:
    """Return the identity of an event of these histories."""
    return identity_of(key=key_of(agent), source=SOURCE, event_id=event_id)


def memory_of(event_id: str, ordinal: int = 0, *, agent: str | None = AGENT) -> str:
    """Return the id of a memory that an event of these histories forms."""
    return memory_id(identity(event_id, agent=agent), ordinal)


def agents(*, partitions: int) -> list[str]:
    """Return an agent for each partition: the n-th one's events go to partition n."""
    found: dict[int, str] = {}
    number = 0
    while len(found) < partitions:
        name = f"agent-{number}"
        found.setdefault(partition_of(name.encode(), partitions=partitions), name)
        number += 1
    return [found[partition] for partition in range(partitions)]


@st.composite
def deliveries(
    draw: st.DrawFn, records: Sequence[LogRecord], *, partitions: int = 1
) -> list[Batch]:
    """Draw a way in which *records* may come: partitions interleaved, cut, batches repeated."""
    queues = [[r for r in records if r.partition == p] for p in range(partitions)]
    turns = draw(st.permutations([p for p, queue in enumerate(queues) for _ in queue]))
    heads = [iter(queue) for queue in queues]
    woven = [next(heads[partition]) for partition in turns]
    sizes = st.integers(1, max(1, len(woven)))
    came: list[Batch] = []
    while woven:
        size = draw(sizes)
        run, woven = woven[:size], woven[size:]
        came += [decoded(run, codec(partitions=partitions))] * draw(st.integers(1, 2))
    return came
