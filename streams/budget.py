"""What one poll may return: a number of records, and of bytes whatever that number is."""

from collections.abc import Sequence

from mnemolog.schemas.records import LogRecord
from mnemolog.streams.admission import headers_size
from mnemolog.streams.log import READ_BYTES_MAX


class ReadBudget:
    """Counts down while a poll collects records; the record that spends it is still returned."""

    def __init__(self, records_max: int) -> None:
        assert records_max > 0, "a poll for no record would never get on"
        self.records = records_max
        self.bytes = READ_BYTES_MAX

    @property
    def is_spent(self) -> bool:
        """Whether no further record may be taken."""
        return self.records <= 0 or self.bytes <= 0

    def spend(self, record: LogRecord) -> None:
        """Count *record*."""
        self.records -= 1
        self.bytes -= len(record.key or b"") + len(record.value or b"")
        if record.headers:
            self.bytes -= headers_size(record.headers)


def rotated(partitions: Sequence[int], turn: int) -> list[int]:
    """Return *partitions* beginning with another each *turn*, so that none is starved.

    >>> rotated([0, 1, 2], 1)
    [1, 2, 0]
    """
    first = turn % max(len(partitions), 1)
    return [*partitions[first:], *partitions[:first]]
