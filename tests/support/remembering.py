"""What tests of `Memory` need: one that opens quickly, and a look at its log itself."""

from contextlib import closing
from typing import Any

from mnemolog.memory import Memory
from mnemolog.schemas.decoded import Decoded, Ours
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.streams.publishing import Appended

RECORDS_MAX = 10_000
PATIENCE_SECONDS = 60  # a first question loads the embedder, beside other tests
QUICK = {"embedder": "hashing", "record_recalls": False}


def opened(data: Any = ":memory:", **more: Any) -> Memory:
    """Return a memory with the hashing embedder, which records no recalls unless *more* says so."""
    return Memory(data, **{**QUICK, **more})


def decoded(memory: Memory) -> list[Decoded]:
    """Return all that the log holds, decoded, partition after partition."""
    log = memory.engine.log
    ends = log.ends()
    with closing(log.reader(dict.fromkeys(ends, 0))) as reader:
        found: list[Decoded] = []
        while any(reader.positions()[p] < end for p, end in ends.items()):
            records = reader.poll(records_max=RECORDS_MAX, wait_seconds=1)
            found += [memory.engine.codec.decode(record) for record in records]
    return sorted(found, key=lambda item: item.record.position)


def recorded(memory: Memory) -> list[RecordedEvent]:
    """Return all events of the log, of which each has to be ours."""
    items = decoded(memory)
    assert all(isinstance(item, Ours) for item in items), items
    return [item.recorded for item in items if isinstance(item, Ours)]


def the_event(memory: Memory, appended: Appended) -> RecordedEvent:
    """Return the event that an append speaks of, from the log."""
    record = memory.engine.log.at(appended.position)
    assert record is not None
    item = memory.engine.codec.decode(record)
    assert isinstance(item, Ours), item
    return item.recorded


def texts(answer: Any) -> list[str]:
    """Return the texts of an answer, best first."""
    return [memory.text for memory in answer]
