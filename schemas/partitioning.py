"""Which partition a key goes to: murmur2 of its bytes, as Kafka's Java client and aiokafka do.

librdkafka's default differs ("consistent_random"); see docs/publishing.md.
"""

from functools import lru_cache
from typing import Final

from mnemolog.schemas.ids import RESERVED_PREFIX

_SEED: Final = 0x9747B28C
_M: Final = 0x5BD1E995
_MASK: Final = 0xFFFFFFFF


def partition_of(key: bytes | None, *, partitions: int) -> int:
    """Return the partition of *key* in a log of *partitions*; what has none goes where b"" does.

    >>> partition_of(b"agent-1", partitions=1)
    0
    """
    return (murmur2(key or b"") & 0x7FFFFFFF) % partitions


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


@lru_cache(maxsize=64)
def governance_key(partition: int, *, partitions: int) -> str:
    """Return the key of governance events for *partition*: the first number that lands there."""
    number = 0
    while True:
        key = f"{RESERVED_PREFIX}governance-{number}"
        if partition_of(key.encode(), partitions=partitions) == partition:
            return key
        number += 1
