"""One event loop in a thread of its own, behind the synchronous port; and Kafka's errors in ours.

Every call has a bound, since some of aiokafka's waits have none. Only the `kafka_*` modules know
aiokafka.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError as FutureCancelled
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from aiokafka import errors

from mnemolog.schemas.errors import LogDamaged, LogUnavailable, MnemologError
from mnemolog.streams.brokers import Brokers
from mnemolog.streams.kafka_doors import check_let_in
from mnemolog.streams.kafka_noise import hush

Result = TypeVar("Result")
Work = Callable[[], Coroutine[Any, Any, Result]]

GRACE_SECONDS: Final = 5.0  # beyond a call's bound: for the loop itself to answer
CLOSE_SECONDS_MAX: Final = 5.0
RETRY_SECONDS: Final = 0.2


class KafkaLoop:
    """Runs coroutines for threads that wait. *name* stands in errors."""

    def __init__(self, name: str) -> None:
        hush()
        self._name = name
        self._closed = False
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name=f"kafka {name}", daemon=True
        )
        self._thread.start()

    @property
    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def call(self, work: Work[Result], *, timeout_seconds: float, doing: str) -> Result:
        """Return what *work* returns. Raises LogUnavailable when it takes too long."""
        if self._closed:
            raise LogUnavailable(self._name, "this handle was closed")
        with speaking_of(self._name, doing=doing, waited_seconds=timeout_seconds):
            future = asyncio.run_coroutine_threadsafe(_bounded(work, timeout_seconds), self._loop)
            try:
                return future.result(timeout_seconds + GRACE_SECONDS)
            except BaseException:
                future.cancel()
                raise

    def tell(self, what: Callable[[], None]) -> None:
        """Let *what* be called in the loop soon, if it is open; does not wait."""
        with contextlib.suppress(RuntimeError):  # closed
            self._loop.call_soon_threadsafe(what)

    def close(self) -> None:
        """Cancel what runs, end the loop and its thread. Harmless twice."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(Exception):
            asyncio.run_coroutine_threadsafe(_cancel_all(), self._loop).result(CLOSE_SECONDS_MAX)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_SECONDS_MAX)
        if not self._thread.is_alive():
            self._loop.close()


async def _bounded(work: Work[Result], timeout_seconds: float) -> Result:
    async with asyncio.timeout(timeout_seconds):
        return await work()


async def _cancel_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=CLOSE_SECONDS_MAX / 2)


@contextmanager
def speaking_of(name: str, *, doing: str, waited_seconds: float) -> Iterator[None]:
    """Turn Kafka's errors, and time-outs, into ours."""
    try:
        yield
    except MnemologError:
        raise
    except TimeoutError as error:
        reason = f"no answer within {waited_seconds:g} s while {doing}"
        raise LogUnavailable(name, reason) from error
    except (FutureCancelled, asyncio.CancelledError) as error:
        raise LogUnavailable(name, f"closed while {doing}") from error
    except errors.CorruptRecordException as error:
        raise LogDamaged(name, f"{doing}: {error}") from error
    except (errors.KafkaError, OSError) as error:
        raise LogUnavailable(name, f"{doing}: {error!r}") from error


async def started(make: Callable[[], Any], *, brokers: Brokers, timeout_seconds: float) -> Any:
    """Return a client of Kafka made by *make*, once it has started.

    A broker that is down makes that fail at once; it is tried again within the bound. One that
    refuses us is not: LogUnavailable says why.
    """
    last = "no answer"
    try:
        async with asyncio.timeout(timeout_seconds):
            while True:
                client = make()
                try:
                    await client.start()
                except errors.KafkaError as error:
                    last = repr(error)
                    await stopped(client)
                    await check_let_in(brokers)
                except BaseException:
                    await asyncio.shield(stopped(client))
                    raise
                else:
                    return client
                await asyncio.sleep(RETRY_SECONDS)
    except TimeoutError as error:
        reason = f"no broker answered within {timeout_seconds:g} s: {last}"
        raise LogUnavailable(str(brokers), reason) from error


async def stopped(client: Any) -> None:
    """Stop a client, or give up on it: nothing that it holds outlives the loop."""
    stop = getattr(client, "stop", None) or client.close
    with contextlib.suppress(Exception):
        async with asyncio.timeout(CLOSE_SECONDS_MAX):
            await stop()
