"""How outputs are made of causes: within a time, with retries, by rules where a model fails.

A failure is told in the log of the process and is visible in the output itself, which names its
maker. What even the rules can't make is told by cause, so that one key's fault is no other's.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from mnemolog.streams.processing import (
    ATTEMPTS_MAX,
    PROCESS_SECONDS_MAX,
    Cause,
    Context,
    Output,
    Process,
    Processor,
)

PAUSE_SECONDS: Final = 0.5  # before the second attempt; twice as long before each further one

_log = structlog.get_logger("mnemolog.processors")

Sleep = Callable[[float], Awaitable[None]]


@dataclass(slots=True)
class Made:
    """What became of some causes: in order, those that failed with their keys' later ones."""

    outputs: list[Output] = field(default_factory=list)
    judged: list[Cause] = field(default_factory=list)
    failed: dict[str, tuple[Cause, str]] = field(default_factory=dict)  # by key: the first, why


@dataclass(frozen=True, slots=True)
class Making:
    """Lets one processor work. The bounds are handed in, so that tests need not wait."""

    processor: Processor
    context: Context
    seconds_max: float = PROCESS_SECONDS_MAX
    attempts_max: int = ATTEMPTS_MAX
    sleep: Sleep = asyncio.sleep

    async def make(self, causes: Sequence[Cause]) -> Made:
        """Return what became of *causes*. Never raises but where it is cancelled.

        1. The processor does them all, in a few attempts.
        2. Else its rules do.
        3. Else the rules do one after the other; a cause that fails holds its key's later ones.
        """
        done = await self._by(self.processor.process, causes, attempts_max=self.attempts_max)  # 1
        rules = self.processor.rules
        if done is None and rules is not None:
            _log.warning("rules take over", processor=self.processor.name, causes=len(causes))
            done = await self._by(rules, causes, attempts_max=1)  # 2
        if done is not None:
            return Made(done, list(causes))
        return await self._one_by_one(rules or self.processor.process, causes)  # 3

    async def _one_by_one(self, rules: Process, causes: Sequence[Cause]) -> Made:
        made = Made()
        for cause in causes:
            key = cause.recorded.key
            if key in made.failed:
                continue
            try:
                made.outputs += await self._attempt(rules, [cause])
            except Exception as error:  # noqa: BLE001 - whatever a rule's fault is, others go on
                made.failed[key] = (cause, f"{type(error).__name__}: {error}")
            else:
                made.judged.append(cause)
        return made

    async def _by(
        self, process: Process, causes: Sequence[Cause], *, attempts_max: int
    ) -> list[Output] | None:
        """Return what *process* makes of *causes*, or None where every attempt failed."""
        for attempt in range(1, attempts_max + 1):
            try:
                return await self._attempt(process, causes)
            except Exception as error:  # noqa: BLE001 - a model may fail in any way
                _log.warning(
                    "a processor failed",
                    processor=self.processor.name,
                    causes=[cause.recorded.id for cause in causes[:5]],
                    attempt=attempt,
                    error=type(error).__name__,
                )
            if attempt < attempts_max:
                await self.sleep(PAUSE_SECONDS * 2 ** (attempt - 1))
        return None

    async def _attempt(self, process: Process, causes: Sequence[Cause]) -> list[Output]:
        work = process(causes, self.context)
        outputs = list(await asyncio.wait_for(_running(work), self.seconds_max))
        given = [output.cause.recorded.identity for output in outputs]
        asked = [cause.recorded.identity for cause in causes]
        if len(set(given)) != len(given) or not set(given) <= set(asked):
            raise ValueError("one output a cause, and of no other causes")
        return sorted(outputs, key=lambda output: asked.index(output.cause.recorded.identity))


async def _running(work: Awaitable[Sequence[Output]]) -> Sequence[Output]:
    return await work
