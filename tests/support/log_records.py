"""Records for tests of logs: numbered, small, each with an identity and a content of its own."""

import hashlib
from collections.abc import Iterable, Mapping

from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord, NewRecord
from mnemolog.streams.log import Log, Reader

HEADERS = (("content-type", b"application/cloudevents+json"),)


def numbered(number, *, key: bytes = b"agent-1", value: bytes | None = None) -> NewRecord:
    """Return record *number*; *value* is what it says, the number itself by default."""
    said = str(number).encode() if value is None else value
    return NewRecord(key, said, HEADERS, digits(number), digits(said))


def digits(value: object) -> str:
    """Return 32 hexadecimal digits that stand for *value*."""
    return hashlib.sha256(repr(value).encode()).hexdigest()[:32]


def values(records: Iterable[LogRecord]) -> list[bytes | None]:
    """Return what *records* say."""
    return [record.value for record in records]


def everything(log: Log, *, start: Mapping[int, int] | None = None) -> list[LogRecord]:
    """Read *log* to its ends, partition after partition in order."""
    ends = log.ends()
    reader = log.reader(start or dict.fromkeys(ends, 0))
    try:
        return sorted(read_up_to(reader, ends), key=lambda record: record.position)
    finally:
        reader.close()


def read_up_to(
    reader: Reader, ends: Mapping[int, int], *, records_max: int = 100
) -> list[LogRecord]:
    """Poll until the positions reach *ends*; each poll gives up at its own bound."""
    found: list[LogRecord] = []
    empty = 0
    while any(offset < ends[p] for p, offset in reader.positions().items()):
        polled = reader.poll(records_max=records_max, wait_seconds=1)
        found += polled
        empty = 0 if polled else empty + 1
        assert empty < 20, f"{reader.positions()} does not reach {ends}"
    return found


def places(log: Log, records: Iterable[NewRecord]) -> list[Position]:
    """Append *records* one at a time."""
    return [log.append([record])[0] for record in records]
