"""How events get to the log: built, checked, given an identity, and appended. Nothing else waits.

Ids, times and sources are given here, once: a retry sends the same record again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from mnemolog.schemas.blobs import written
from mnemolog.schemas.codec import Codec, build
from mnemolog.schemas.cutting import SIZES, Cutting, Sizes, may_be_large
from mnemolog.schemas.envelope import DEFAULT_SOURCE, Envelope, key_of
from mnemolog.schemas.envelope_codec import repairs_text
from mnemolog.schemas.errors import EventTooLarge, InvalidEvent
from mnemolog.schemas.events import Event
from mnemolog.schemas.ids import fresh_id, memory_id
from mnemolog.schemas.partitioning import COPY_OF, governance_copy
from mnemolog.schemas.positions import Position, Token
from mnemolog.schemas.records import NewRecord
from mnemolog.schemas.times import instant
from mnemolog.streams.blobs import BlobStore
from mnemolog.streams.log import APPEND_RECORDS_MAX, APPEND_SECONDS_MAX, Log
from mnemolog.streams.tally import Count

Moment = tuple[datetime, bool]  # in UTC, and whether its zone was assumed
Blobs = Mapping[str, bytes]  # by their digests
Ready = tuple[str, str, NewRecord]  # an event's id and type, and what the log takes of it


@dataclass(slots=True, kw_only=True)  # not frozen: to make one would take three times as long
class Draft:
    """An event that somebody wants to append; unchecked. `fields` are the event's own.

    Without an id it gets a fresh one, without a time the time of the call that appends it. With
    a `dataref` its large texts stand beside the log already, and `fields` have their heads.
    """

    model: type[Event]
    fields: Mapping[str, Any]
    id: str | None = None
    source: str = DEFAULT_SOURCE
    occurred_at: datetime | str | None = None
    agent: str | None = None
    user: str | None = None
    project: str | None = None
    session: str | None = None
    task: str | None = None
    phase: str | None = None
    cause: str | None = None
    correlation: str | None = None
    dataref: str | None = None
    extensions: Mapping[str, str | int | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Appended:
    """An event that the log has durably taken."""

    id: str
    identity: str
    event_type: str
    position: Position
    copies: tuple[Position, ...] = ()  # of a governance event, in the other partitions

    @property
    def token(self) -> Token:
        """What `after=` and `wait_for` take."""
        return Token.of([self.position, *self.copies])

    @property
    def memory_id(self) -> str:
        """The id of the event's first memory, if it forms one."""
        return memory_id(self.identity, 0)


