"""The host of processors: a thread that outlives troubles, and ends when it is told to."""

import asyncio
import threading

import pytest

from mnemolog.schemas.errors import StoreUnavailable
from mnemolog.streams.hosting import ProcessorHost
from support.log_engines import MemoryEngine
from support.polling import eventually
from support.processors import Echo, Site


@pytest.fixture
def site():
    engine = MemoryEngine()
    yield Site(engine.open(partitions=2), tenant=engine.tenant)
    engine.close()


@pytest.fixture
def hosted(site, tmp_path):
    """Return a function that starts a host of processors, which is stopped at the end."""
    hosts = []

    def start(*processors, **more):
        runners = [site.runner(one, tmp_path) for one in processors]
        host = ProcessorHost(site.log, runners, **more)
        hosts.append(host)
        host.start()
        return host

    yield start
    for host in hosts:
        assert host.stop()


class Other(Echo):
    name = "other"


def test_it_works_on_what_is_there_and_on_what_comes(site, hosted):
    site.say("one")
    hosted(Echo())
    eventually(lambda: site.texts() == ["1 one"], what="what was there")
    site.say("two")
    eventually(lambda: site.texts() == ["1 one", "2 two"], what="what came")


def test_a_log_that_does_not_answer_is_asked_again(site, hosted):
    away = [StoreUnavailable("the log", "away")] * 2
    heard = []
    append = site.log.append

    def sometimes(records, **bound):
        if away and threading.current_thread().name == "mnemolog-processors":
            raise away.pop()
        return append(records, **bound)

    site.log.append = sometimes
    site.say("one")
    host = hosted(Echo(), tell=heard.append)
    eventually(lambda: site.texts() == ["1 one"], what="the output, in the end")
    assert len(heard) == 2
    assert host.failures == {}


def test_one_that_cant_go_on_is_told_of_and_the_others_go_on(site, hosted, monkeypatch):
    broken = Echo()
    broken.states = None  # no state can be read or written
    site.say("one")
    heard = []
    host = hosted(broken, Other(), tell=heard.append)
    eventually(lambda: site.texts("other") == ["1 one"], what="the other's output")
    eventually(lambda: "echo" in host.failures, what="the failure is told")
    assert heard == [host.failures["echo"]]
    site.say("two")
    eventually(lambda: len(site.texts("other")) == 2, what="the other goes on")


def test_a_call_of_a_model_that_is_under_way_is_given_up_at_the_end(site, hosted):
    called, given_up = threading.Event(), threading.Event()

    class Endless(Echo):
        async def process(self, causes, context):
            called.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                given_up.set()
                raise

    site.say("one")
    host = hosted(Endless())
    assert called.wait(30)
    assert host.stop()
    assert given_up.is_set()
    hosted(Echo())
    eventually(lambda: site.texts() == ["1 one"], what="the next host makes it")


def test_to_stop_twice_is_harmless(hosted):
    host = hosted(Echo())
    assert host.stop()
    assert host.stop()
