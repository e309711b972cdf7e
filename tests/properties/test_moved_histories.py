"""Any history has the same content on any other log that was made of its export."""

import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.kinds import NAMES
from mnemolog.streams.memory_log import InMemoryLog
from support.any_history import codec_of, examples, histories
from support.histories import TENANT
from support.import_log import ImportLog
from support.moving import exported, foreign_of, moved
from support.whims import Host, settle


def log_of(history, *, partitions):
    log, codec = InMemoryLog(TENANT, partitions=partitions), codec_of(partitions)
    for one in history:
        log.append(one.records(codec, partitions=partitions))
    return log


def projected(log, folder):
    """Return digests, and what is parked, of each projection of *log*."""
    host = Host(folder, log)
    found = {}
    with host.projecting(records_max=1_000) as projector:
        projector.catch_up(log.ends())
        for one in projector.projections:
            settle(one)
            parked = {(p.identity, p.behind, p.newer) for p in one.parked()}
            found[one.name] = (ContentDigest.of(one.content()), parked)
    return found


@examples(4)
@given(history=histories(), before=st.integers(1, 4), after=st.integers(1, 4))
def test_a_moved_history_has_the_same_content(history, before, after):
    here, there = log_of(history, partitions=before), InMemoryLog(TENANT, partitions=after)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        moved(here, codec_of(before), into=ImportLog(there), folder=folder)
        was, is_now = projected(here, folder / "here"), projected(there, folder / "there")
    for name in NAMES:
        assert is_now[name][0].differing_keys(was[name][0]) == [], name
        assert is_now[name][1] == was[name][1], name
    assert foreign_of(there, codec_of(after)) == foreign_of(here, codec_of(before))


@examples(20)
@given(history=histories(), before=st.integers(1, 4), after=st.integers(1, 4))
def test_an_export_of_what_was_moved_says_the_same(history, before, after):
    here, there = log_of(history, partitions=before), InMemoryLog(TENANT, partitions=after)
    with tempfile.TemporaryDirectory() as name:
        first = moved(here, codec_of(before), into=ImportLog(there), folder=Path(name))
        size = there.ends()
        again = moved(here, codec_of(before), into=ImportLog(there), folder=Path(name))
    assert (there.ends(), again.added, again.foreign) == (size, 0, 0)
    assert again.events == first.events
    assert said(exported(there, codec_of(after))) == said(exported(here, codec_of(before)))


def said(export):
    """Return the lines of *export* but the first and last, whatever their order."""
    lines = export.splitlines()[1:-1]
    assert len(lines) == len(set(lines))
    return set(lines)
