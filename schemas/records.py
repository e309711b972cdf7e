"""What goes to a log and what comes from it, as bytes. Only the codec looks inside."""

import hashlib
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from mnemolog.schemas.positions import Position

Headers = tuple[tuple[str, bytes | None], ...]


class NewRecord(NamedTuple):
    """A record to append.

    A log keeps one record for each (identity, content): to append it again adds nothing where
    the log can tell, and has no effect where it can't.
    """

    key: bytes | None  # None, as a missing value, only of what is no event
    value: bytes | None
    headers: Headers
    identity: str  # 32 hexadecimal digits of (key, source, id)
    content: str  # 32 hexadecimal digits of what the event says, its time excluded

    @property
    def size(self) -> int:
        """How many bytes key and value have."""
        return len(self.key or b"") + len(self.value or b"")


@dataclass(frozen=True, slots=True)
class LogRecord:
    """A record as a log gives it; key and value may be missing, and may be anybody's."""

    partition: int
    offset: int
    recorded_at: datetime  # the log's clock, UTC
    key: bytes | None
    value: bytes | None
    headers: Headers = ()

    @property
    def position(self) -> Position:
        """Where the record stands."""
        return Position(self.partition, self.offset)


def fingerprint(record: LogRecord) -> str:
    """Return 32 hexadecimal digits that tell *record* from any other at its place."""
    digest = hashlib.sha256()
    for part in (record.key, record.value):
        digest.update(b"-" if part is None else f"{len(part)}:".encode() + part)
    return digest.hexdigest()[:32]
