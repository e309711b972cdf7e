"""A rebuild: a new generation from offset 0, caught up, verified, and then served.

It runs the projector of live work over another target. The serving generation goes on serving
until one file is replaced; a rebuild that dies leaves a folder that nobody reads.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from mnemolog.projections.batch import BATCH_RECORDS_MAX, Batch, decoded
from mnemolog.projections.fault_points import reached
from mnemolog.projections.kinds import Kind
from mnemolog.projections.projection import Projection
from mnemolog.projections.shelf import Shelf
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Decoded, Ours
from mnemolog.schemas.errors import HistoryLost, Parked
from mnemolog.schemas.events.governance import EventSkipped
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.log import Log
from mnemolog.streams.projecting import Projector

FOLLOW_UP_SECONDS: Final = 1.0
_SKIP_MARK: Final = EventSkipped.event_type.encode()


@dataclass(frozen=True, slots=True)
class Stage:
    """How far a rebuild has come: *done* of *total* records or vectors, after *seconds*."""

    name: str  # reading, vectors, verifying
    done: int
    total: int
    seconds: float

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the pace so far, or None before there is one."""
        return self.seconds / self.done * (self.total - self.done) if self.done else None


Tell = Callable[[Stage], None]


@dataclass(frozen=True, slots=True)
class Built:
    """A generation that does not serve yet, open for writing."""

    folder: Path
    projection: Projection


def built(kind: Kind, *, shelf: Shelf, log: Log, codec: Codec, epoch: int, tell: Tell) -> Built:
    """Return a new generation of *kind*, caught up with the log's end as of now, follow-up done.

    1. Refuse where the log's start is gone.
    2. Make the new generation's folder.
    3. Tell it every skip that the log holds.
    4. Fold the log, batch by batch.
    5. Refuse where an event was parked for another reason than being newer than this code.
    6. Do what comes after the rows.

    A crash leaves a folder that does not serve. Raises HistoryLost, Parked (which names the
    event), StoreUnavailable.
    """
    _refuse_lost_history(log)  # 1
    folder = shelf.create(kind)  # 2
    reached("rebuild.folder-made")
    projection = kind.open(shelf.place(folder, epoch=epoch))
    try:
        ends = log.ends()
        for batch in _skips(log, codec, ends):
            projection.apply(batch)  # 3
        fold(projection, log=log, codec=codec, until=ends, tell=tell)  # 4
        reached("rebuild.caught-up")
        _refuse_parked(projection)  # 5
        follow_up(projection, tell=tell)  # 6
    except BaseException:
        projection.close()
        shelf.generations(kind.name).discard(folder)
        raise
    return Built(folder, projection)


def fold(
    projection: Projection, *, log: Log, codec: Codec, until: Mapping[int, int], tell: Tell
) -> None:
    """Bring *projection* up to the offsets of *until*, telling how far it is."""
    projector = Projector(log, codec, [projection], records_max=BATCH_RECORDS_MAX)
    total, began = sum(until.values()), time.monotonic()
    done = sum(at.next_to_apply for at in projection.progress().values())
    try:
        while any(projector.positions().get(p, 0) < end for p, end in until.items()):
            done += projector.step(wait_seconds=0.2, until=until)
            tell(Stage("reading", min(done, total), total, time.monotonic() - began))
    finally:
        projector.close()


def follow_up(projection: Projection, *, tell: Tell) -> None:
    """Do all that comes after the rows: vectors, mostly."""
    began = time.monotonic()
    target = {partition: at.last_applied for partition, at in projection.progress().items()}
    while projection.follow_up(seconds_max=FOLLOW_UP_SECONDS):
        settled = projection.settled()
        done = sum(settled.get(partition, -1) + 1 for partition in target)
        total = sum(last + 1 for last in target.values())
        tell(Stage("vectors", done, total, time.monotonic() - began))


def _refuse_parked(projection: Projection) -> None:
    """Raise Parked, naming the first event that waits for another reason than newer code."""
    for parked in projection.parked():
        if not parked.newer and not parked.behind:
            record = parked.record
            raise Parked(
                projection.name,
                partition=record.partition,
                offset=record.offset,
                reason=parked.reason,
            )


def _refuse_lost_history(log: Log) -> None:
    for partition, start in log.starts().items():
        if start > 0:
            raise HistoryLost(log.topic, partition=partition, wanted=0, start=start)


def _skips(log: Log, codec: Codec, ends: Mapping[int, int]) -> Iterator[Batch]:
    """Yield the `event.skipped` events before *ends*: a rebuild knows them before it starts."""
    reader = log.reader(dict.fromkeys(ends, 0))
    try:
        while any(reader.positions().get(p, 0) < end for p, end in ends.items()):
            records = reader.poll(records_max=BATCH_RECORDS_MAX, wait_seconds=0.2)
            found = decoded([record for record in records if _may_skip(record)], codec).items
            skips = [item for item in found if _skips_an_event(item)]
            if skips:
                yield Batch(skips, retried=True)
    finally:
        reader.close()


def _may_skip(record: LogRecord) -> bool:
    """Say whether it is worth decoding *record*: its words may name the type, too."""
    in_headers = any(_SKIP_MARK in (value or b"") for _, value in record.headers)
    return in_headers or _SKIP_MARK in (record.value or b"")


def _skips_an_event(item: Decoded) -> bool:
    return isinstance(item, Ours) and isinstance(item.recorded.event, EventSkipped)
