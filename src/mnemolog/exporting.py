"""Export: a log as CloudEvents in JSON Lines, from which any other log can be made again.

Engine and partition count are the new log's own affair: the stream has each key's order, and for
each event the policy that it had. docs/importing.md says what comes back, and how.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from os import PathLike, fspath
from typing import Any, Final

from mnemolog.exporting_lines import begun, blob, ended, foreign
from mnemolog.exporting_merge import OnItsWay, merged
from mnemolog.exporting_target import Stream, Write, opened_target
from mnemolog.schemas.blobs import references_in
from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Decoded, Foreign, Guest, Ours, Unusable
from mnemolog.schemas.errors import BlobDamaged, BlobMissing, InvalidEvent, InvalidSetting
from mnemolog.schemas.events.governance import ProcessorAdvanced
from mnemolog.schemas.ids import check_name
from mnemolog.schemas.portable import document_bytes, portable, portable_copy
from mnemolog.schemas.times import instant
from mnemolog.streams.blobs import BlobStore
from mnemolog.streams.log import Log

MISSING_KEPT_MAX: Final = 100
BLOBS_KNOWN_MAX: Final = 65_536  # that are known to stand in the export already
TELL_RECORDS: Final = 1_000  # between two words on how far it is

Target = str | PathLike[str] | Stream
Tell = Callable[[int, int], None]  # how many records of how many


@dataclass(slots=True)
class ExportReport:
    """What an export wrote."""

    target: str
    events: int = 0  # of ours and guests'; a governance event and its copies are one
    by_type: Counter[str] = field(default_factory=Counter)
    foreign: int = 0  # records that are no events
    blobs: int = 0  # texts that stand beside the log
    blobs_missing: int = 0  # that events name, and that are not there, or damaged
    missing: list[str] = field(default_factory=list)  # the first `MISSING_KEPT_MAX`, with reasons
    left_out: int = 0  # marks of how far processors were, which hold on this log alone

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {
            "target": self.target,
            "events": self.events,
            "by_type": dict(self.by_type),
            "foreign": self.foreign,
            "blobs": self.blobs,
            "blobs_missing": self.blobs_missing,
            "missing": self.missing,
            "left_out": self.left_out,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What of a log is wanted: of one agent, recorded from one moment until before another.

    What rules every key is wanted with any agent; what is no event is nobody's.
    """

    agent: str | None = None
    recorded_from: datetime | str | None = None
    recorded_until: datetime | str | None = None

    def __post_init__(self) -> None:
        """Raise InvalidSetting for a name that no agent has."""
        if self.agent is not None:
            try:
                check_name(self.agent, field="agent")
            except InvalidEvent as error:
                raise InvalidSetting(error.field, error.value, error.limit) from error


def export(
    log: Log,
    codec: Codec,
    target: Target,
    *,
    wanted: Wanted,
    blobs: BlobStore | None = None,
    force: bool = False,
    tell: Tell = lambda _done, _total: None,
) -> ExportReport:
    """Write what *log* holds by now to *target*, and say what it was.

    *target* is a path, or a stream that takes bytes or texts. A file is written whole or not at
    all. A blob stands before the first event that names it; one that is missing is named in the
    report, and the export goes on.

    Raises InvalidSetting for a target or a time that can't be, HistoryLost for a log whose start
    is gone, StoreUnavailable, and what a stream raises.
    """
    starts, ends = _bounds(log, wanted)
    name = fspath(target) if isinstance(target, str | PathLike) else "a stream"
    report = ExportReport(name)
    with opened_target(target, force=force) as write:
        stream = merged(log, codec, starts=starts, ends=ends)
        total = sum(max(0, end - starts[partition]) for partition, end in ends.items())
        _Exporting(log.topic, wanted, report, write, blobs).run(
            _told(stream, total, tell), partitions=log.partitions
        )
    return report


def _bounds(log: Log, wanted: Wanted) -> tuple[dict[int, int], dict[int, int]]:
    """Return the first offset of each partition, and the one behind the last."""
    ends = log.ends()
    starts = dict.fromkeys(ends, 0)
    if wanted.recorded_from is not None:
        starts = _at(log, wanted.recorded_from, "recorded_from")
    if wanted.recorded_until is not None:
        until = _at(log, wanted.recorded_until, "recorded_until")
        ends = {partition: min(end, until[partition]) for partition, end in ends.items()}
    return starts, ends


def _at(log: Log, moment: datetime | str, name: str) -> dict[int, int]:
    try:
        return log.position_at(instant(moment, field=name)[0])
    except InvalidEvent as error:
        raise InvalidSetting(error.field, error.value, error.limit) from error


def _told(stream: Iterator[OnItsWay], total: int, tell: Tell) -> Iterator[OnItsWay]:
    """Yield *stream*, and tell how far it is now and then, and at its end."""
    for done, one in enumerate(stream):
        if done % TELL_RECORDS == 0:
            tell(done, total)
        yield one
    tell(total, total)


class _Exporting:
    """One export on its way."""

    def __init__(
        self,
        topic: str,
        wanted: Wanted,
        report: ExportReport,
        write: Write,
        blobs: BlobStore | None,
    ) -> None:
        self._blobs = blobs
        self._known: dict[str, None] = {}  # blobs that stand there already, the latest last
        self._topic = topic
        self._wanted = wanted
        self._report = report
        self._write = write
        self._lines = 0

    def run(self, stream: Iterator[OnItsWay], *, partitions: int) -> None:
        self._put(begun(self._topic, partitions=partitions))
        for one in stream:
            if (document := self._line(one)) is not None:
                self._put_blobs(one.item, document)
                self._lines += 1
                self._put(document)
        self._put(ended(self._topic, lines=self._lines))

    def _line(self, one: OnItsWay) -> Mapping[str, Any] | None:
        """Return the line of what is *on its way*, or None if it does not go out."""
        item, agent = one.item, self._wanted.agent
        if isinstance(item, Foreign):
            if agent is not None:
                return None
            self._report.foreign += 1
            return foreign(item, topic=self._topic)
        if agent is not None and item.key != agent and not one.is_copied:
            return None
        if not isinstance(item, Guest) and item.event_type == ProcessorAdvanced.event_type:
            self._report.left_out += 1
            return None
        self._report.events += 1
        self._report.by_type[item.event_type] += 1
        return portable_copy(item) if one.is_copied else portable(item)

    def _put_blobs(self, item: Decoded, document: Mapping[str, Any]) -> None:
        """Write the blobs that an event of ours names and that do not stand there yet."""
        dataref = document.get("dataref")
        if not isinstance(item, Ours | Unusable) or not isinstance(dataref, str):
            return
        for reference in references_in(dataref):
            if reference.sha256 not in self._known:
                self._put_blob(reference.sha256)
                self._known[reference.sha256] = None
                if len(self._known) > BLOBS_KNOWN_MAX:
                    del self._known[next(iter(self._known))]

    def _put_blob(self, sha256: str) -> None:
        report = self._report
        try:
            if self._blobs is None:
                raise BlobMissing(sha256, "any place that this export knows")
            content = self._blobs.get(sha256)
        except BlobDamaged as error:
            report.blobs_missing += 1
            if len(report.missing) < MISSING_KEPT_MAX:
                report.missing.append(str(error))
            return
        report.blobs += 1
        self._lines += 1
        self._put(blob(content, sha256=sha256, topic=self._topic))

    def _put(self, document: Mapping[str, Any]) -> None:
        self._write(document_bytes(document) + b"\n")
