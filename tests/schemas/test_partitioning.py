"""A key goes where Kafka's Java client and aiokafka would put it."""

import pytest
from aiokafka.partitioner import DefaultPartitioner
from aiokafka.partitioner import murmur2 as aiokafkas
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.ids import RESERVED_PREFIX
from mnemolog.schemas.partitioning import governance_key, murmur2, partition_of, partitions_of


@pytest.mark.parametrize(
    ("key", "signed"),  # from the tests of Apache Kafka's own Utils.murmur2
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_the_hash_is_that_of_javas_client(key, signed):
    assert murmur2(key) == signed % 2**32


@given(st.binary(max_size=64), st.integers(1, 64))
def test_the_partition_is_that_of_aiokafka(key, partitions):
    assert murmur2(key) == aiokafkas(key) % 2**32
    every = list(range(partitions))
    assert partition_of(key, partitions=partitions) == DefaultPartitioner()(key, every, every)


@given(st.lists(st.none() | st.binary(max_size=4), max_size=9), st.integers(1, 5))
def test_the_partitions_of_many_keys_are_those_of_each(keys, partitions):
    found = partitions_of(keys, partitions=partitions)
    assert [found[key] for key in keys] == [partition_of(k, partitions=partitions) for k in keys]


def test_keys_spread_and_each_stays_where_it_is():
    keys = [f"agent-{number}".encode() for number in range(10)]
    found = [partition_of(key, partitions=4) for key in keys]
    assert len(set(found)) > 1
    assert found == [partition_of(key, partitions=4) for key in keys]


@pytest.mark.parametrize("partitions", [1, 2, 4, 12])
def test_each_partition_has_a_key_of_governance_that_lands_there(partitions):
    keys = [governance_key(p, partitions=partitions) for p in range(partitions)]
    assert [partition_of(key.encode(), partitions=partitions) for key in keys] == list(
        range(partitions)
    )
    assert all(key.startswith(RESERVED_PREFIX) for key in keys)
    assert len(set(keys)) == partitions
