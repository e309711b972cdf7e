"""The async twin has every verb of `Memory`, with its arguments, results and errors."""

import asyncio
import inspect

import pytest

from mnemolog import AsyncMemory, Memory
from mnemolog.acting import Action
from mnemolog.engine import LEASE_FILE
from mnemolog.projections.lease import Lease
from mnemolog.schemas.errors import InvalidEvent, LeaseHeld, NotFound
from support.polling import eventually
from support.remembering import QUICK, recorded, texts, the_event

# What builds and looks, and does not wait: a program gets it from the memory inside.
NO_VERBS = {"draft", "lineage", "engine"}
BY_HAND = {"act", "close"}


def public(cls):
    return {name for name in dir(cls) if not name.startswith("_")}


def opening(**more):
    return AsyncMemory.open(":memory:", **{**QUICK, "agent": "ops-1", **more})


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, 120))


def test_every_verb_has_its_twin():
    assert public(Memory) - NO_VERBS == public(AsyncMemory) - {"open"}


@pytest.mark.parametrize("name", sorted(public(Memory) - NO_VERBS - BY_HAND))
def test_a_twin_is_a_coroutine_with_the_verbs_own_arguments_and_words(name):
    verb, twin = getattr(Memory, name), getattr(AsyncMemory, name)
    assert inspect.signature(twin) == inspect.signature(verb)
    assert twin.__doc__ == verb.__doc__
    assert inspect.iscoroutinefunction(inspect.unwrap(twin, stop=inspect.iscoroutinefunction))


def test_the_context_manager_takes_what_its_twin_takes():
    arguments = inspect.signature(Memory.act).parameters
    assert inspect.signature(AsyncMemory.act).parameters == arguments


def test_a_day_in_the_life_of_an_agent():
    async def live():
        async with await opening() as mem:
            seen = await mem.observe("the pool of auth is exhausted", task="t-1")
            found = await mem.recall("which pool?", after=seen.token)
            assert texts(found) == ["the pool of auth is exhausted"]
            await mem.decide("raise it", because=[found[0]], task="t-1")
            saved = await mem.checkpoint("keep it up", plan_summary="watch", task="t-1")
            await mem.wait_for(await mem.end())
            assert (await mem.resume("t-1")).checkpoint.saved.id == saved.id
            assert (await mem.get(seen)).event.text == "the pool of auth is exhausted"
            assert (await mem.sql("SELECT count(*) FROM events")).rows == [(3,)]
            assert all(one.is_equal for one in await mem.verify("weights"))

    run(live())


def test_errors_are_those_of_the_verbs():
    async def live():
        async with await opening() as mem:
            with pytest.raises(InvalidEvent, match="score"):
                await mem.feedback("e-1", 7)
            with pytest.raises(NotFound):
                await mem.get("e-1")
            with pytest.raises(TypeError, match="'agnt'"):
                await mem.observe("x", agnt="ops-1")

    run(live())


def test_an_action_is_recorded_around_what_is_awaited():
    async def live():
        async with await opening() as mem:
            async with mem.act("psql", arguments={"max": 50}, task="t-1") as action:
                assert isinstance(action, Action)
                await asyncio.sleep(0)
                action.result = "pool is 50"
            return recorded(mem._memory)

    started, finished = run(live())
    assert started.event.arguments == {"max": 50}
    assert (finished.event.success, finished.event.result) == (True, "pool is 50")
    assert finished.envelope.cause == started.id
    assert finished.envelope.task == "t-1"


def fail(error):
    raise error


@pytest.mark.parametrize(
    "error", [ValueError("no such table"), KeyboardInterrupt(), StopIteration()]
)
def test_a_failure_in_the_block_is_recorded_and_goes_on(error):
    async def live():
        async with await opening() as mem:
            try:
                async with mem.act("psql") as action:
                    fail(error)
            except BaseException as raised:  # noqa: BLE001 - looked at below
                return raised, the_event(mem._memory, action.finished).event
            return None

    raised, event = run(live())
    assert raised is error
    assert event.error == f"{type(error).__name__}: {error}"


def test_a_cancelled_action_is_recorded_as_failed():
    async def live():
        async with await opening() as mem:
            inside, forever = asyncio.Event(), asyncio.Event()

            async def act():
                async with mem.act("wait"):
                    inside.set()
                    await forever.wait()

            task = asyncio.create_task(act())
            await inside.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return recorded(mem._memory)[-1].event

    event = run(live())
    assert (event.success, event.error) == (False, "CancelledError: ")


def test_fifty_at_once_lose_nothing():
    async def live():
        async with await opening() as mem:
            said = await asyncio.gather(*(mem.observe(f"reading {n}") for n in range(50)))
            await mem.wait_for(await mem.end())
            rows = (await mem.sql("SELECT count(*), count(DISTINCT event_id) FROM events")).rows
            return said, rows, recorded(mem._memory)

    said, rows, events = run(live())
    assert rows == [(50, 50)]
    assert {event.event.text for event in events} == {f"reading {n}" for n in range(50)}
    assert sorted(one.position for one in said) == [event.position for event in events]


def test_more_waits_than_threads_come_to_their_end():
    async def live():
        async with await opening() as mem:
            token = (await mem.observe("x")).token
            await asyncio.gather(*(mem.wait_for(token) for _ in range(100)))

    run(live())


def test_closing_twice_is_harmless():
    async def live():
        mem = await opening()
        await mem.close()
        await mem.close()

    run(live())


def test_who_gives_up_while_it_opens_leaves_nothing_open(tmp_path):
    async def live():
        task = asyncio.create_task(AsyncMemory.open(tmp_path, **QUICK))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(live())
    eventually(lambda: is_free(tmp_path), what="the lease is free")


def is_free(folder):
    try:
        Lease.take(folder / "default" / LEASE_FILE).release()
    except LeaseHeld:
        return False
    return True


def test_an_argument_that_makes_no_sense_is_refused():
    with pytest.raises(TypeError, match="'agnt' is no keyword of Memory"):
        run(opening(agnt="ops-1"))
