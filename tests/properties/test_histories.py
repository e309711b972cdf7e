"""Any history, fed in any way to any number of partitions, gives one content in all projections.

`make fuzz` looks longer. What fails prints the blob that repeats it.
"""

import tempfile
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.analytics.projection import FAULT_POINTS as OF_ANALYTICS
from mnemolog.projections.checkpoints.projection import FAULT_POINTS as OF_CHECKPOINTS
from mnemolog.projections.kinds import NAMES
from mnemolog.projections.memories.projection import FAULT_POINTS as OF_MEMORIES
from mnemolog.projections.weights.projection import FAULT_POINTS as OF_WEIGHTS
from mnemolog.replay.comparing import compare
from support.any_history import examples, histories
from support.whims import Host, WhimsicalLog

FAULT_POINTS = (*OF_MEMORIES, *OF_ANALYTICS, *OF_CHECKPOINTS, *OF_WEIGHTS)
PARTITIONS_MAX = 4


@examples(8)
@given(
    history=histories(),
    partitions=st.integers(1, PARTITIONS_MAX),
    records_max=st.integers(1, 12),
    deaths=st.lists(st.tuples(st.sampled_from(FAULT_POINTS), st.integers(1, 2)), max_size=2),
    repeats=st.lists(st.integers(0, 99), max_size=6),
    seed=st.integers(0, 2**32),
)
def test_what_serves_equals_a_rebuild_whatever_happened_on_the_way(
    history, partitions, records_max, deaths, repeats, seed
):
    with tempfile.TemporaryDirectory() as name:
        log = WhimsicalLog(partitions=partitions, chance=Random(seed))
        host = Host(Path(name) / "tenant", log)
        records = [one.records(host.codec, partitions=partitions) for one in history]
        half = len(records) // 2
        for part in (records[:half], [*records[half:], *_again(records, repeats)]):
            log.append([record for copies in part for record in copies])
            for point, times in deaths:
                host = host.dies(point, times=times, records_max=records_max)
            host.project(records_max=records_max)
        _assert_equal_to_a_rebuild(host)


def _again(records, repeats):
    return [records[number % len(records)] for number in repeats]


def _assert_equal_to_a_rebuild(host):
    with host.projecting(records_max=1) as projector:
        assert {projection.name for projection in projector.projections} == set(NAMES)
        for projection in projector.projections:
            fresh = host.built(projection.name, epoch=2)
            try:
                compared = compare(projection, fresh)
                assert compared.is_equal, str(compared)
                assert _parked(projection) == _parked(fresh)
            finally:
                fresh.close()


def _parked(projection):
    return [(one.record.position, one.behind, one.newer) for one in projection.parked()]
