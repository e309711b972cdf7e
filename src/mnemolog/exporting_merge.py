"""One stream out of a log's partitions, in which each event has the policy that it has in its own.

What rules every key has a copy in each partition, so that a log has as many orders as partitions.
In the stream it stands once: a partition that comes to its copy waits until all others have come
to a copy, too, or to their end. When all wait, what changes no policy goes first, then the lowest
revision: no event of a partition that waits at a higher one can lie under it. Copies of what has
gone out are passed over; those that a crash left missing are missed by nobody.
"""

import heapq
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from mnemolog.schemas.cloudevents import read_cloud_event
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Decoded, Foreign, Guest, Ours, Unusable
from mnemolog.schemas.events.governance import PolicyChanged, ProcessorAdvanced
from mnemolog.schemas.partitioning import is_governance_key
from mnemolog.schemas.portable import group_of
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.log import Log, Reader

PAGE_RECORDS: Final = 500  # of one partition, read at once
HELD_RECORDS_MAX: Final = 4_000  # of all partitions, where these are many
READERS_MAX: Final = 16  # open at a time: each is a connection or a consumer
GROUPS_KNOWN_MAX: Final = 65_536  # governance events whose late copies are known for copies
POLL_SECONDS: Final = 0.5


@dataclass(frozen=True, slots=True)
class OnItsWay:
    """A record in the stream; `is_copied` says that it stands for its copies, too."""

    item: Decoded
    is_copied: bool = False


@dataclass(frozen=True, slots=True, order=True)
class _Barrier:
    """A copy that its partition waits at, in the order in which they go out."""

    changes_policy: bool
    revision: int
    partition: int
    group: str


def merged(
    log: Log, codec: Codec, *, starts: Mapping[int, int], ends: Mapping[int, int]
) -> Iterator[OnItsWay]:
    """Yield the records of *log* from *starts* up to *ends*: by key in the order of the log.

    Between the partitions the order is that of the log's time, as far as it goes. What is held of
    the log is bounded. Raises what reading raises.
    """
    with ExitStack() as stack:
        pages = _Pages(log, starts, ends)
        stack.callback(pages.close)
        yield from _Merging(pages, codec, starts).run()


class _Pages:
    """Reads partitions a page at a time, with few readers open."""

    def __init__(self, log: Log, starts: Mapping[int, int], ends: Mapping[int, int]) -> None:
        self._log = log
        self._next = dict(starts)
        self._ends = ends
        self._records = max(1, min(PAGE_RECORDS, HELD_RECORDS_MAX // max(1, len(starts))))
        self._readers: dict[int, Reader] = {}  # the one used last stands last

    def page(self, partition: int) -> list[LogRecord]:
        """Return the next records of *partition*; none once its end is reached. Passes holes."""
        end = self._ends[partition]
        while self._next[partition] < end:
            reader = self._reader(partition)
            found = reader.poll(records_max=self._records, wait_seconds=POLL_SECONDS)
            self._next[partition] = reader.positions()[partition]
            if records := [record for record in found if record.offset < end]:
                return records
        return []

    def close(self) -> None:
        """Close all readers."""
        while self._readers:
            self._readers.popitem()[1].close()

    def _reader(self, partition: int) -> Reader:
        reader = self._readers.pop(partition, None)
        if reader is None:
            if len(self._readers) >= READERS_MAX:
                self._readers.pop(next(iter(self._readers))).close()
            reader = self._log.reader({partition: self._next[partition]})
        self._readers[partition] = reader
        return reader


class _Merging:
    def __init__(self, pages: _Pages, codec: Codec, partitions: Mapping[int, int]) -> None:
        self._pages = pages
        self._codec = codec
        self._held: dict[int, deque[LogRecord]] = {p: deque() for p in partitions}
        self._latest: dict[int, datetime] = {}  # a partition's time only grows
        self._ready: list[tuple[datetime, int]] = []
        self._heads: dict[int, Decoded] = {}
        self._waiting: list[_Barrier] = []
        self._gone: dict[str, None] = {}  # groups, the latest last

    def run(self) -> Iterator[OnItsWay]:
        for partition in sorted(self._held):
            self._advance(partition)
        while self._ready or self._waiting:
            if self._ready:
                _, partition = heapq.heappop(self._ready)
                yield OnItsWay(self._heads.pop(partition))
                self._advance(partition)
            else:
                yield self._let_go(min(self._waiting))

    def _let_go(self, barrier: _Barrier) -> OnItsWay:
        """Return what waits at *barrier*, and let all that wait for it go on."""
        self._gone[barrier.group] = None
        if len(self._gone) > GROUPS_KNOWN_MAX:
            del self._gone[next(iter(self._gone))]
        item = self._heads[barrier.partition]
        freed = [one for one in self._waiting if one.group == barrier.group]
        self._waiting = [one for one in self._waiting if one.group != barrier.group]
        for one in freed:
            self._advance(one.partition)
        return OnItsWay(item, is_copied=True)

    def _advance(self, partition: int) -> None:
        """Find what is next in *partition*, behind copies of what has gone out."""
        self._heads.pop(partition, None)
        while (record := self._record(partition)) is not None:
            item = self._codec.decode(record)
            barrier = _barrier(item)
            if barrier is not None and barrier.group in self._gone:
                continue
            self._heads[partition] = item
            if barrier is not None:
                self._waiting.append(barrier)
            else:
                heapq.heappush(self._ready, (self._time_of(record), partition))
            return

    def _record(self, partition: int) -> LogRecord | None:
        held = self._held[partition]
        if not held:
            held.extend(self._pages.page(partition))
        return held.popleft() if held else None

    def _time_of(self, record: LogRecord) -> datetime:
        latest = max(record.recorded_at, self._latest.get(record.partition, record.recorded_at))
        self._latest[record.partition] = latest
        return latest


def _barrier(item: Decoded) -> _Barrier | None:
    """Return what *item* is to its partition if it is a copy of what rules every key."""
    if isinstance(item, Foreign | Guest) or not is_governance_key(item.key):
        return None
    if item.event_type == ProcessorAdvanced.event_type:
        return None
    return _Barrier(
        changes_policy=item.event_type == PolicyChanged.event_type,
        revision=_revision(item),
        partition=item.record.partition,
        group=group_of(item),
    )


def _revision(item: Ours | Unusable) -> int:
    data = read_cloud_event(item.record).data
    revision = data.get("revision") if isinstance(data, dict) else None
    return revision if isinstance(revision, int) else 0
