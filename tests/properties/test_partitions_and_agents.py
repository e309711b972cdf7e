"""What one agent's rows say is its own affair: not the partitions', not its neighbours'."""

import tempfile
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.kinds import NAMES
from mnemolog.streams.memory_log import InMemoryLog
from support.any_history import AGENTS, examples, histories, told_by
from support.any_history import NAMES as IDS
from support.histories import TENANT
from support.whims import Host, settle

EVENTS_OF_ONE_MAX = 10


@contextmanager
def projected(history, *, partitions):
    """Yield the four projections after *history*, fed to a log of *partitions*."""
    log = InMemoryLog(TENANT, partitions=partitions)
    with tempfile.TemporaryDirectory() as name:
        host = Host(Path(name) / "tenant", log)
        for one in history:
            log.append(one.records(host.codec, partitions=partitions))
        with host.projecting(records_max=1_000) as projector:
            projector.catch_up(log.ends())
            for projection in projector.projections:
                settle(projection)
            yield projector.projections


def digests_of(history, *, partitions):
    with projected(history, partitions=partitions) as projections:
        return {one.name: ContentDigest.of(one.content()) for one in projections}


@examples(4)
@given(history=histories(), partitions=st.integers(2, 4))
def test_the_number_of_partitions_does_not_show(history, partitions):
    one, several = (digests_of(history, partitions=n) for n in (1, partitions))
    for name in NAMES:
        assert several[name].differing_keys(one[name]) == [], name


@st.composite
def neighbours(draw):
    """Draw what one agent tells, and what two others do between who never name what is its own."""
    few = {"events_max": EVENTS_OF_ONE_MAX}
    mine = draw(told_by(AGENTS[:1], names=IDS[:6], **few))
    theirs = draw(told_by(AGENTS[1:3], names=IDS[6:12], mark="Theirs: ", **few))
    return mine, theirs, draw(st.permutations([True] * len(mine) + [False] * len(theirs)))


def woven(mine, theirs, turns):
    queues = {True: iter(mine), False: iter(theirs)}
    return [next(queues[turn]) for turn in turns]


@examples(4)
@given(told=neighbours(), partitions=st.integers(1, 4))
def test_what_others_tell_of_their_own_changes_nothing_of_an_agents_rows(told, partitions):
    mine, theirs, turns = told
    alone = digests_of(mine, partitions=1)
    among = digests_of(woven(mine, theirs, turns), partitions=partitions)
    for name in NAMES:
        assert among[name].keys.get(AGENTS[0]) == alone[name].keys.get(AGENTS[0]), name
