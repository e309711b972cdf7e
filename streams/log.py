"""The log port: ordered records of one tenant, in partitions. Adapters: memory, SQLite, Kafka.

A log knows bytes, keys and identities, and nothing of events. Offsets begin at 0, only grow in
a partition, and may have holes. All methods may be called from any thread; none is async, since
projections are threads that wait for disks.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, Protocol, runtime_checkable

from mnemolog.schemas.ids import decoded_name, encoded_name
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import LogRecord, NewRecord

TOPIC_PREFIX: Final = "mnemolog."
TOPIC_SUFFIX: Final = ".events"
APPEND_SECONDS_MAX: Final = 30.0  # how long an append waits for the acknowledgement
APPEND_RECORDS_MAX: Final = 10_000  # records in one call
READ_RECORDS_MAX: Final = 5_000  # records a poll returns at most by default
READ_BYTES_MAX: Final = 16_777_216  # a poll that has read so much returns, few records or many


class Reader(Protocol):
    """Reads a log from given offsets on. One thread at a time uses it."""

    def poll(self, *, records_max: int, wait_seconds: float) -> Sequence[LogRecord]:
        """Return the next records, in order within each partition.

        Waits up to *wait_seconds* for the first one; may return none, and returns early once it
        has `READ_BYTES_MAX`. Raises LogUnavailable, after which the reader may be polled again;
        HistoryLost when the next record to read is gone, LogReplaced when the log ends before it.
        """
        ...

    def positions(self) -> Mapping[int, int]:
        """Return the next offset to read in each partition; it passes holes."""
        ...

    def close(self) -> None:
        """Let go of what reading needs. Harmless twice."""
        ...


class Log(Protocol):
    """The ordered records of one tenant."""

    @property
    def topic(self) -> str:
        """The log's name, `mnemolog.<tenant>.events` with the tenant encoded."""
        ...

    @property
    def partitions(self) -> int:
        """How many partitions there are; fixed when the log is made."""
        ...

    def append(
        self, records: Sequence[NewRecord], *, timeout_seconds: float = APPEND_SECONDS_MAX
    ) -> list[Position]:
        """Append *records* in order and return where each stands, once all are durable.

        A record whose (identity, content) the log is known to hold gets the place of the first
        one. The partition is `partition_of(key)`. Raises LogUnavailable when the acknowledgement
        did not come in time: some may stand, and the same call again is safe. Raises
        InvalidEvent for a record that the log can't take (too large).
        """
        ...

    def reader(self, start: Mapping[int, int]) -> Reader:
        """Return a reader that begins at the *start* offset of each partition that it names."""
        ...

    def starts(self) -> dict[int, int]:
        """Return the first offset that is still there in each partition, or its end."""
        ...

    def ends(self) -> dict[int, int]:
        """Return the offset after the last durable record of each partition."""
        ...

    def at(self, position: Position) -> LogRecord | None:
        """Return the record at *position*, or None where there is none (a hole, too early)."""
        ...

    def position_at(self, moment: datetime) -> dict[int, int]:
        """Return each partition's first offset recorded at *moment* or later, or its end."""
        ...

    def wait(self, after: Mapping[int, int], *, timeout_seconds: float) -> bool:
        """Wait until a partition's end is beyond its offset in *after*; say whether one is."""
        ...

    def close(self) -> None:
        """Let go of files, threads and connections. Harmless twice."""
        ...


@runtime_checkable
class Wakeable(Protocol):
    """A log that does not see by itself, at once, what others append."""

    def wake(self) -> None:
        """Let a `wait` of this handle look again now; does not wait itself. Never raises."""
        ...


@runtime_checkable
class Knowing(Protocol):
    """A log that can say what it holds without being appended to."""

    def known(self, records: Sequence[NewRecord]) -> list[Position | None]:
        """Return where the (identity, content) of each of *records* stands, or None.

        Writes nothing; raises as reading does.
        """
        ...


def topic_of(tenant: str) -> str:
    """Return the name of *tenant*'s log.

    >>> topic_of("acme")
    'mnemolog.acme.events'
    """
    return f"{TOPIC_PREFIX}{encoded_name(tenant)}{TOPIC_SUFFIX}"


def tenant_of(topic: str) -> str | None:
    """Return whose log *topic* is; None for no log's name, and for one that holds a digest only.

    >>> tenant_of("mnemolog.acme.events"), tenant_of("orders")
    ('acme', None)
    """
    encoded = topic.removeprefix(TOPIC_PREFIX).removesuffix(TOPIC_SUFFIX)
    if topic != f"{TOPIC_PREFIX}{encoded}{TOPIC_SUFFIX}":
        return None
    return decoded_name(encoded) or None
