"""What was found on its way to the log: in bounded batches, and without what the log can't take."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from mnemolog.importers.base import Blob, Placed, Problem, Raw, Ready
from mnemolog.importers.report import ImportReport
from mnemolog.schemas.decoded import Unusable
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.foreign import foreign_record
from mnemolog.schemas.limits import TEXT_CHARS_MAX
from mnemolog.schemas.portable import copies, is_for_every_partition, taken
from mnemolog.schemas.positions import Position, Token
from mnemolog.schemas.records import NewRecord
from mnemolog.streams.admission import check_records
from mnemolog.streams.blobs import BlobStore
from mnemolog.streams.log import APPEND_RECORDS_MAX, Log
from mnemolog.streams.publishing import Publisher

BATCH_TEXT_CHARS_MAX: Final = 4_194_304  # of a batch's texts; a batch of long ones is sent early


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A draft, or records that are made already: an event's, its copies', a foreign one's."""

    file: str
    place: str
    draft: Placed | None = None
    records: tuple[NewRecord, ...] = ()
    event_type: str | None = None  # None of what is foreign

    @property
    def is_draft(self) -> bool:
        return self.draft is not None

    @property
    def count(self) -> int:
        """How many records it is, at least."""
        return max(1, len(self.records))

    @property
    def chars(self) -> int:
        """How much text it holds, roughly."""
        if self.draft is None:
            return sum(record.size for record in self.records)
        return sum(len(v) for v in self.draft.draft.fields.values() if isinstance(v, str))


class Sender:
    """Appends what was found in order and counts what became of it. Call `flush` at the end."""

    def __init__(
        self,
        publisher: Publisher,
        log: Log,
        *,
        report: ImportReport,
        batch_events: int,
        blobs: BlobStore | None = None,
    ) -> None:
        """*blobs* is where texts beside the log go; without it they are problems."""
        self._blobs = blobs
        self._publisher = publisher
        self._log = log
        self._report = report
        self._batch_events = batch_events
        self._waiting: list[_Waiting] = []
        self._records = self._chars = 0
        self.accepted = 0  # of all that was found; the log may still refuse a draft
        # The last place that was taken in each partition, as far as this import knows.
        self._last = {partition: end - 1 for partition, end in log.ends().items()}

    def send(self, file: str, found: Placed | Ready | Raw | Blob) -> bool:
        """Take what was found; say whether a batch was appended.

        What a log can't take is a Problem. Raises as `Log.append` and `BlobStore.put` do.
        """
        if isinstance(found, Blob):
            self._put(file, found)
            return False
        try:
            one = self._made(file, found)
        except InvalidEvent as error:
            self._report.add_problem(Problem(file, found.place, str(error)))
            return False
        self.accepted += 1
        if self._records + one.count > APPEND_RECORDS_MAX:
            self.flush()
        self._waiting.append(one)
        self._records += one.count
        self._chars += one.chars
        if self._records < self._batch_events and self._chars < BATCH_TEXT_CHARS_MAX:
            return False
        self.flush()
        return True

    def flush(self) -> None:
        """Append what waits."""
        waiting, self._waiting = self._waiting, []
        self._records = self._chars = 0
        for _, alike in groupby(waiting, lambda one: one.is_draft):
            self._append(list(alike))

    def _put(self, file: str, found: Blob) -> None:
        """Put a blob where the events that come after it are looking for it."""
        if self._blobs is None:
            self._report.add_problem(Problem(file, found.place, "no place for blobs was given"))
        else:
            self._blobs.put(found.content)
            self.accepted += 1
            self._report.blobs += 1

    def _made(self, file: str, found: Placed | Ready | Raw) -> _Waiting:
        """Return what *found* is to the log. Raises InvalidEvent for what is nothing to it."""
        match found:
            case Placed():
                return _Waiting(file, found.place, draft=found)
            case Ready():
                return self._ready(file, found)
            case Raw():
                record = foreign_record(found.key, found.value, found.headers, found.mark)
                check_records([record])
                return _Waiting(file, found.place, records=(record,))

    def _ready(self, file: str, found: Ready) -> _Waiting:
        codec, document = self._publisher.codec, found.document
        spread = [document]
        if is_for_every_partition(document):
            spread = list(copies(document, partitions=self._log.partitions))
        made = [taken(one, codec) for one in spread]
        first = made[0].item
        if isinstance(first, Unusable) and not found.was_recorded:
            raise InvalidEvent(first.event_type, document.get("id"), first.reason)
        records = tuple(one.record for one in made)
        check_records(records)
        return _Waiting(file, found.place, records=records, event_type=first.event_type)

    def _append(self, batch: Sequence[_Waiting]) -> None:
        """Append *batch*; where a draft is refused, halve it until that one stands alone.

        Nothing of a refused batch was appended: all drafts are checked before the first is.
        """
        try:
            placed = self._placed(batch)
        except InvalidEvent as error:
            if len(batch) == 1:
                one = batch[0]
                self._report.add_problem(Problem(one.file, one.place, _reason(one, error)))
                return
            middle = len(batch) // 2
            self._append(batch[:middle])
            self._append(batch[middle:])
            return
        for event_type, positions in placed:
            self._count(event_type, positions)
        self._report.token |= Token.of(p for _, positions in placed for p in positions)

    def _placed(self, batch: Sequence[_Waiting]) -> list[tuple[str | None, list[Position]]]:
        """Append *batch*, all drafts or none, and return types and places."""
        drafts = [one.draft.draft for one in batch if one.draft is not None]
        if drafts:
            appended = self._publisher.append(drafts)
            return [(event.event_type, [event.position]) for event in appended]
        positions = iter(self._log.append([record for one in batch for record in one.records]))
        return [(one.event_type, [next(positions) for _ in one.records]) for one in batch]

    def _count(self, event_type: str | None, positions: Sequence[Position]) -> None:
        """Count an event, once with its copies: a new one stands behind all that were there."""
        is_new = False
        for partition, offset in positions:
            if offset > self._last.get(partition, -1):
                self._last[partition] = offset
                is_new = True
        if event_type is None:
            self._report.foreign += is_new
            return
        self._report.by_type[event_type] += 1
        if is_new:
            self._report.added_by_type[event_type] += 1
        self._report.added += is_new
        self._report.already_there += not is_new


def _reason(one: _Waiting, error: InvalidEvent) -> str:
    """Say why a draft was refused; a text that is too long is told with both sizes."""
    value = None if one.draft is None else one.draft.draft.fields.get(error.field)
    if isinstance(value, str) and str(TEXT_CHARS_MAX) in error.limit:
        size = f"{error.field} has {len(value)} characters"
        return f"{size}; an event's text has at most {TEXT_CHARS_MAX}"
    return str(error)
