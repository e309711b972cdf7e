"""`AsyncMemory`: the async twin. Each verb is `Memory`'s own, run in a thread of its pool."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Self, TypeVar, Unpack, cast

from mnemolog.acting import Action
from mnemolog.memory import Memory
from mnemolog.scope import Scope

if TYPE_CHECKING:
    from types import TracebackType

CALLS_MAX: Final = 32  # that wait at one time; further ones queue

P = ParamSpec("P")
R = TypeVar("R")


def _twin(
    verb: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate["AsyncMemory", P], Awaitable[R]]:
    """Return *verb* as a coroutine function with the same arguments."""
    name = verb.__name__

    async def twin(self: "AsyncMemory", *args: P.args, **kwargs: P.kwargs) -> R:
        # By name: a service's client has the verb in a form of its own.
        return await self._run(partial(getattr(self._memory, name), *args, **kwargs))

    return cast("Callable[Concatenate[AsyncMemory, P], Awaitable[R]]", wraps(verb)(twin))


def _close_opened(opening: "asyncio.Future[Memory]") -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


class AsyncMemory:
    """`Memory` for programs that await. Make it by `await AsyncMemory.open(...)`.

    Arguments, results and errors are those of `Memory`.
    """

    def __init__(self, memory: Memory, pool: ThreadPoolExecutor) -> None:
        self._memory = memory
        self._pool = pool

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        """Return a memory opened with the arguments of `Memory`."""
        pool = ThreadPoolExecutor(CALLS_MAX, thread_name_prefix="mnemolog-async")
        loop = asyncio.get_running_loop()
        opening = loop.run_in_executor(pool, partial(Memory, *args, **kwargs))
        try:
            memory = await asyncio.shield(opening)
        except BaseException:
            opening.add_done_callback(_close_opened)  # a caller that gave up can't close it
            pool.shutdown(wait=False)
            raise
        return cls(memory, pool)

    append = _twin(Memory.append)
    observe = _twin(Memory.observe)
    message = _twin(Memory.message)
    plan = _twin(Memory.plan)
    decide = _twin(Memory.decide)
    feedback = _twin(Memory.feedback)
    checkpoint = _twin(Memory.checkpoint)
    remember = _twin(Memory.remember)
    used = _twin(Memory.used)
    pin = _twin(Memory.pin)
    forget = _twin(Memory.forget)
    recall = _twin(Memory.recall)
    get = _twin(Memory.get)
    memory = _twin(Memory.memory)
    event = _twin(Memory.event)
    history = _twin(Memory.history)
    why = _twin(Memory.why)
    resume = _twin(Memory.resume)
    timeline = _twin(Memory.timeline)
    checkpoints = _twin(Memory.checkpoints)
    saved = _twin(Memory.saved)
    sql = _twin(Memory.sql)
    end = _twin(Memory.end)
    wait_for = _twin(Memory.wait_for)
    rebuild = _twin(Memory.rebuild)
    verify = _twin(Memory.verify)
    parked = _twin(Memory.parked)
    parked_event = _twin(Memory.parked_event)
    retry = _twin(Memory.retry)
    skip = _twin(Memory.skip)
    foreign = _twin(Memory.foreign)
    foreign_record = _twin(Memory.foreign_record)
    digests = _twin(Memory.digests)
    export = _twin(Memory.export)
    import_histories = _twin(Memory.import_histories)

    @asynccontextmanager
    async def act(
        self,
        tool: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        action: str | None = None,
        costly: bool = False,
        **scope: Unpack[Scope],
    ) -> AsyncIterator[Action]:
        """Record a tool call: that it started, and that it finished or failed; see `Memory.act`."""
        call = self._memory.act(tool, arguments=arguments, action=action, costly=costly, **scope)
        running = await self._run(call.__enter__)
        try:
            yield running
        except BaseException as error:
            # The twin's own frame must not be the one that says the error is handled.
            await self._run(partial(call.__exit__, type(error), error, error.__traceback__))
            raise
        else:
            await self._run(partial(call.__exit__, None, None, None))

    async def close(self) -> None:
        """As `Memory.close`."""
        await asyncio.to_thread(self._memory.close)  # the pool may be shut down already
        self._pool.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        await self.close()

    async def _run(self, call: Callable[[], R]) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)