class Publisher:
    """Appends events to one log; `appended` counts those that it acknowledged."""

    def __init__(
        self,
        log: Log,
        codec: Codec,
        *,
        tenant: str,
        now: Callable[[], datetime],
        new_id: Callable[[], str] = fresh_id,
        blobs: BlobStore | None = None,
        sizes: Sizes = SIZES,
    ) -> None:
        """Texts that are larger than *sizes* go to *blobs*; without any they are refused."""
        self._log = log
        self._codec = codec
        self._tenant = tenant
        self._now = now
        self._new_id = new_id
        self._blobs = blobs
        self._sizes = sizes
        self.appended = Count()

    def append(
        self, drafts: Sequence[Draft], *, timeout_seconds: float = APPEND_SECONDS_MAX
    ) -> list[Appended]:
        """Append *drafts* in order and return what the log says of each.

        All are encoded before anything is put anywhere: of a call that is refused nothing
        stands. Raises InvalidEvent for a draft that breaks a limit, StoreUnavailable where a
        large text can't be put beside the log, LogUnavailable when the acknowledgement did not
        come in time.
        """
        if len(drafts) > APPEND_RECORDS_MAX:
            limit = f"at most {APPEND_RECORDS_MAX} events a call"
            raise InvalidEvent("events", len(drafts), limit)
        present = self._present()
        blobs: dict[str, bytes] = {}
        ready = [self._fitted(draft, present, blobs) for draft in drafts]
        return self._append(ready, blobs, timeout_seconds)

    def _append(
        self, ready: Sequence[Ready], blobs: Blobs, timeout_seconds: float
    ) -> list[Appended]:
        """Append all that is *ready*, and whose *blobs* these are. Raises as `append` does.

        1. Put the blobs, each durable on return.
        2. Append the events.

        A crash before 2 leaves blobs that no event names, which `doctor` finds; never the reverse.
        """
        if blobs:
            assert self._blobs is not None, "who cuts has a place for what is cut"
            for blob in blobs.values():
                self._blobs.put(blob)  # 1
        if not ready:
            return []
        records = [record for _, _, record in ready]
        positions = self._log.append(records, timeout_seconds=timeout_seconds)  # 2
        self.appended.add(len(positions))
        return [
            Appended(event_id, record.identity, event_type, position)
            for (event_id, event_type, record), position in zip(ready, positions, strict=True)
        ]

    @property
    def codec(self) -> Codec:
        """What makes records of events, for this log."""
        return self._codec

    def elsewhere(self, log: Log, blobs: BlobStore) -> "Publisher":
        """Return one that does with drafts what this one does, for another log of its shape."""
        return Publisher(
            log,
            self._codec,
            tenant=self._tenant,
            now=self._now,
            new_id=self._new_id,
            blobs=None if self._blobs is None else blobs,
            sizes=self._sizes,
        )

    def record(self, event: Event, envelope: Envelope) -> NewRecord:
        """Return the record of *event*, as `append` appends it; of one made by hand, too."""
        return self._codec.encode(event, envelope)

    def govern(self, draft: Draft) -> list[Appended]:
        """Append a governance event to every partition, each copy with an id of its own.

        The ids are derived from the draft's id and the partition, so that a retry with that id,
        after a crash in between, completes the set and doubles nothing. Each copy names that id.
        """
        event, envelope = self._built(replace(draft, agent=None), self._present())
        named = {**envelope.extensions, COPY_OF: envelope.id}
        copies: list[Ready] = []
        for partition in range(self._log.partitions):
            copy_id, key = governance_copy(envelope.id, partition, partitions=self._log.partitions)
            copy = replace(envelope, id=copy_id, key=key, extensions=named)
            copies.append(self._encoded(event, copy))
        return self._append(copies, {}, APPEND_SECONDS_MAX)

    def _fitted(self, draft: Draft, present: Moment, blobs: dict[str, bytes]) -> Ready:
        """Return *draft* encoded; texts that are too large for it are cut, and added to *blobs*.

        What is small as a whole has no large text: nearly no event is looked at for one.
        """
        may_be_cut = self._blobs is not None and draft.dataref is None
        try:
            whole = self._encoded(*self._built(draft, present))
        except InvalidEvent:
            if not (may_be_cut and may_be_large(draft.fields, self._sizes)):
                raise
        else:
            if not may_be_cut or whole[2].size <= self._sizes.harmless:
                return whole
        return self._cut(draft, present, blobs)

    def _cut(self, draft: Draft, present: Moment, blobs: dict[str, bytes]) -> Ready:
        """Return *draft* encoded with the heads of its large texts; these are added to *blobs*."""
        named = draft if draft.id is not None else replace(draft, id=self._new_id())
        cutting = Cutting(draft.fields, event_type=draft.model.event_type, sizes=self._sizes)
        while True:
            dataref = written(cutting.references)
            built = self._built(replace(named, fields=cutting.fields, dataref=dataref), present)
            try:
                ready = self._encoded(*built)
            except EventTooLarge as error:
                if not cutting.shrink(error.size - error.size_max):
                    raise
            else:
                blobs.update(cutting.blobs)
                return ready

    def _encoded(self, event: Event, envelope: Envelope) -> Ready:
        """Return the record of what `_built` returned, with its event's id and type."""
        record = self._codec.encode(event, envelope, is_clean=True)
        return envelope.id, event.event_type, record

    def _present(self) -> Moment:
        return instant(self._now(), field="occurred_at")

    def _built(self, draft: Draft, present: Moment) -> tuple[Event, Envelope]:
        event, repairs = build(draft.model, draft.fields)
        told = draft.occurred_at
        occurred_at, assumed = present if told is None else instant(told, field="occurred_at")
        envelope = Envelope(
            id=self._new_id() if draft.id is None else draft.id,
            source=draft.source,
            occurred_at=occurred_at,
            key=key_of(draft.agent),
            tenant=self._tenant,
            agent=draft.agent,
            user=draft.user,
            project=draft.project,
            session=draft.session,
            task=draft.task,
            phase=draft.phase,
            cause=draft.cause,
            correlation=draft.correlation,
            assumed_utc=assumed,
            repaired=repairs_text(repairs),
            dataref=draft.dataref,
            extensions=draft.extensions,
        )
        return event, envelope
