"""The reading half of a processor's host: states by key, what is to be done, what was done.

It has the shape of a projection, so that repeats, parked keys, skips, policies and the log's
continuity are judged by the code that judges them for every other fold. What it keeps is a cache.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import structlog

from mnemolog.projections.batch import Batch
from mnemolog.projections.choosing import LATE, Choice, Step, choose
from mnemolog.projections.digests import ContentRow
from mnemolog.projections.ledger import ParkedRecord
from mnemolog.projections.progress import Progress
from mnemolog.projections.sqlite_ledger import SQLiteLedger
from mnemolog.projections.sqlite_store import speaking_of, transaction
from mnemolog.schemas.decoded import Guest, Ours
from mnemolog.schemas.errors import Damaged
from mnemolog.schemas.events.governance import ProcessorAdvanced
from mnemolog.schemas.positions import Position
from mnemolog.streams.processing import (
    CHAIN_DEPTH_MAX,
    Processor,
    depth_of,
    output_id,
    skip_name,
    source_of,
)
from mnemolog.streams.processor_store import ProcessorStore, Work, open_for, remove

_log = structlog.get_logger("mnemolog.processors")


class ProcessorFold:
    """What a processor knows of the log, in a file. One thread at a time uses it."""

    def __init__(self, processor: Processor, path: Path) -> None:
        """Open the file at *path*, or make it. Raises StoreUnavailable."""
        self._processor = processor
        self._path = path
        self._source = source_of(processor.name)
        self._open()

    def _open(self) -> None:
        self._connection = open_for(self._path, self._processor.version)
        self._ledger = SQLiteLedger(self._connection)
        self._store = ProcessorStore(self._connection)

    def begin_anew(self) -> None:
        """Forget all of it: the log is folded from its start again."""
        self.close()
        remove(self._path)
        self._open()

    @property
    def name(self) -> str:
        """The processor's name."""
        return self._processor.name

    @property
    def version(self) -> int:
        """The version of the processor's fold."""
        return self._processor.version

    @contextmanager
    def changing(self) -> Iterator[ProcessorStore]:
        """Give the store within one transaction."""
        with transaction(self._connection, store=self._path), speaking_of(self._path):
            yield self._store

    def progress(self) -> Mapping[int, Progress]:
        """Return how far each partition was read."""
        with speaking_of(self._path):
            return self._ledger.progress()

    def apply(self, batch: Batch) -> None:
        """Fold what is new in *batch*, in one transaction.

        What is to be done is noted before what was done: an output stands behind its cause. Raises
        Damaged, having changed nothing, where a policy can be read too late for what was folded
        meanwhile: a cache is begun anew.
        """
        with self.changing() as store:
            choice = choose(batch, self._ledger, projection=skip_name(self.name), wants=self._wants)
            if choice.is_late:
                raise Damaged(self.name, LATE)
            choice.entries.foreign.clear()  # the projections list them
            self._fold(choice, store)
            done = [step.item.recorded for step in choice.steps if isinstance(step.item, Ours)]
            store.made(one.id for one in done if one.envelope.source == self._source)
            store.made(output_id(self.name, skipped) for skipped in choice.entries.skips)
            marks = [one.event for one in done if isinstance(one.event, ProcessorAdvanced)]
            store.advanced(
                Position(mark.partition, mark.offset)
                for mark in marks
                if mark.processor == self.name
            )
            self._ledger.record(choice.entries)
        self._tell_of_ends(batch)

    def _wants(self, item: Ours | Guest) -> bool:
        if not isinstance(item, Ours):
            return False
        if item.envelope.source == self._source or item.event_type == ProcessorAdvanced.event_type:
            return True
        is_deep = depth_of(item.envelope) >= CHAIN_DEPTH_MAX
        return item.event_type in self._processor.inputs and not is_deep

    def _tell_of_ends(self, batch: Batch) -> None:
        """Say where a chain of processors came to its bound."""
        for item in batch.items:
            if isinstance(item, Ours) and depth_of(item.envelope) >= CHAIN_DEPTH_MAX:
                at, name = str(item.record.position), self.name
                _log.warning("a chain of processors ends here", processor=name, position=at)

    def _is_input(self, step: Step) -> bool:
        is_own = step.item.envelope.source == self._source
        return not is_own and step.item.event_type in self._processor.inputs

    def _fold(self, choice: Choice, store: ProcessorStore) -> None:
        """Fold *choice*'s inputs; a step that can't be folded is parked in it."""
        steps = [step for step in choice.steps if self._is_input(step)]
        states = _States(self._processor, store.states({step.item.key for step in steps}))
        works, parked = list[Work](), set[str]()
        for step in steps:
            if step.item.key in parked:
                continue
            try:
                works += self._folded(step, states)
            except Exception as error:  # noqa: BLE001 - whatever a rule's fault is, others go on
                reason = f"{type(error).__name__}: {error}"
                if choice.park(step, reason):
                    parked.add(step.item.key)
                    place = str(step.item.record.position)
                    _log.error(
                        "a rule failed; its key waits",
                        processor=self.name,
                        position=place,
                        error=type(error).__name__,
                    )
        store.save_states(states.changed())
        store.add(works)

    def _folded(self, step: Step, states: "_States") -> list[Work]:
        assert isinstance(step.item, Ours), "guests are not wanted"
        recorded = step.item.recorded
        folded = self._processor.fold(states.of(step.item.key), recorded, step.in_force.policy)
        states.set(step.item.key, folded.state)
        if folded.found is None:
            return []
        output = output_id(self.name, recorded.identity)
        return [Work(step.item.record, step.item.key, output, folded.found)]

    def follow_up(self, *, seconds_max: float) -> bool:  # noqa: ARG002 - the port's
        """Nothing comes after the rows: `ProcessorRunner` does the work."""
        return False

    def settled(self) -> Mapping[int, int]:
        """Return the last offset that was read of each partition."""
        return {partition: done.last_applied for partition, done in self.progress().items()}

    def content(self) -> Iterator[ContentRow]:
        """Yield nothing: a cache has no content of its own."""
        return iter(())

    def parked(self) -> Sequence[ParkedRecord]:
        """Return the events that could not be folded, and those behind them."""
        with speaking_of(self._path):
            return self._ledger.parked()

    def close(self) -> None:
        """Let go of the file. Harmless twice."""
        self._connection.close()


class _States:
    """The states of a batch's keys: read once, written once."""

    def __init__(self, processor: Processor, texts: Mapping[str, str]) -> None:
        self._adapter = processor.states
        self._texts = texts
        self._known: dict[str, Any] = {}

    def of(self, key: str) -> Any | None:
        if key not in self._known and key in self._texts:
            return self._adapter.validate_json(self._texts[key])
        return self._known.get(key)

    def set(self, key: str, state: Any) -> None:
        self._known[key] = state

    def changed(self) -> dict[str, str]:
        return {key: self._adapter.dump_json(state).decode() for key, state in self._known.items()}
