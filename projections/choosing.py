"""Which records of a batch a projection applies now.

The one place where repeats, parked keys, skips and policies are judged, for every projection,
live and in a rebuild alike.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeGuard

from mnemolog.projections.batch import Batch
from mnemolog.projections.ledger import (
    Entries,
    ForeignRecord,
    Ledger,
    ParkedRecord,
    PolicyInForce,
    Repeat,
)
from mnemolog.projections.progress import Arrival, Progress, arrival
from mnemolog.schemas.decoded import Decoded, Foreign, Guest, Ours, Unusable
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.governance import EventSkipped, PolicyChanged
from mnemolog.schemas.policy import BUILT_IN
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import fingerprint

# Why a policy stays parked that could be applied: rows would differ from those of a rebuild.
LATE: Final = "what stands after it was folded under another policy while it waited: rebuild"

Wants = Callable[[Ours | Guest], bool]
_BUILT_IN = PolicyInForce(0, BUILT_IN)


@dataclass(frozen=True, slots=True)
class Step:
    """An event to apply, and the policy in force where it stands."""

    item: Ours | Guest
    in_force: PolicyInForce


@dataclass
class Choice:
    """What to apply, in order, and what the ledger is to write with it.

    `skips` are the identities that the ledger knows as skipped, of the batch's events.
    """

    steps: list[Step] = field(default_factory=list)
    entries: Entries = field(default_factory=Entries)
    skips: set[str] = field(default_factory=set)

    @property
    def is_late(self) -> bool:
        """Whether a policy stays parked that could be applied."""
        return any(parked.reason == LATE for parked in self.entries.parked)

    def is_skipped(self, identity: str) -> bool:
        """Say whether an event is to be dropped where it would have to be parked."""
        return identity in self.skips or identity in self.entries.skips

    def park(self, failed: Step, reason: str) -> bool:
        """Take *failed* and its key's later steps out, park them in order, and return True.

        One that is skipped is dropped alone: its key goes on, which False says.
        """
        if self.is_skipped(failed.item.identity):
            self.entries.seen.pop(failed.item.identity, None)
            self.steps.remove(failed)
            return False
        key, at = failed.item.key, self.steps.index(failed)
        behind = [step for step in self.steps[at + 1 :] if step.item.key == key]
        for step in (failed, *behind):
            self.entries.seen.pop(step.item.identity, None)
            self.entries.parked.append(_parked(step.item, reason, behind=step is not failed))
        gone = {id(step) for step in (failed, *behind)}
        self.steps = [step for step in self.steps if id(step) not in gone]
        return True


def choose(batch: Batch, ledger: Ledger, *, projection: str, wants: Wants) -> Choice:
    """Return what *projection* applies of *batch*, given what its *ledger* holds.

    *wants* says which events it folds; the others only move its progress. The same batch again
    gives an empty choice.
    """
    return _Chooser(batch, ledger, projection, wants).choice()


class _Chooser:
    def __init__(self, batch: Batch, ledger: Ledger, projection: str, wants: Wants) -> None:
        self._batch = batch
        self._projection = projection
        self._wants = wants
        self._progress = ledger.progress()
        self._ledger = ledger
        self._policies = {} if batch.retried else ledger.policies()
        self._parked_keys = set() if batch.retried else ledger.parked_keys()
        self._next = [item for item in batch.items if self._is_next(item)]
        if batch.retried:  # keys in turn: a policy counts for what stands behind it, and no more
            self._next.sort(key=lambda item: item.record.position)
        self._seen = ledger.seen([item.identity for item in self._next if self._may_apply(item)])
        told = [item.identity for item in self._next if not isinstance(item, Foreign)]
        self._choice = Choice(skips=ledger.skips(told))

    def choice(self) -> Choice:
        entries = self._choice.entries
        taken: set[tuple[int, int]] = set()  # a record may come twice in a batch
        for item in self._next:
            position = item.record.position
            if position not in taken:
                taken.add(position)
                self._take(item)
        if self._batch.retried:
            entries.released = [item.record.position for item in self._batch.items]
        else:
            self._note_progress()
        return self._choice

    def _is_next(self, item: Decoded) -> bool:
        record = item.record
        progress = self._progress.get(record.partition, Progress(record.partition))
        return self._batch.retried or arrival(progress, record.offset) is Arrival.NEXT

    def _may_apply(self, item: Decoded) -> TypeGuard[Ours | Guest]:
        """Say whether the projection folds such an event: of others it need not know the first."""
        return isinstance(item, Ours | Guest) and self._wants(item)

    def _take(self, item: Decoded) -> None:
        entries = self._choice.entries
        if isinstance(item, Foreign):
            entries.foreign.append(ForeignRecord(item.record, item.reason))
            return
        if item.key in self._parked_keys:
            if isinstance(item, Ours):
                self._heed_skip(item.recorded.event)
            entries.parked.append(_parked(item, "an earlier event of its key waits", behind=True))
        elif isinstance(item, Unusable):
            if not self._choice.is_skipped(item.identity):
                self._parked_keys.add(item.key)
                entries.parked.append(_parked(item, item.reason, behind=False))
        elif self._is_late(item):
            self._parked_keys.add(item.key)
            entries.parked.append(_parked(item, LATE, behind=False))
        else:
            self._apply(item)

    def _apply(self, item: Ours | Guest) -> None:
        entries = self._choice.entries
        if isinstance(item, Ours):
            self._govern(item)
        if not self._wants(item):
            return
        first = self._seen.get(item.identity, entries.seen.get(item.identity))
        if first is None:
            entries.seen[item.identity] = item.content
            self._choice.steps.append(Step(item, self._in_force(item.record.position)))
        elif first != item.content:
            repeat = Repeat(item.identity, item.record.position, item.content)
            entries.repeats.append(repeat)

    def _govern(self, item: Ours) -> None:
        """Let governance take effect from here on in this partition. A lower revision has none."""
        event, (partition, offset) = item.recorded.event, item.record.position
        if isinstance(event, PolicyChanged):
            changed = PolicyInForce(event.revision, event.policy, offset)
            if changed.revision > self._in_force(item.record.position).revision:
                self._policies[partition] = changed
                self._choice.entries.policies.append((partition, changed))
        self._heed_skip(event)

    def _is_late(self, item: Ours | Guest) -> bool:
        """Say whether *item* is a policy that waited while what it counts for was folded.

        No skip helps: a rebuild would fold all of it under this policy.
        """
        if not (self._batch.retried and isinstance(item, Ours)):
            return False
        event, (partition, offset) = item.recorded.event, item.record.position
        if not isinstance(event, PolicyChanged):
            return False
        waiting = {one.record.position for one in self._ledger.parked()}
        last = self._progress.get(partition, Progress(partition)).last_applied
        after = (Position(partition, at) for at in range(offset + 1, last + 1))
        counts = event.revision > self._in_force(item.record.position).revision
        return counts and any(at not in waiting for at in after)

    def _in_force(self, position: Position) -> PolicyInForce:
        """Return the policy in force at *position*.

        What waited stands before policies that the ledger has seen meanwhile: for it counts what
        held at its own place, as if it had never waited.
        """
        now = self._policies.get(position.partition)
        if self._batch.retried:
            then = self._ledger.policy_at(position)
            if then is not None and (now is None or then.revision >= now.revision):
                now = then
        return now or _BUILT_IN

    def _heed_skip(self, event: Event) -> None:
        """Let a skip take effect, also one whose own key waits: else it could never free it."""
        if isinstance(event, EventSkipped) and event.projection in {None, self._projection}:
            self._choice.entries.skips.add(event.skipped)

    def _note_progress(self) -> None:
        entries = self._choice.entries
        for partition, record in self._batch.last().items():
            entries.progress[partition] = Progress(partition, record.offset, fingerprint(record))
        for item in self._batch.items:
            record = item.record
            if record.partition not in self._progress and record.partition not in entries.firsts:
                first = Progress(record.partition, record.offset, fingerprint(record))
                entries.firsts[record.partition] = first
        for partition, progress in self._progress.items():
            if entries.progress.get(partition, progress).last_applied < progress.last_applied:
                del entries.progress[partition]


def _parked(item: Ours | Guest | Unusable, reason: str, *, behind: bool) -> ParkedRecord:
    return ParkedRecord(
        record=item.record,
        key=item.key,
        identity=item.identity,
        event_type=item.event_type,
        reason=reason,
        newer=isinstance(item, Unusable) and item.newer and not behind,
        behind=behind,
    )
