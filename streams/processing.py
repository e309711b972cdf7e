"""The port of a processor: code that reads events and appends new ones, and may call a model.

A processor has two halves. `fold` is pure, sees each input once, in the order of its key, and says
what is to be done about it, if anything. `process` does it, for a batch of causes; it may take
long and fail. One cause gives one output event at most, with an id derived from the processor's
name and the cause alone: two hosts that do the same work, or one that does it twice, add nothing.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from pydantic import TypeAdapter

from mnemolog.schemas.envelope import Envelope, RecordedEvent
from mnemolog.schemas.events import Event
from mnemolog.schemas.fields import JsonMap
from mnemolog.schemas.ids import derived_id
from mnemolog.schemas.policy import Policy
from mnemolog.streams.publishing import Draft

SOURCE_PREFIX: Final = "/mnemolog/processors/"
MAKER: Final = "maker"  # extension of an output: the rule or the model that made it
DEPTH: Final = "chaindepth"  # extension of an output: how many processors led to it
CHAIN_DEPTH_MAX: Final = 4  # an event that so many processors led to is nobody's input

BATCH_CAUSES_MAX: Final = 100
PROCESS_SECONDS_MAX: Final = 60.0  # of one attempt
ATTEMPTS_MAX: Final = 3


@dataclass(frozen=True, slots=True)
class Cause:
    """An event about which there is something to do; `found` is what the fold said of it."""

    recorded: RecordedEvent
    found: JsonMap


@dataclass(frozen=True, slots=True)
class Output:
    """The event that a cause gives; *maker* names the rule or the model that made it."""

    cause: Cause
    model: type[Event]
    fields: JsonMap
    maker: str


@dataclass(frozen=True, slots=True)
class Context:
    """What `process` is told beside its causes."""

    tenant: str
    processor: str


@dataclass(frozen=True, slots=True)
class Folded:
    """A key's new state, and what is to be done about the event: None is nothing."""

    state: Any
    found: JsonMap | None = None


Process = Callable[[Sequence[Cause], Context], Awaitable[Sequence[Output]]]


class Processor(Protocol):
    """One processor. What it holds between two calls must not decide anything."""

    @property
    def name(self) -> str:
        """A literal: it names the outputs' source and ids for ever."""
        ...

    @property
    def version(self) -> int:
        """The version of the fold and of its states' form: another one folds the log again."""
        ...

    @property
    def inputs(self) -> frozenset[str]:
        """The types of the events that it folds; its own outputs are never among them."""
        ...

    @property
    def states(self) -> TypeAdapter[Any]:
        """How a key's state becomes JSON and back."""
        ...

    @property
    def rules(self) -> Process | None:
        """What takes over where `process` failed; None where `process` is a rule itself."""
        ...

    def fold(self, state: Any | None, recorded: RecordedEvent, policy: Policy) -> Folded:
        """Return the key's next *state*; None before its first event. Pure."""
        ...

    async def process(self, causes: Sequence[Cause], context: Context) -> Sequence[Output]:
        """Return an output for each of *causes* that gives one."""
        ...


def source_of(name: str) -> str:
    """Return the source of the outputs of the processor *name*."""
    return SOURCE_PREFIX + name


def skip_name(name: str) -> str:
    """Return what an `event.skipped` calls the processor *name*: never as a projection's name."""
    return f"processors/{name}"


def output_id(name: str, identity: str) -> str:
    """Return the id of what the processor *name* makes of the event of *identity*."""
    return derived_id("processor", name, identity)


def depth_of(envelope: Envelope) -> int:
    """Return how many processors led to the event in *envelope*, one after the other."""
    depth = envelope.extensions.get(DEPTH, 0)
    return depth if isinstance(depth, int) and envelope.source.startswith(SOURCE_PREFIX) else 0


def draft_of(output: Output, name: str) -> Draft:
    """Return the event of *output*, which happened when and where its cause did."""
    recorded = output.cause.recorded
    around = recorded.envelope
    return Draft(
        model=output.model,
        fields=output.fields,
        id=output_id(name, recorded.identity),
        source=source_of(name),
        occurred_at=around.occurred_at,
        agent=around.agent,
        user=around.user,
        project=around.project,
        session=around.session,
        task=around.task,
        phase=around.phase,
        cause=around.id,
        correlation=around.correlation or around.id,
        extensions={MAKER: output.maker, DEPTH: depth_of(around) + 1},
    )
