"""Processors over each log: one contract, whoever hosts them and wherever the log is."""

import asyncio
from contextlib import closing

import pytest

from contracts.processing import ProcessingContract
from mnemolog.schemas.events.experience import ObservationRecorded
from mnemolog.schemas.events.governance import EventSkipped
from mnemolog.streams.processing import CHAIN_DEPTH_MAX, DEPTH, MAKER
from mnemolog.streams.processor_harness import HELD_SECONDS
from mnemolog.streams.processor_store import path_of
from mnemolog.streams.publishing import Draft
from support.log_engines import KafkaEngine, MemoryEngine, SQLiteEngine
from support.processors import Echo, Site, finish


@pytest.fixture
def engine():
    engine = MemoryEngine()
    yield engine
    engine.close()


@pytest.fixture
def site(engine):
    return Site(engine.open(partitions=2), tenant=engine.tenant)


class TestInMemory(ProcessingContract):
    """The log that ends with the process."""


class TestSQLite(ProcessingContract):
    """The embedded log."""

    @pytest.fixture
    def engine(self, tmp_path):
        engine = SQLiteEngine(tmp_path)
        yield engine
        engine.close()


@pytest.mark.kafka
class TestKafka(ProcessingContract):
    """The log on a broker, of which a worker is the host."""

    @pytest.fixture
    def engine(self, kafka):
        engine = KafkaEngine(kafka.bootstrap)
        yield engine
        engine.close()


# Models


def test_a_model_that_fails_is_tried_again_and_then_rules_take_over_visibly(site, tmp_path):
    site.say("one")
    failing = Echo(has_model=True, model_fails=True)
    site.run(failing, tmp_path)
    assert failing.asked == ["one"] * 3
    (output,) = site.outputs()
    assert output.envelope.extensions[MAKER] == "rules echo/1"
    site.say("two")
    site.run(Echo(has_model=True), tmp_path)
    assert site.outputs()[1].envelope.extensions[MAKER] == "model m1"
    assert site.texts() == ["1 one", "2 two"], "what the rules made stands"


def test_a_model_that_hangs_is_given_up_after_its_time(site, tmp_path):
    class Hanging(Echo):
        async def process(self, causes, context):
            await asyncio.Event().wait()

    site.say("one")
    site.run(Hanging(has_model=True), tmp_path, seconds_max=0.01)
    assert site.outputs()[0].envelope.extensions[MAKER] == "rules echo/1"


def test_two_outputs_of_one_cause_are_refused_as_a_failure(site, tmp_path):
    class Doubling(Echo):
        async def process(self, causes, context):
            return [*await super().process(causes, context)] * 2

    site.say("one")
    site.run(Doubling(), tmp_path)
    assert site.texts() == []
    with closing(site.runner(Doubling(), tmp_path)) as runner, runner.fold.changing() as store:
        assert store.counts() == {"waiting": 1, "held": 1}


# Held keys


def test_a_held_key_is_tried_again_after_a_while(site, tmp_path):
    site.say("poison")
    site.say("two")
    clock = [0.0]
    echo = Echo()
    with closing(site.runner(echo, tmp_path, now=lambda: clock[0])) as runner:
        finish(runner)
        echo.is_cured = True
        finish(runner)
        assert site.texts() == []
        clock[0] = HELD_SECONDS
        finish(runner)
    assert site.texts() == ["1 poison", "2 two"]


def test_the_next_host_tries_a_held_key_at_once(site, tmp_path):
    site.say("poison")
    site.run(Echo(), tmp_path)
    cured = Echo()
    cured.is_cured = True
    site.run(cured, tmp_path)
    assert site.texts() == ["1 poison"]


def test_an_event_that_the_fold_fails_on_is_parked_with_its_keys_later_ones(site, tmp_path):
    site.say("bad rule", agent="ann")
    site.say("behind", agent="ann")
    site.say("other", agent="bob")
    site.run(Echo(), tmp_path)
    assert site.texts() == ["1 other"]
    with closing(site.runner(Echo(), tmp_path)) as runner:
        assert [one.behind for one in runner.fold.parked()] == [False, True]


@pytest.mark.parametrize("text", ["bad rule", "poison"])
def test_a_skip_lets_the_key_go_on(site, tmp_path, text):
    bad = site.say(text)
    site.say("behind")
    site.run(Echo(), tmp_path)
    assert site.texts() == []
    skip = {"revision": 1, "skipped": bad.identity, "projection": "processors/echo"}
    site.publisher.govern(Draft(model=EventSkipped, fields=skip))
    site.run(Echo(), tmp_path)
    assert [one.split()[1] for one in site.texts()] == ["behind"]
    ends = site.log.ends()
    site.run(Echo(), tmp_path / "elsewhere")
    assert site.log.ends() == ends


# Inputs


def test_a_processors_own_outputs_are_never_its_input(site, tmp_path):
    site.say("one")
    echo = Echo()  # memory.formed, which it appends, is among its inputs
    site.run(echo, tmp_path)
    site.run(echo, tmp_path)
    assert echo.asked == ["one"]


def test_a_chain_of_processors_has_a_bound(site, tmp_path):
    class Other(Echo):
        name = "other"

    site.say("one")
    for _ in range(2 * CHAIN_DEPTH_MAX):
        site.run(Echo(), tmp_path)
        site.run(Other(), tmp_path)
    outputs = [*site.outputs("echo"), *site.outputs("other")]
    depths = [one.envelope.extensions[DEPTH] for one in outputs]
    assert max(depths) == CHAIN_DEPTH_MAX
    ends = site.log.ends()
    site.run(Echo(), tmp_path)
    assert site.log.ends() == ends, "it has come to rest"


def test_an_event_that_is_told_twice_is_one_cause(site, tmp_path):
    site.say("one", id="e1")
    draft = Draft(model=ObservationRecorded, fields={"text": "other"}, agent="ann", id="e1")
    site.publisher.append([draft])
    site.run(Echo(), tmp_path)
    assert site.texts() == ["1 one"]


# The file


def test_a_damaged_file_decides_nothing(site, tmp_path):
    for n in range(5):
        site.say(f"n{n}")
    site.run(Echo(), tmp_path)
    path_of(tmp_path, "echo").write_bytes(b"no database at all" * 500)
    again = Echo()
    site.run(again, tmp_path)
    assert again.asked == []
    assert len(site.texts()) == 5


def test_another_version_of_the_fold_reads_the_log_again_and_makes_nothing_twice(site, tmp_path):
    class Next(Echo):
        version = 2

    site.say("one")
    site.run(Echo(), tmp_path)
    site.say("two")
    site.run(Next(), tmp_path)
    assert site.texts() == ["1 one", "2 two"]


@pytest.mark.parametrize("waits", ["poison", "bad rule"])
def test_a_mark_passes_nothing_that_waits(engine, tmp_path, waits):
    site = Site(engine.open(partitions=1), tenant=engine.tenant)
    site.say("quiet")
    waiting = site.say(waits, agent="bob")
    for n in range(5):
        site.say(f"quiet {n}")
    site.run(Echo(), tmp_path / "one", mark_causes=5)
    marks = [one.event for one in site.records() if one.event.event_type == "processor.advanced"]
    assert [mark.offset for mark in marks] == [waiting.position.offset - 1]
    cured = Echo()
    cured.is_cured = True
    site.run(cured, tmp_path / "two", mark_causes=5)
    assert site.texts() == ([] if waits == "bad rule" else ["1 poison"])
