"""Drafts on their way to the log: in bounded batches, and without what the log can't take."""

from collections.abc import Sequence
from typing import Final

from mnemolog.importers.base import Placed, Problem
from mnemolog.importers.report import ImportReport
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.limits import EVENT_BYTES_MAX, TEXT_CHARS_MAX
from mnemolog.schemas.partitioning import partition_of
from mnemolog.schemas.positions import Position, Token
from mnemolog.schemas.records import NewRecord
from mnemolog.streams.admission import check_records
from mnemolog.streams.clock import system_clock
from mnemolog.streams.log import APPEND_SECONDS_MAX, Log
from mnemolog.streams.memory_log import InMemoryLog
from mnemolog.streams.publishing import Appended, Publisher

BATCH_TEXT_CHARS_MAX: Final = 4_194_304  # of a batch's texts; a batch of long ones is sent early


class Sender:
    """Appends drafts in order and counts what became of them. Call `flush` at the end."""

    def __init__(
        self, publisher: Publisher, log: Log, *, report: ImportReport, batch_events: int
    ) -> None:
        self._publisher = publisher
        self._report = report
        self._batch_events = batch_events
        self._waiting: list[tuple[str, Placed]] = []  # file, draft
        self._chars = 0
        # The last place that was taken in each partition, as far as this import knows.
        self._last = {partition: end - 1 for partition, end in log.ends().items()}

    def send(self, file: str, placed: Placed) -> bool:
        """Take a draft; say whether a batch was appended. Raises as `Publisher.append` does."""
        self._waiting.append((file, placed))
        self._chars += sum(len(v) for v in placed.draft.fields.values() if isinstance(v, str))
        if len(self._waiting) < self._batch_events and self._chars < BATCH_TEXT_CHARS_MAX:
            return False
        self.flush()
        return True

    def flush(self) -> None:
        """Append what waits."""
        waiting, self._waiting, self._chars = self._waiting, [], 0
        if waiting:
            self._append(waiting)

    def _append(self, batch: Sequence[tuple[str, Placed]]) -> None:
        """Append *batch*; where a draft is refused, halve it until that one stands alone.

        Nothing of a refused batch was appended: all drafts are checked before the first is.
        """
        try:
            appended = self._publisher.append([placed.draft for _, placed in batch])
        except InvalidEvent as error:
            if len(batch) == 1:
                file, placed = batch[0]
                self._report.add_problem(Problem(file, placed.place, _reason(placed, error)))
                return
            middle = len(batch) // 2
            self._append(batch[:middle])
            self._append(batch[middle:])
            return
        for event in appended:
            self._count(event)
        self._report.token |= Token.of(event.position for event in appended)

    def _count(self, event: Appended) -> None:
        """Count *event*: a new one stands behind all that were there."""
        self._report.by_type[event.event_type] += 1
        partition, offset = event.position
        if offset > self._last.get(partition, -1):
            self._last[partition] = offset
            self._report.added += 1
        else:
            self._report.already_there += 1


def _reason(placed: Placed, error: InvalidEvent) -> str:
    """Say why a draft was refused; a text that is too long is told with both sizes."""
    value = placed.draft.fields.get(error.field)
    if isinstance(value, str) and len(value) > TEXT_CHARS_MAX:
        size = f"{error.field} has {len(value)} characters"
        return f"{size}; an event's text has at most {TEXT_CHARS_MAX}"
    return str(error)


def dry(tenant: str = "dry-run") -> tuple[Publisher, Log]:
    """Return a publisher that checks all that a real one does, and a log that keeps nothing."""
    log = _Nowhere(tenant)
    codec = Codec(tenant=tenant, partitions=log.partitions, event_bytes_max=EVENT_BYTES_MAX)
    return Publisher(log, codec, tenant=tenant, now=system_clock), log


class _Nowhere(InMemoryLog):
    """Refuses what every log refuses, and forgets the rest."""

    _taken = 0

    def append(
        self, records: Sequence[NewRecord], *, timeout_seconds: float = APPEND_SECONDS_MAX
    ) -> list[Position]:
        """Give each of *records* the next place, and keep none."""
        del timeout_seconds  # nothing here waits
        check_records(records)
        first, self._taken = self._taken, self._taken + len(records)
        return [
            Position(partition_of(record.key, partitions=self.partitions), first + number)
            for number, record in enumerate(records)
        ]
