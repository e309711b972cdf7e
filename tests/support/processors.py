"""Processors for tests: small ones of our own, and how one is run over a log to its end."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from mnemolog.schemas.codec import Codec
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events.memory import MemoryFormed
from mnemolog.streams.log import Log
from mnemolog.streams.processing import Cause, Context, Folded, Output, source_of
from mnemolog.streams.processor_harness import ProcessorRunner
from mnemolog.streams.processor_making import Making
from mnemolog.streams.publishing import Appended, Draft, Publisher
from support.histories import START
from support.log_records import everything

STEPS_MAX = 1_000


class Poison(Exception):
    """What the processors of these tests fail with."""


class Echo:
    """Forms a memory of every observation; says what it was asked, and fails where it is told.

    A text with "quiet" gives no output, one with "poison" fails even its rules, one with "bad
    rule" its fold.
    """

    name = "echo"
    version = 1
    inputs = frozenset({"observation.recorded", "memory.formed"})
    states: TypeAdapter[Any] = TypeAdapter(int)

    def __init__(self, *, model_fails: bool = False, has_model: bool = False) -> None:
        self.asked: list[str] = []
        self.model_fails = model_fails
        self.is_cured = False
        self.rules = self.by_rules if has_model else None

    def fold(self, state: int | None, recorded: RecordedEvent, policy: object) -> Folded:
        event = recorded.event
        if "bad rule" in event.text:
            raise Poison("the fold")
        number = (state or 0) + 1
        return Folded(number, {"text": event.text, "number": number})

    async def process(self, causes: Sequence[Cause], context: Context) -> Sequence[Output]:
        self.asked += [cause.found["text"] for cause in causes]
        if self.model_fails:
            raise Poison("the model")
        return self._made(causes, "model m1" if self.rules else "rules echo/1")

    async def by_rules(self, causes: Sequence[Cause], context: Context) -> Sequence[Output]:
        return self._made(causes, "rules echo/1")

    def _made(self, causes: Sequence[Cause], maker: str) -> list[Output]:
        if not self.is_cured and any("poison" in cause.found["text"] for cause in causes):
            raise Poison("the rule")
        return [
            Output(cause, MemoryFormed, {"text": f"{cause.found['number']} {said}"}, maker)
            for cause in causes
            if "quiet" not in (said := cause.found["text"])
        ]


class Site:
    """One tenant's log, with what appends to it and what runs processors over it."""

    def __init__(self, log: Log, *, tenant: str) -> None:
        self.log = log
        self.codec = Codec(tenant=tenant, partitions=log.partitions)
        self.publisher = Publisher(log, self.codec, tenant=tenant, now=lambda: START)

    def say(self, text: str, *, agent: str = "ann", **more: Any) -> Appended:
        """Append an observation."""
        draft = Draft(model=ex.ObservationRecorded, fields={"text": text}, agent=agent, **more)
        return self.publisher.append([draft])[0]

    def runner(self, processor: Any, folder: Path, **more: Any) -> ProcessorRunner:
        """Return a runner whose failures cost no time."""
        context = Context(tenant=self.codec.tenant, processor=processor.name)
        making = Making(processor, context, sleep=_at_once, seconds_max=more.pop("seconds_max", 5))
        return ProcessorRunner(
            processor,
            self.log,
            self.codec,
            self.publisher,
            tenant_folder=folder,
            making=making,
            **more,
        )

    def run(self, processor: Any, folder: Path, **more: Any) -> None:
        """Run *processor* until nothing is left to do, in a host that then ends."""
        with closing(self.runner(processor, folder, **more)) as runner:
            finish(runner)

    def records(self) -> list[RecordedEvent]:
        """Return all events of ours, by partition and offset."""
        items = [self.codec.decode(record) for record in everything(self.log)]
        return [item.recorded for item in items if isinstance(item, Ours)]

    def outputs(self, name: str = "echo") -> list[RecordedEvent]:
        """Return what the processor *name* appended: its marks left out, repeats too."""
        found = [one for one in self.records() if one.envelope.source == source_of(name)]
        return [one for one in found if one.event.event_type != "processor.advanced"]

    def texts(self, name: str = "echo") -> list[str]:
        """Return the texts of the memories that *name* formed."""
        return [one.event.text for one in self.outputs(name)]


def finish(runner: ProcessorRunner) -> None:
    """Step until nothing is left to do."""

    async def steps() -> None:
        for _ in range(STEPS_MAX):
            if not await runner.step():
                return
        raise AssertionError("it never ends")

    asyncio.run(steps())


async def _at_once(_: float) -> None:
    """Wait no time."""
