"""What fails over there fails here, as the same error; the async twin asks a service, too."""

import asyncio

import pytest

from mnemolog import AsyncMemory, Memory
from mnemolog.http_errors import NotServed
from mnemolog.schemas.errors import (
    EventTooLarge,
    InvalidEvent,
    InvalidSetting,
    LogUnavailable,
    NotFound,
    Parked,
    ReadOnly,
    StoreUnavailable,
    TimedOut,
)
from mnemolog.schemas.positions import Token
from support.raw_records import put_changed
from support.remembering import texts
from support.serving import served


@pytest.fixture(scope="module")
def service():
    with served() as one:
        yield one


@pytest.fixture
def far(service):
    with Memory(service.url, agent="ops-1") as memory:
        yield memory


def test_errors_come_back_as_the_same_classes(far):
    for error, call in (
        (InvalidEvent, lambda: far.feedback("e-1", 7)),
        (InvalidEvent, lambda: far.observe(7)),
        (InvalidEvent, lambda: far.observe("x", agent="../pwn")),
        (InvalidEvent, lambda: far.append("dream.dreamt", {})),
        (InvalidEvent, lambda: far.observe("x", data={"n": float("nan")})),
        (InvalidEvent, lambda: far.observe("x", data={1: 2})),
        (InvalidEvent, lambda: far.observe("x", data={"f": {"a", "set"}})),
        (EventTooLarge, lambda: far.observe("x", data={str(n): "y" * 20 for n in range(60_000)})),
        (InvalidSetting, lambda: far.recall("x", hits_max=10_000)),
        (InvalidSetting, lambda: far.recall("x", hits_max="many")),
        (InvalidSetting, lambda: far.timeline(rows_max=-1)),
        (InvalidSetting, lambda: far.timeline(agent=7)),
        (InvalidSetting, lambda: far.wait_for("0@1")),
        (InvalidSetting, lambda: far.wait_for(Token({}), timeout_seconds=-1)),
        (NotFound, lambda: far.get("never-appended")),
        (NotFound, lambda: far.get("mem_" + "0" * 32)),
        (NotFound, lambda: far.resume("never")),
        (TypeError, lambda: far.observe("x", agnt="ops-1")),
        (TypeError, lambda: far.recall("x", agnt="ops-1")),
    ):
        with pytest.raises(error) as caught:
            call()
        assert type(caught.value) is error


def test_an_error_has_the_fields_the_message_and_the_hint_of_the_one_over_there(far, service):
    with service.memory() as near:
        for mem in (near, far):
            with pytest.raises(InvalidEvent) as caught:
                mem.feedback("e-1", 7)
            error = caught.value
            assert (error.field, error.value) == ("score", 7.0)
            assert (error.hint, str(error)[:11]) == (InvalidEvent.hint, "score = 7.0")


def test_what_is_parked_is_told_with_its_place(far, service):
    with service.memory() as near:
        token, _ = put_changed(near, {"text": "x"}, lambda d: d["data"].pop("text"), agent="bad")
    with pytest.raises(Parked) as caught:
        far.wait_for(token)
    assert token.offsets == {caught.value.partition: caught.value.offset}
    with pytest.raises(Parked):
        far.timeline(after=token)


def test_a_long_wait_ends_with_its_own_bound(far):
    waits = []
    with pytest.raises(TimedOut) as caught:
        far.wait_for(Token({0: 10**9}), timeout_seconds=0.2, tell=waits.append)
    assert caught.value.waited_seconds == 0.2
    assert waits


def test_a_handle_that_only_reads_appends_nothing(service):
    with Memory(service.url, read_only=True) as far:
        before = far.end()
        for call in (lambda: far.observe("x"), lambda: far.forget(text="x")):
            with pytest.raises(ReadOnly):
                call()
        assert far.end() == before


def test_a_log_that_does_not_answer_is_unavailable_and_a_retry_counts_once(service, monkeypatch):
    with Memory(service.url, agent="retries") as far, service.memory() as near:
        append, failures = near.engine.log.append, [LogUnavailable("the topic", "no broker")] * 2

        def failing(records, **more):
            done = append(records, **more)
            if failures:
                raise failures.pop()  # the acknowledgement is lost, not the event
            return done

        monkeypatch.setattr(near.engine.log, "append", failing)
        for _ in range(2):
            with pytest.raises(LogUnavailable, match="no broker"):
                far.observe("x", id="again")
        first, second = far.observe("x", id="again"), far.observe("x", id="again")
        assert first.position == second.position


def test_where_no_service_is_appending_and_asking_are_unavailable():
    with served() as one:
        url = one.url
    with Memory(url) as far:
        with pytest.raises(LogUnavailable, match="Connect"):
            far.observe("x")
        with pytest.raises(StoreUnavailable, match="Connect"):
            far.end()


def test_a_closed_client_says_so(service):
    far = Memory(service.url)
    far.close()
    far.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        far.end()


# The async twin


def test_the_async_twin_asks_a_service_too(service):
    async def live():
        async with await AsyncMemory.open(service.url, agent="async") as mem:
            seen = await mem.observe("the pool is exhausted", task="t-async")
            async with mem.act("psql", task="t-async") as action:
                action.result = "50"
            found = await mem.recall("pool", after=seen.token, agent="async")
            with pytest.raises(NotFound):
                await mem.get("nothing")
            with pytest.raises(NotServed):
                await mem.sql("SELECT 1")
            return texts(found)

    assert asyncio.run(asyncio.wait_for(live(), 60)) == ["the pool is exhausted"]
