"""What a projection is given: records of the log, decoded once, in the log's order.

A fold takes what it needs: the decoded events, or the canonical bytes as an Arrow column.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Decoded, Guest, Ours
from mnemolog.schemas.records import LogRecord

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_RECORDS_MAX: Final = 5_000

T = TypeVar("T")


@dataclass(frozen=True)
class Batch:
    """Decoded records, in order within each partition; never empty."""

    items: Sequence[Decoded]
    retried: bool = False  # parked records of some keys, whole and in order; progress stays
    _shared: dict[Any, Any] = field(default_factory=dict, repr=False)

    def last(self) -> dict[int, LogRecord]:
        """Return the last record of each partition."""
        return {item.record.partition: item.record for item in self.items}

    def shared(self, name: Any, make: Callable[[], T]) -> T:
        """Return what *make* gives, made once a batch for all projections that ask for *name*.

        *make* has to be a pure function of the batch and of what *name* says.
        """
        if name not in self._shared:
            self._shared[name] = make()
        found: T = self._shared[name]
        return found


def decoded(records: Sequence[LogRecord], codec: Codec) -> Batch:
    """Validate, decode and lift *records*: the one door through which events come in."""
    return Batch([codec.decode(record) for record in records])


def arrow(items: Sequence[Ours | Guest]) -> "pa.RecordBatch":
    """Return *items* as Arrow: place, times, identity, content and canonical bytes.

    `ordinal` counts from 0, so that SQL over the batch can keep its order.
    """
    import pyarrow as pa  # noqa: PLC0415 - heavy; only bulk folds need it

    return pa.RecordBatch.from_pydict(
        {
            "ordinal": list(range(len(items))),
            "partition": [item.record.partition for item in items],
            "offset": [item.record.offset for item in items],
            "recorded_at": [item.record.recorded_at for item in items],
            "occurred_at": [item.envelope.occurred_at for item in items],
            "key": [item.envelope.key for item in items],
            "identity": [item.identity for item in items],
            "content": [item.content for item in items],
            "canonical": [item.canonical for item in items],
        },
        schema=_arrow_schema(pa),
    )


def _arrow_schema(pa: Any) -> Any:
    moment = pa.timestamp("us", tz="UTC")
    return pa.schema(
        [
            ("ordinal", pa.int64()),
            ("partition", pa.int32()),
            ("offset", pa.int64()),
            ("recorded_at", moment),
            ("occurred_at", moment),
            ("key", pa.string()),
            ("identity", pa.string()),
            ("content", pa.string()),
            ("canonical", pa.binary()),
        ]
    )
