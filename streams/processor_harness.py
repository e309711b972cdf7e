"""Runs one processor over a log: reads, finds what is to be done, does it, appends.

    1. Read on, and fold. Before any work, and after any failure, up to the log's end as it is
       then: what was done stands there.
    2. Let the processor do what is to be done.
    3. Append the outputs.
    4. Note in the file what was done, and append a mark now and then for causes that gave none.

A crash after 2 repeats a call; after 3 nothing: the outputs are met in 1. Two hosts at once append
the same under the same ids.
"""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import structlog

from mnemolog.projections.fault_points import reached
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.envelope import Envelope
from mnemolog.schemas.errors import (
    Damaged,
    InvalidEvent,
    LogReplaced,
    MnemologError,
)
from mnemolog.schemas.events.governance import ProcessorAdvanced
from mnemolog.schemas.ids import derived_id
from mnemolog.schemas.partitioning import governance_key
from mnemolog.schemas.records import NewRecord
from mnemolog.streams.clock import Clock, system_clock
from mnemolog.streams.log import Log
from mnemolog.streams.processing import (
    BATCH_CAUSES_MAX,
    Cause,
    Context,
    Output,
    Processor,
    draft_of,
    output_id,
    source_of,
)
from mnemolog.streams.processor_fold import ProcessorFold
from mnemolog.streams.processor_making import Made, Making
from mnemolog.streams.processor_store import path_of
from mnemolog.streams.projecting import CATCH_UP_POLL_SECONDS, Projector
from mnemolog.streams.publishing import Publisher

MARK_CAUSES: Final = 200  # without an output, after which a mark tells that they were judged
HELD_SECONDS: Final = 60.0  # after which keys that are held are tried again
BEGUN_ANEW_MAX: Final = 3  # times that one host makes a file anew: a disk may be at fault
FAULT_POINTS: Final = ("processor.made", "processor.appended", "processor.noted")

_log = structlog.get_logger("mnemolog.processors")


