"""Kafka's records as the log gives them."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from mnemolog.schemas.records import LogRecord

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def record_of(found: Any) -> LogRecord:
    """Return what aiokafka *found*; its time is the broker's, in milliseconds."""
    return LogRecord(
        partition=found.partition,
        offset=found.offset,
        recorded_at=_moment(found.timestamp),
        key=found.key,
        value=found.value,
        headers=tuple(found.headers),
    )


@lru_cache(maxsize=1024)
def _moment(milliseconds: int) -> datetime:
    """Return the time; a whole batch shares it."""
    return _EPOCH + timedelta(milliseconds=milliseconds)
