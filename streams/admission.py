"""What every log refuses before it tries: one place, so that all engines refuse alike."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from mnemolog.schemas.errors import HistoryLost, InvalidEvent, LogReplaced
from mnemolog.schemas.limits import EVENT_BYTES_MAX
from mnemolog.schemas.records import Headers, NewRecord
from mnemolog.streams.log import APPEND_RECORDS_MAX

ASIDE_BYTES_MAX: Final = 61_440  # key and headers; with their framing they fit the topic's 64 KiB
_HEADER_FRAME_BYTES: Final = 16  # what each header takes beside its name and value, at most


def check_records(records: Sequence[NewRecord]) -> None:
    """Raise InvalidEvent, naming both sizes, where a log can't take *records*."""
    if len(records) > APPEND_RECORDS_MAX:
        limit = f"{len(records)} records; one append takes at most {APPEND_RECORDS_MAX}"
        raise InvalidEvent("records", len(records), limit)
    for record in records:
        _check_size(record)


def _check_size(record: NewRecord) -> None:
    value, key = record.value or b"", record.key or b""
    size = len(value)
    if size > EVENT_BYTES_MAX:
        limit = f"{size} bytes; an event has at most {EVENT_BYTES_MAX}"
        raise InvalidEvent("value", value[:32], limit)
    aside = len(key) + headers_size(record.headers)
    if aside > ASIDE_BYTES_MAX:
        limit = f"{aside} bytes; key and headers have at most {ASIDE_BYTES_MAX}"
        raise InvalidEvent("headers", record.headers[:1], limit)


@lru_cache(maxsize=64)  # nearly all records have the same
def headers_size(headers: Headers) -> int:
    """Return how many bytes *headers* take on any log, at most."""
    return sum(
        len(name.encode()) + len(value or b"") + _HEADER_FRAME_BYTES for name, value in headers
    )


def check_partitions(topic: str, named: Iterable[int], *, partitions: int) -> None:
    """Raise LogReplaced where *named* holds a partition that the log does not have."""
    for partition in named:
        if not 0 <= partition < partitions:
            reason = f"the log has {partitions} partitions, from 0"
            raise LogReplaced(topic, partition=partition, offset=0, reason=reason)


def check_reach(topic: str, *, partition: int, wanted: int, start: int, end: int) -> None:
    """Raise where a partition of offsets *start* to *end* can't give the offset *wanted* next.

    HistoryLost when it lies before the start, LogReplaced when it lies after the end: a log
    never gets shorter, so that is another log.
    """
    if wanted < start:
        raise HistoryLost(topic, partition=partition, wanted=wanted, start=start)
    if wanted > end:
        reason = f"the log ends at {end}, before what was read from it"
        raise LogReplaced(topic, partition=partition, offset=wanted, reason=reason)


def distinct(records: Sequence[NewRecord]) -> tuple[list[NewRecord], list[int]]:
    """Return the first record of each (identity, content), and which of them each record is."""
    ordinals: dict[tuple[str, str], int] = {}
    firsts: list[NewRecord] = []
    for record in records:
        pair = (record.identity, record.content)
        if ordinals.setdefault(pair, len(firsts)) == len(firsts):
            firsts.append(record)
    return firsts, [ordinals[record.identity, record.content] for record in records]
