"""Which partition a key goes to: murmur2 of its bytes, as Kafka's Java client and aiokafka do.

librdkafka's default differs ("consistent_random"); see docs/publishing.md.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from mnemolog.schemas.ids import RESERVED_PREFIX, derived_id

GOVERNANCE_KEY: Final = f"{RESERVED_PREFIX}governance"  # of what is on its way to every partition
COPY_OF: Final = "copyof"  # extension of a governance event's copies: the id of the event itself

_SEED: Final = 0x9747B28C
_M: Final = 0x5BD1E995
_MASK: Final = 0xFFFFFFFF


def partition_of(key: bytes | None, *, partitions: int) -> int:
    """Return the partition of *key* in a log of *partitions*; what has none goes where b"" does.

    >>> partition_of(b"agent-1", partitions=1)
    0
    """
    if partitions == 1:
        return 0  # the embedded log's default: there is no choice
    return (murmur2(key or b"") & 0x7FFFFFFF) % partitions


def partitions_of(keys: Iterable[bytes | None], *, partitions: int) -> dict[bytes | None, int]:
    """Return the partition of each of *keys*; one that comes often is hashed once."""
    return {key: partition_of(key, partitions=partitions) for key in set(keys)}


def murmur2(data: bytes) -> int:
    """Return the 32-bit murmur2 hash of *data*, as Kafka's Java client computes it."""
    length = len(data)
    value = _SEED ^ length
    whole = length & ~3
    for index in range(0, whole, 4):
        k = int.from_bytes(data[index : index + 4], "little") * _M & _MASK
        k = (k ^ k >> 24) * _M & _MASK
        value = (value * _M & _MASK) ^ k
    if length & 3:
        value = (value ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    value = (value ^ value >> 13) * _M & _MASK
    return value ^ value >> 15


@lru_cache(maxsize=2048)
def governance_key(partition: int, *, partitions: int) -> str:
    """Return the key of governance events for *partition*: the first number that lands there."""
    number = 0
    while True:
        key = f"{GOVERNANCE_KEY}-{number}"
        if partition_of(key.encode(), partitions=partitions) == partition:
            return key
        number += 1


def governance_copy(event_id: str, partition: int, *, partitions: int) -> tuple[str, str]:
    """Return id and key of the copy for *partition* of the governance event *event_id*."""
    copy_id = derived_id("governance", event_id, str(partition))
    return copy_id, governance_key(partition, partitions=partitions)


def is_governance_key(key: str) -> bool:
    """Say whether *key* is that of a governance event or of one of its copies."""
    return key == GOVERNANCE_KEY or key.startswith(f"{GOVERNANCE_KEY}-")
