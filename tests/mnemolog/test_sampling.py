"""Where the projections are is told by who keeps them, and by their files where others do."""

from datetime import timedelta

from mnemolog.engine import present
from mnemolog.sampling import sampled
from mnemolog.schemas.positions import Position
from support.polling import eventually
from support.remembering import opened

LATER = timedelta(seconds=40)


def at_the_end(memory):
    return all(s.lag_events == 0 for s in sampled(memory.engine, now=0, present=present()).values())


def test_who_keeps_the_projections_tells_of_all_of_them():
    with opened() as memory:
        memory.observe("it rains", agent="ops-1")
        eventually(lambda: at_the_end(memory), what="all is applied")
        samples = sampled(memory.engine, now=7.0, present=present())
    assert samples.keys() == {"memories", "weights", "checkpoints", "analytics"}
    assert {sample.at_seconds for sample in samples.values()} == {7.0}
    assert {sample.waited_seconds for sample in samples.values()} == {0.0}


def test_what_waits_is_told_with_its_age(tmp_path):
    with opened(tmp_path, projects=False) as memory:
        memory.observe("it rains", agent="ops-1")
        memory.observe("it pours", agent="ops-1")
        record = memory.engine.log.at(Position(0, 0))
        samples = sampled(memory.engine, now=0, present=record.recorded_at + LATER)
    assert samples.keys() == {"memories", "weights", "checkpoints"}
    assert {sample.lag_events for sample in samples.values()} == {2}
    assert {sample.waited_seconds for sample in samples.values()} == {40.0}


def test_a_clock_that_is_behind_the_logs_tells_of_no_age_below_nothing(tmp_path):
    with opened(tmp_path, projects=False) as memory:
        memory.observe("it rains", agent="ops-1")
        samples = sampled(memory.engine, now=0, present=present() - LATER)
    assert {sample.waited_seconds for sample in samples.values()} == {0.0}


def test_others_read_how_far_the_keeper_is_from_its_files(tmp_path):
    with opened(tmp_path) as keeper, opened(tmp_path) as other:
        said = other.observe("it rains", agent="ops-1")
        keeper.wait_for(said.token)
        assert at_the_end(other)
