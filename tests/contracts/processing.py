"""What the harness of processors does over any log; the fixture `engine` gives the log."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest

from mnemolog.projections.fault_points import listening
from mnemolog.streams.processing import DEPTH, MAKER, output_id
from mnemolog.streams.processor_harness import FAULT_POINTS
from support.processors import Echo, Site, finish


class Died(BaseException):
    """The process is gone."""


class ProcessingContract:
    """Of one host or two, killed or not, with its file or without."""

    @pytest.fixture
    def site(self, engine):
        return Site(engine.open(partitions=2), tenant=engine.tenant)

    def test_each_cause_gives_one_output_behind_it_that_names_cause_and_maker(self, site, tmp_path):
        said = [site.say(f"n{n}", agent=f"a{n % 3}") for n in range(6)]
        site.run(Echo(), tmp_path)
        outputs = {one.envelope.cause: one for one in site.outputs()}
        assert outputs.keys() == {one.id for one in said}
        for cause in said:
            output = outputs[cause.id]
            assert output.id == output_id("echo", cause.identity)
            assert output.position > cause.position
            assert output.envelope.correlation == cause.id
            assert output.envelope.extensions == {MAKER: "rules echo/1", DEPTH: 1}

    def test_a_repeat_adds_nothing_with_the_file_or_without(self, site, tmp_path):
        for n in range(5):
            site.say(f"n{n}")
        site.run(Echo(), tmp_path / "one")
        ends = site.log.ends()
        again, lost = Echo(), Echo()
        site.run(again, tmp_path / "one")
        site.run(lost, tmp_path / "two")
        assert site.log.ends() == ends
        assert again.asked == lost.asked == []

    @pytest.mark.parametrize("point", FAULT_POINTS)
    @pytest.mark.parametrize("keeps_file", [True, False])
    def test_a_death_at_any_point_loses_nothing_and_doubles_nothing(
        self, site, tmp_path, point, keeps_file
    ):
        for n in range(7):
            site.say(f"n{n}", agent=f"a{n % 2}")
        runner = site.runner(Echo(), tmp_path / "one")

        def die(here):
            if here == point:
                raise Died

        with pytest.raises(Died), listening(die):
            finish(runner)
        runner.close()
        site.run(Echo(), tmp_path / ("one" if keeps_file else "two"))
        wanted = Counter(f"{1 + n // 2} n{n}" for n in range(7))
        assert Counter(site.texts()) == wanted, "each once, in its key's order"

    def test_two_hosts_at_once_add_what_one_does(self, site, tmp_path):
        said = [site.say(f"n{n}") for n in range(4)]
        one, two = site.runner(Echo(), tmp_path / "one"), site.runner(Echo(), tmp_path / "two")
        overtaken = []

        def overtake(point):
            if point == "processor.made" and not overtaken:
                overtaken.append(point)
                with ThreadPoolExecutor(1) as thread:  # a loop of its own
                    thread.submit(finish, two).result(60)

        with closing(one), closing(two), listening(overtake):
            finish(one)
        assert overtaken
        outputs = site.outputs()
        assert {output.id for output in outputs} == {
            output_id("echo", cause.identity) for cause in said
        }
        assert len({(output.identity, output.content) for output in outputs}) == len(said)

    def test_what_gave_no_output_is_not_asked_again_behind_a_mark(self, site, tmp_path):
        for n in range(6):
            site.say(f"quiet {n}")
        first, second = Echo(), Echo()
        site.run(first, tmp_path / "one", mark_causes=5)
        site.run(second, tmp_path / "two", mark_causes=5)
        assert len(first.asked) == 6
        assert second.asked == []
        site.say("loud")
        site.run(second, tmp_path / "two", mark_causes=5)
        assert second.asked == ["loud"]

    def test_a_failure_holds_its_key_and_no_other(self, site, tmp_path):
        for text in ("one", "poison", "three"):
            site.say(text, agent="ann")
            site.say(text.replace("poison", "two"), agent="bob")
        site.run(Echo(), tmp_path)
        assert sorted(site.texts()) == ["1 one", "1 one", "2 two", "3 three"]
        with closing(site.runner(Echo(), tmp_path)) as runner, runner.fold.changing() as store:
            ((key, _, error),) = store.held(keys_max=10)
        assert key == "ann"
        assert "Poison" in error

    def test_a_log_that_was_made_anew_is_read_from_its_start(self, engine, site, tmp_path):
        for n in range(3):
            site.say(f"old {n}")
        site.run(Echo(), tmp_path)
        engine.make_anew()
        fresh = Site(engine.open(partitions=2), tenant=engine.tenant)
        for n in range(9):
            fresh.say(f"new {n}")
        fresh.run(Echo(), tmp_path)
        assert fresh.texts() == [f"{n + 1} new {n}" for n in range(9)]
