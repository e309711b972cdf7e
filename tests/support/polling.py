"""Waiting for what happens elsewhere: ask often, give up at a deadline, never just sleep."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

Answer = TypeVar("Answer")

PAUSE_SECONDS: Final = 0.02


def eventually(
    ask: Callable[[], Answer],
    *,
    what: str,
    within_seconds: float = 30,
    pause: float = PAUSE_SECONDS,
) -> Answer:
    """Return the first true answer of *ask*; fail, naming *what*, after *within_seconds*."""
    deadline = time.monotonic() + within_seconds
    while not (answer := ask()):
        if time.monotonic() > deadline:
            raise AssertionError(_too_late(what, within_seconds))
        time.sleep(pause)
    return answer


async def eventually_async(
    ask: Callable[[], Awaitable[Answer]],
    *,
    what: str,
    within_seconds: float = 30,
    pause: float = PAUSE_SECONDS,
) -> Answer:
    """Return the first true answer of the coroutine function *ask*, as `eventually` does."""
    deadline = time.monotonic() + within_seconds
    while not (answer := await ask()):
        if time.monotonic() > deadline:
            raise AssertionError(_too_late(what, within_seconds))
        await asyncio.sleep(pause)
    return answer


def _too_late(what: str, within_seconds: float) -> str:
    return f"{what}: not within {within_seconds:g} s"
