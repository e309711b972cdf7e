"""The projector: reads the log from the projections' own progress and lets each fold what is new.

This is the one path of law 3: live, catching up and rebuilding all run `Projector.step`. It
keeps nothing that matters: where to read from is asked of the projections each time it starts.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Final

from mnemolog.projections.batch import BATCH_RECORDS_MAX, Batch, decoded
from mnemolog.projections.ledger import ParkedRecord
from mnemolog.projections.progress import Progress
from mnemolog.projections.projection import Projection
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.errors import Damaged, MnemologError, StoreUnavailable
from mnemolog.schemas.events.governance import EventSkipped
from mnemolog.schemas.partitioning import is_governance_key
from mnemolog.schemas.records import LogRecord
from mnemolog.streams.backing_off import BackOff
from mnemolog.streams.continuity import check_continuity
from mnemolog.streams.gate import Superseded
from mnemolog.streams.log import Log, Reader

CATCH_UP_POLL_SECONDS: Final = 0.2

Renewed = Callable[[str, Damaged], Projection]  # what takes a damaged projection's place
Reading = Callable[[], AbstractContextManager[None]]


class Projector:
    """Keeps *projections* in step with *log*. One thread at a time uses it.

    One whose store is unavailable rests for a while, so that the others read on; it is longer
    with each failure. `damaged` has those whose stores were found damaged, by name, until they
    are renewed. `reached` has the next offsets of those that took part in a step, holes passed:
    any thread may look at it.
    """

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
        self.damaged: dict[str, Damaged] = {}
        self.reached: Mapping[str, Mapping[int, int]] = {}
        self._rests: dict[str, BackOff] = {}
        self._reads_for: list[Projection] = []

    @property
    def trouble(self) -> MnemologError | None:
        """What a projection failed with that rests now, if one does."""
        return next((rest.error for rest in self._rests.values() if rest.error), None)

    @property
    def is_awake(self) -> bool:
        """Whether any projection is not resting."""
        return bool(self._awake())

    def start(self) -> None:
        """Check that the log is still the one that was applied, and retry what is parked.

        This code may be newer, and a process may have died between a skip and the release of the
        keys that waited for it; what still can't be applied stays parked. Raises LogReplaced,
        HistoryLost or LogUnavailable.
        """
        self._reading()
        for projection in self.projections:
            with self.noting_damage(projection):
                self._retry(projection, projection.parked())

    def positions(self) -> Mapping[int, int]:
        """Return the next offset to read of each partition."""
        return self._reading().positions()

    def step(
        self,
        *,
        wait_seconds: float,
        until: Mapping[int, int] | None = None,
        reading: Reading = nullcontext,
    ) -> int:
        """Read once, waiting up to *wait_seconds*, and apply; return how many records came.

        Records at or after *until* are left; *reading* is entered to read. Raises
        StoreUnavailable, LogUnavailable or Damaged after the other projections have applied what
        came; the next step reads again what was missed. All rest: the first one's error is
        raised, and nothing is read.
        """
        if self._reads_for != self._awake():
            self.rewind()  # one rests, or goes on
        if self.trouble is not None and not self.is_awake:
            raise self.trouble
        try:
            records = self._read(wait_seconds, reading)
        except StoreUnavailable:
            self.rewind()
            raise
        if until is not None:
            records = [
                record for record in records if record.offset < until.get(record.partition, 0)
            ]
        if records:
            self._apply(records)
        if until is None:
            self._note_reached()
        return len(records)

    def _read(self, wait_seconds: float, reading: Reading) -> Sequence[LogRecord]:
        reader = self._reading()
        try:
            with reading():
                return reader.poll(records_max=self._records_max, wait_seconds=wait_seconds)
        except Superseded:
            with suppress(MnemologError):  # nobody else has it any more
                reader.close()
            raise

    def _note_reached(self) -> None:
        """Note how far those are for which was read, behind holes, too."""
        now = self.positions()
        told = dict(self.reached)
        for projection in self._reads_for:
            before = told.get(projection.name, {})
            told[projection.name] = {p: max(at, before.get(p, 0)) for p, at in now.items()}
        self.reached = told

    def catch_up(self, until: Mapping[int, int]) -> None:
        """Apply everything before the offsets of *until*, which the log holds already.

        None rests meanwhile: the first failure is raised.
        """
        self._rests.clear()
        self.rewind()
        while not _has_reached(self.positions(), until):
            self.step(wait_seconds=CATCH_UP_POLL_SECONDS, until=until)
        self.rewind()  # what was read beyond is read again

    def retry(self, projection: Projection, *keys: str) -> None:
        """Apply the parked events of *keys* again, in order; what still can't be stays parked."""
        meant = set(keys)
        with self.noting_damage(projection):
            parked = [record for record in projection.parked() if record.key in meant]
            self._retry(projection, parked)

    def replace(self, name: str, fresh: Projection) -> None:
        """Go on with *fresh* in place of the projection *name*, which is closed if it is there."""
        self._drop(name)
        self.projections.append(fresh)

    def renew(self, renewed: Renewed) -> None:
        """Put what *renewed* returns in the place of each projection that was found damaged.

        Those are closed before. Raises StoreUnavailable if one can't be opened now: it is left
        out, and a call after its rest tries again. Raises Damaged if one can't be brought back.
        """
        for name, error in list(self.damaged.items()):
            rest = self._rests.setdefault(name, BackOff())
            if not rest.is_due:
                continue
            self._drop(name)
            try:
                fresh = renewed(name, error)
            except StoreUnavailable as refusal:
                rest.failed(refusal)
                self.damaged[name], self._rests[name] = error, rest
                raise
            self.replace(name, fresh)

    def _drop(self, name: str) -> None:
        """Go on without the projection *name*, which is closed if it is there."""
        for former in [item for item in self.projections if item.name == name]:
            self.projections.remove(former)
            former.close()
        self.damaged.pop(name, None)
        self._rests.pop(name, None)
        self.reached = {other: at for other, at in self.reached.items() if other != name}
        self.rewind()

    def _awake(self) -> list[Projection]:
        """Return the projections that are not resting."""
        return [one for one in self.projections if self._rest_of(one).is_due]

    def _rest_of(self, projection: Projection) -> BackOff:
        return self._rests.setdefault(projection.name, BackOff())

    @contextmanager
    def noting_damage(self, projection: Projection) -> Iterator[None]:
        """Note *projection* as damaged where the block raises that; it is raised all the same."""
        try:
            yield
        except Damaged as error:
            self.damaged[projection.name] = error
            raise

    def rewind(self) -> None:
        """Read on from the projections' own progress."""
        reader, self._reader = self._reader, None
        if reader is not None:
            with suppress(StoreUnavailable):  # a log that is away keeps no store from being let go
                reader.close()

    def leave_reader(self) -> None:
        """Let whoever hangs in the reader have it; a new one reads on."""
        self._reader = None

    def close(self) -> None:
        """Let go of the reader. The projections are the caller's. Harmless twice."""
        self.rewind()

    def _reading(self) -> Reader:
        """Return the reader. A new one goes on in the log that was applied, or raises."""
        if self._reader is None:
            self._reads_for = self._awake()
            self._check_continuity()
            self._reader = self._log.reader(self._next_to_apply())
        return self._reader

    def _check_continuity(self) -> None:
        checked: list[Mapping[int, tuple[int, str]]] = []
        for projection in self._reads_for:
            progress = self._progress_of(projection).items()
            last = {p: (at.last_applied, at.fingerprint) for p, at in progress}
            unseen = {p: (-1, "") for p in range(self._log.partitions) if p not in last}
            if (wanted := {**last, **unseen}) not in checked:
                check_continuity(self._log, last_applied=wanted)
                checked.append(wanted)

    def _next_to_apply(self) -> dict[int, int]:
        """Return where the projection that is furthest behind goes on, in each partition."""
        starts = dict.fromkeys(range(self._log.partitions), 0)
        if not self._reads_for:
            return starts
        progress = [self._progress_of(projection) for projection in self._reads_for]
        return {
            partition: min(p[partition].next_to_apply if partition in p else 0 for p in progress)
            for partition in starts
        }

    def _progress_of(self, projection: Projection) -> Mapping[int, Progress]:
        with self.noting_damage(projection):
            return projection.progress()

    def _apply(self, records: Sequence[LogRecord]) -> None:
        batch = decoded(records, self._codec)
        failure: MnemologError | None = None
        for projection in self._reads_for:
            try:
                with self.noting_damage(projection):
                    projection.apply(batch)
                    self._release_skipped(projection, batch)
                self._rest_of(projection).succeeded()
            except StoreUnavailable as error:
                self._rest_of(projection).failed(error)
                failure = failure or error
            except Damaged as error:
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
        """Apply *parked*, which has all of some keys, again: whole keys, many at a time.

        Policies come first: they count for what waited behind them.
        """
        waiting: dict[str, list[LogRecord]] = {}
        for one in parked:
            waiting.setdefault(one.key, []).append(one.record)
        run: list[LogRecord] = []
        for key in sorted(waiting, key=lambda key: (not is_governance_key(key), key)):
            run += waiting[key]
            if len(run) >= self._records_max:
                projection.apply(Batch(decoded(run, self._codec).items, retried=True))
                run = []
        if run:
            projection.apply(Batch(decoded(run, self._codec).items, retried=True))


def _has_reached(positions: Mapping[int, int], until: Mapping[int, int]) -> bool:
    return all(positions.get(partition, 0) >= end for partition, end in until.items())
