"""The projector: reads the log from the projections' own progress and lets each fold what is new.

This is the one path of law 3: live, catching up and rebuilding all run `Projector.step`. It
keeps nothing that matters: where to read from is asked of the projections each time it starts.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from mnemolog.projections.batch import BATCH_RECORDS_MAX, Batch, decoded
from mnemolog.projections.ledger import ParkedRecord
from mnemolog.projections.projection import Projection
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.errors import MnemologError, StoreUnavailable
from mnemolog.schemas.events.governance import EventSkipped
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.continuity import check_continuity
from mnemolog.streams.log import Log, Reader

CATCH_UP_POLL_SECONDS: Final = 0.2


class Projector:
    """Keeps *projections* in step with *log*. One thread at a time uses it."""

    def __init__(
        self,
        log: Log,
        codec: Codec,
        projections: Sequence[Projection],
        *,
        records_max: int = BATCH_RECORDS_MAX,
    ) -> None:
        self._log = log
        self._codec = codec
        self._records_max = records_max
        self._reader: Reader | None = None
        self.projections = list(projections)

    def start(self) -> None:
        """Check that the log is still the one that was applied, and retry what is parked.

        This code may be newer, and a process may have died between a skip and the release of the
        keys that waited for it; what still can't be applied stays parked. Raises LogReplaced,
        HistoryLost or LogUnavailable.
        """
        self._reading()
        for projection in self.projections:
            self._retry(projection, projection.parked())

    def positions(self) -> Mapping[int, int]:
        """Return the next offset to read of each partition."""
        return self._reading().positions()

    def step(self, *, wait_seconds: float, until: Mapping[int, int] | None = None) -> int:
        """Read once, waiting up to *wait_seconds*, and apply; return how many records came.

        Records at or after *until* are left. Raises StoreUnavailable or LogUnavailable after the
        other projections have applied what came; the next step reads again what was missed.
        """
        try:
            records = self._reading().poll(records_max=self._records_max, wait_seconds=wait_seconds)
        except StoreUnavailable:
            self.rewind()
            raise
        if until is not None:
            records = [
                record for record in records if record.offset < until.get(record.partition, 0)
            ]
        if records:
            self._apply(records)
        return len(records)

    def catch_up(self, until: Mapping[int, int]) -> None:
        """Apply everything before the offsets of *until*, which the log holds already."""
        while not _has_reached(self.positions(), until):
            self.step(wait_seconds=CATCH_UP_POLL_SECONDS, until=until)
        self.rewind()  # what was read beyond is read again

    def retry(self, projection: Projection, key: str) -> None:
        """Apply a parked key's events again, in order; those that still can't be stay parked."""
        self._retry(projection, [parked for parked in projection.parked() if parked.key == key])

    def replace(self, name: str, fresh: Projection) -> None:
        """Go on with *fresh* in place of the projection *name*, which is closed if it is there."""
        for former in [item for item in self.projections if item.name == name]:
            self.projections.remove(former)
            former.close()
        self.projections.append(fresh)
        self.rewind()

    def rewind(self) -> None:
        """Read on from the projections' own progress."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def close(self) -> None:
        """Let go of the reader. The projections are the caller's. Harmless twice."""
        self.rewind()

    def _reading(self) -> Reader:
        """Return the reader. A new one goes on in the log that was applied, or raises."""
        if self._reader is None:
            self._check_continuity()
            self._reader = self._log.reader(self._next_to_apply())
        return self._reader

    def _check_continuity(self) -> None:
        checked: list[Mapping[int, tuple[int, str]]] = []
        for projection in self.projections:
            last = {p: (at.last_applied, at.fingerprint) for p, at in projection.progress().items()}
            unseen = {p: (-1, "") for p in range(self._log.partitions) if p not in last}
            if (wanted := {**last, **unseen}) not in checked:
                check_continuity(self._log, last_applied=wanted)
                checked.append(wanted)

    def _next_to_apply(self) -> dict[int, int]:
        """Return where the projection that is furthest behind goes on, in each partition."""
        starts = dict.fromkeys(range(self._log.partitions), 0)
        if not self.projections:
            return starts
        progress = [projection.progress() for projection in self.projections]
        return {
            partition: min(p[partition].next_to_apply if partition in p else 0 for p in progress)
            for partition in starts
        }

    def _apply(self, records: Sequence[LogRecord]) -> None:
        batch = decoded(records, self._codec)
        failure: MnemologError | None = None
        for projection in self.projections:
            try:
                projection.apply(batch)
                self._release_skipped(projection, batch)
            except StoreUnavailable as error:
                failure = failure or error
        if failure is not None:
            self.rewind()
            raise failure

    def _release_skipped(self, projection: Projection, batch: Batch) -> None:
        """Let go of the keys that waited for an event which *batch* says to skip."""
        events = [item.recorded.event for item in batch.items if isinstance(item, Ours)]
        skipped = {event.skipped for event in events if isinstance(event, EventSkipped)}
        if skipped:
            parked = projection.parked()
            keys = {record.key for record in parked if record.identity in skipped}
            self._retry(projection, [record for record in parked if record.key in keys])

    def _retry(self, projection: Projection, parked: Sequence[ParkedRecord]) -> None:
        """Apply *parked*, which has all of some keys, again: whole keys, many at a time."""
        waiting: dict[str, list[LogRecord]] = {}
        for one in parked:
            waiting.setdefault(one.key, []).append(one.record)
        run: list[LogRecord] = []
        for key in sorted(waiting):
            run += waiting[key]
            if len(run) >= self._records_max:
                projection.apply(Batch(decoded(run, self._codec).items, retried=True))
                run = []
        if run:
            projection.apply(Batch(decoded(run, self._codec).items, retried=True))


def _has_reached(positions: Mapping[int, int], until: Mapping[int, int]) -> bool:
    return all(positions.get(partition, 0) >= end for partition, end in until.items())
