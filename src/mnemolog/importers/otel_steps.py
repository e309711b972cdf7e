"""The steps of a trace, whoever recorded it: calls of models, calls of tools, and what holds them.

A trace is a tree of steps, each with its own time span. Steps that name no known step as theirs
stand at the top; parents that lead back to themselves end where they meet.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from mnemolog.importers.chat_messages import Call
from mnemolog.importers.otel_said import Answer, Said
from mnemolog.schemas.times import instant

STEPS_ABOVE_MAX: Final = 256  # of those that hold a step are looked at
Kind = Literal["model", "tool", "agent", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A span. What a model heard and said, or what a tool was called with and answered.

    `is_plain`: heard and said are bare texts, with no message's shape. `use` is `model_use`.
    """

    id: str
    parent: str | None
    kind: Kind
    name: str
    place: str
    begun: datetime
    ended: datetime | None = None
    heard: tuple[Said, ...] = ()
    said: tuple[Said, ...] = ()
    is_plain: bool = False
    use: dict[str, Any] | None = None
    call: Call | None = None
    answer: Answer | None = None
    error: str | None = None

    @property
    def duration_ms(self) -> int | None:
        """How long it took."""
        if self.ended is None:
            return None
        return max(0, round((_utc(self.ended) - _utc(self.begun)).total_seconds() * 1_000))


class Tree:
    """The steps of one trace by their parents."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps: dict[str, Step] = {}
        for step in steps:
            self.steps.setdefault(step.id, step)
        self._models = {step.id for step in self.steps.values() if step.kind == "model"}
        self._with_models: set[str] = set()  # what has a model's call below it
        self._first_tool: dict[str, datetime] = {}  # when the first tool below it was called
        for step in self.steps.values():
            self._note(step)

    def _note(self, step: Step) -> None:
        for above in self.above(step):
            if step.kind == "model":
                self._with_models.add(above.id)
            if step.kind == "tool":
                known = self._first_tool.get(above.id)
                if known is None or _utc(step.begun) < _utc(known):
                    self._first_tool[above.id] = step.begun

    def above(self, step: Step) -> Iterator[Step]:
        """Yield the steps that hold *step*, the nearest first, `STEPS_ABOVE_MAX` at most."""
        met = {step.id}
        at: Step | None = step
        while at is not None and len(met) <= STEPS_ABOVE_MAX:
            at = self.steps.get(at.parent) if at.parent else None
            if at is None or at.id in met:
                return
            met.add(at.id)
            yield at

    def depth(self, step: Step) -> int:
        """Return how many steps hold *step*."""
        return sum(1 for _ in self.above(step))

    def is_wrapper(self, step: Step) -> bool:
        """Say whether *step* holds a model's call, whose words it repeats."""
        return step.id in self._with_models

    def is_caller(self, step: Step) -> bool:
        """Say whether *step* is a model's call, or an agent whose models are elsewhere."""
        is_remote = step.kind == "agent" and step.use is not None and not self.is_wrapper(step)
        return step.kind == "model" or is_remote

    def wrapper_of(self, step: Step) -> Step | None:
        """Return the outermost model's call that holds *step*."""
        held = [above for above in self.above(step) if above.id in self._models]
        return held[-1] if held else None

    def spoke_at(self, step: Step) -> datetime | None:
        """Return when a model's call had been answered: before the tools within it were called."""
        ended, tool = step.ended, self._first_tool.get(step.id)
        if ended is None or tool is None or step.kind != "model":
            return ended or tool
        return min(ended, tool, key=_utc)


@dataclass(frozen=True, slots=True)
class Moment:
    """When a step hears, says, is called or answers."""

    at: datetime
    what: Literal["hear", "say", "call", "answer"]
    step: Step


def moments(tree: Tree) -> list[Moment]:
    """Return all moments of a trace in order.

    At the same time an end comes before a beginning, an inner end before an outer one, and an
    outer beginning before an inner one.
    """
    found = [moment for step in tree.steps.values() for moment in _moments_of(step, tree)]
    return sorted(found, key=lambda moment: _order(moment, tree))


def _moments_of(step: Step, tree: Tree) -> Iterator[Moment]:
    if step.kind == "tool":
        yield Moment(step.begun, "call", step)
        if step.ended is not None:
            yield Moment(step.ended, "answer", step)
        return
    if step.heard:
        yield Moment(step.begun, "hear", step)
    yield Moment(tree.spoke_at(step) or step.begun, "say", step)


_RANKS = {"say": 0, "call": 1, "answer": 2, "hear": 3}


def _order(moment: Moment, tree: Tree) -> tuple[datetime, int, int]:
    depth, rank = tree.depth(moment.step), _RANKS[moment.what]
    at = max(_utc(moment.at), _utc(moment.step.begun))  # clocks go back; what ends has begun
    return at, rank, depth if moment.what in ("hear", "call") else -depth


def _utc(moment: datetime) -> datetime:
    return instant(moment, field="time")[0]