class ProcessorRunner:
    """One processor of one tenant, in a host that owns it. One thread at a time uses it."""

    def __init__(
        self,
        processor: Processor,
        log: Log,
        codec: Codec,
        publisher: Publisher,
        *,
        tenant_folder: Path,
        making: Making | None = None,
        mark_causes: int = MARK_CAUSES,
        now: Callable[[], float] = time.monotonic,
        clock: Clock = system_clock,
    ) -> None:
        """Open the processor's file below *tenant_folder*. Raises StoreUnavailable."""
        self.processor = processor
        self._log = log
        self._codec = codec
        self._publisher = publisher
        context = Context(tenant=codec.tenant, processor=processor.name)
        self._making = making or Making(processor, context)
        self._mark_causes = mark_causes
        self._now = now
        self._clock = clock
        self._fold = ProcessorFold(processor, path_of(tenant_folder, processor.name))
        self._projector = Projector(log, codec, [self._fold])
        self.note_trouble(None)
        # The ends up to which the fold has to read before it has met all that was done; {} where
        # they are to be asked for, None where it has.
        self._until: dict[int, int] | None = {}
        self._begun_anew = 0
        self._held_at = float("-inf")  # when keys were last let go to be tried again

    @property
    def fold(self) -> ProcessorFold:
        """What it knows of the log."""
        return self._fold

    async def step(self) -> bool:
        """Read on and do what is to be done; say whether there was anything.

        Raises StoreUnavailable, after which the next step begins with what was done; what a rule
        can't do holds its key and raises nothing.
        """
        try:
            came = self._read()
            return await self._work() or came if self._until is None else True
        except (Damaged, LogReplaced) as error:
            self._begin_anew(error)
            return True
        except BaseException:
            self._until = {}
            raise

    def positions(self) -> Mapping[int, int]:
        """Return the next offset to read of each partition."""
        return self._projector.positions()

    def note_trouble(self, error: BaseException | None) -> None:
        """Let others see what the host can't go on from, or that it goes on."""
        with self._fold.changing() as store:
            store.note_trouble(None if error is None else f"{type(error).__name__}: {error}")

    def close(self) -> None:
        """Let go of the reader and the file. Harmless twice."""
        self._projector.close()
        self._fold.close()

    def _read(self) -> bool:
        """Fold what is new; say whether anything was. It may be that there is more."""
        if self._until is None:
            return self._projector.step(wait_seconds=0) > 0
        if not self._until:
            self._projector.rewind()
            self._projector.start()
            self._until = dict(self._log.ends())
        came = self._projector.step(wait_seconds=CATCH_UP_POLL_SECONDS)
        at = self._projector.positions()
        if all(at.get(partition, 0) >= end for partition, end in self._until.items()):
            self._until = None
        return came > 0

    def _begin_anew(self, error: MnemologError) -> None:
        """Fold the log from its start: the file is damaged, or of a log that is no more."""
        if self._begun_anew == BEGUN_ANEW_MAX:
            raise error
        self._begun_anew += 1
        _log.warning("begun anew", processor=self.processor.name, error=str(error))
        self._projector.close()
        self._fold.begin_anew()
        self._projector = Projector(self._log, self._codec, [self._fold])
        self._until = {}

    async def _work(self) -> bool:
        self._let_go()
        with self._fold.changing() as store:
            works = store.next_work(causes_max=BATCH_CAUSES_MAX)
        causes = []
        for record, found in works:
            item = self._codec.decode(record)
            assert isinstance(item, Ours), "it was one when it was folded"
            causes.append(Cause(item.recorded, found))
        if causes:
            made = await self._making.make(causes)
            reached("processor.made")
            self._append(made)
            self._note(made)
        self._mark()
        return bool(causes)

    def _append(self, made: Made) -> None:
        """Append the outputs; one that can't be is its cause's failure."""
        drafts = [draft_of(output, self.processor.name) for output in made.outputs]
        try:
            self._publisher.append(drafts)
        except InvalidEvent:
            appended = [output for output in made.outputs if self._is_appended(output, made)]
            made.outputs[:] = appended
        reached("processor.appended")

    def _is_appended(self, output: Output, made: Made) -> bool:
        key = output.cause.recorded.key
        if key in made.failed:
            return False
        try:
            self._publisher.append([draft_of(output, self.processor.name)])
        except InvalidEvent as error:
            made.failed[key] = (output.cause, f"{type(error).__name__}: {error}")
            return False
        return True

    def _note(self, made: Made) -> None:
        ids = {cause.recorded.identity: self._output_id(cause) for cause in made.judged}
        given = {output.cause.recorded.identity for output in made.outputs}
        with self._fold.changing() as store:
            store.made(ids[identity] for identity in given)
            store.silent(
                ids[cause.recorded.identity]
                for cause in made.judged
                if cause.recorded.identity not in given and cause.recorded.key not in made.failed
            )
            for key, (cause, error) in made.failed.items():
                store.hold(key, cause.recorded.position, error)
                _log.error(
                    "a rule failed; its key waits",
                    processor=self.processor.name,
                    position=str(cause.recorded.position),
                    error=error.split(":")[0],
                )
        reached("processor.noted")

    def _let_go(self) -> None:
        """Let keys that are held be tried again, now and then; those of a former host at once."""
        if self._now() - self._held_at >= HELD_SECONDS:
            self._held_at = self._now()
            with self._fold.changing() as store:
                store.release()

    def _mark(self) -> None:
        with self._fold.changing() as store:
            due = store.marks_due(causes_min=self._mark_causes)
        for partition, offset in due.items():
            self._log.append([self._mark_of(partition, offset)])

    def _mark_of(self, partition: int, offset: int) -> NewRecord:
        name = self.processor.name
        event = ProcessorAdvanced(processor=name, partition=partition, offset=offset)
        envelope = Envelope(
            id=derived_id("processor advanced", name, str(partition), str(offset)),
            source=source_of(name),
            occurred_at=self._clock(),
            key=governance_key(partition, partitions=self._log.partitions),
        )
        return self._publisher.record(event, envelope)

    def _output_id(self, cause: Cause) -> str:
        return output_id(self.processor.name, cause.recorded.identity)
