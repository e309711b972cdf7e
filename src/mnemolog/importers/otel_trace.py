"""A trace as a story: its moments in order, each thing told by the step that tells it best.

A call of a model within another is the same call, recorded twice: the inner one tells what it cost
and, where both do, what was said. What agents and other steps hold is told only if no model's call
says it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from mnemolog.importers.base import Here, Placed, Telling
from mnemolog.importers.otel_calls import Calls
from mnemolog.importers.otel_dialogue import Dialogue
from mnemolog.importers.otel_pieces import Piece, pieces_of
from mnemolog.importers.otel_said import Said
from mnemolog.importers.otel_steps import Moment, Step, Tree, moments
from mnemolog.importers.story import Story, Told
from mnemolog.schemas.events.experience import ObservationRecorded

PARTS_MAX: Final = 1_000  # texts of a trace that are looked for in what its models say


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One trace. `is_turn`: it is one of several in a session, which other traces go on with.

    The title is the session's, and None where other exports might give another one.
    """

    id: str
    place: str
    title: str | None
    begun: datetime
    steps: Sequence[Step]
    ended: datetime | None = None  # None where that is not known
    is_turn: bool = False


class TraceStory:
    """Tells one trace."""

    def __init__(self, trace: Trace, telling: Telling) -> None:
        self.events: dict[str, str] = {}  # step -> the event that stands for it
        self._last: str | None = None
        self.story = Story(telling, Told())
        self._trace = trace
        self._tree = Tree(trace.steps)
        self._moments = moments(self._tree)
        self._calls = Calls(self.story, trace=trace.id, steps=self._tree.steps.values())
        self._dialogue = Dialogue(self.story, self._calls, is_turn=trace.is_turn)
        self._heard: dict[str, str | None] = {}  # step -> the last event of its input
        self._carried: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
        self._spoken_by: dict[str, set[str]] = defaultdict(set)  # outer call -> keys of pieces
        self._models_say = _Words(self._tree)

    @property
    def begun(self) -> str:
        """The id of the session's first event."""
        return self.story.telling.id_of("session")

    @property
    def answer(self) -> str | None:
        """The id of what an assistant said last, or else did."""
        return self._dialogue.words or self._dialogue.call

    def has_said(self, text: str) -> bool:
        """Say whether a model said *text*, alone or within more."""
        return self._models_say(Said(role="assistant", text=text))

    def tell(self) -> Iterator[Placed]:
        """Yield the events of the trace, in the order in which they happened."""
        for placed in self._events():
            self._last = placed.draft.id
            yield placed

    def _events(self) -> Iterator[Placed]:
        yield from self._begin()
        for moment in self._moments:
            match moment.what:
                case "hear":
                    yield from self._hear(moment.step)
                case "say":
                    yield from self._say(moment)
                case "call":
                    yield from self._call(moment)
                case "answer":
                    yield from self._calls.end(moment.step, _here(moment.step, moment.at))
        if self._trace.ended is not None and not self._trace.is_turn:
            here = Here(self._trace.place, self._trace.ended, item=self._trace.id)
            self.story.previous = self._last
            yield from self.story.close({}, here, name=("ended",))

    def _begin(self) -> Iterator[Placed]:
        """Start the session. What is said of it must not depend on how much of it is there."""
        trace = self._trace
        here = Here(trace.place, trace.begun, item=None if trace.is_turn else trace.id)
        yield from self.story.start({"title": trace.title}, here, name=("session",), cause=None)

    def _above(self, step: Step) -> str:
        """Return what led to *step*: the event of the nearest step that holds it, or the last."""
        known = (self.events.get(above.id) for above in self._tree.above(step))
        return next(filter(None, known), self._last or self.begun)

    # Calls of models, and what holds them

    def _hear(self, step: Step) -> Iterator[Placed]:
        if step.id in self._heard:
            return
        heard = self._told_by(step, step.heard)
        here = _here(step, step.begun)
        yield from self._dialogue.hear(heard, here, cause=self._above(step))
        self._heard[step.id] = self.story.previous if heard else None

    def _told_by(self, step: Step, messages: Sequence[Said]) -> Sequence[Said]:
        """Return what of *messages* it is for *step* to tell."""
        if self._tree.is_caller(step):
            outer = self._tree.wrapper_of(step)
            repeats = step.is_plain and outer is not None and not outer.is_plain
            return [] if repeats else messages
        if step.kind == "other" and self._tree.depth(step):
            return []  # what steps within hand to one another is no conversation
        is_known = self._models_say
        return [said for said in messages if said.text and not is_known(said)]

    def _say(self, moment: Moment) -> Iterator[Placed]:
        step = moment.step
        yield from self._hear(step)
        here, cause = _here(step, moment.at), self._heard[step.id] or self._above(step)
        uses, name = self._uses(step), ("said", self._trace.id, step.id)
        event = yield from self._dialogue.say(
            self._unsaid(step), here, name=name, cause=cause, uses=uses
        )
        if event is not None:
            self.events[step.id] = event
        yield from self._rest(step, here, uses, cause=self.story.previous or cause)

    def _unsaid(self, step: Step) -> list[Piece]:
        """Return the pieces that *step* says and that no call around or within it has told."""
        said = self._told_by(step, step.said)
        outer = self._tree.wrapper_of(step)
        around = self._spoken_by[outer.id] if outer else set()
        pieces = [piece for one in said for piece in pieces_of(one) if piece.key not in around]
        if self._tree.is_wrapper(step) or not self._tree.is_caller(step):
            pieces = [piece for piece in pieces if not self._dialogue.is_told(piece)]
            self._spoken_by[step.id] |= {piece.key for piece in pieces}
        return pieces

    def _uses(self, step: Step) -> list[Mapping[str, Any]]:
        """Return what the calls that *step* speaks for have cost."""
        within = self._carried.pop(step.id, [])
        return within if self._tree.is_wrapper(step) or step.use is None else [*within, step.use]

    def _rest(
        self, step: Step, here: Here, uses: list[Mapping[str, Any]], *, cause: str
    ) -> Iterator[Placed]:
        """Tell of a call's failure, and of costs that stand on nothing that was said."""
        outer = self._tree.wrapper_of(step)
        if uses and outer is not None and step.error is None:
            self._carried[outer.id] += uses
            return
        if step.error is not None and step.kind == "model":
            use = uses.pop(0) if uses else None
            fields = {"text": step.error, "success": False, "stated_by": "tool", "model_use": use}
            yield from self._observe(step, here, fields, number=0, cause=cause)
        for number, use in enumerate(uses, start=1):
            fields = {"text": "", "data": {"step": step.name}, "model_use": use}
            yield from self._observe(step, here, fields, number=number, cause=cause)

    def _observe(
        self, step: Step, here: Here, fields: Mapping[str, Any], *, number: int, cause: str
    ) -> Iterator[Placed]:
        name = ("observed", self._trace.id, step.id, str(number))
        yield from self.story.tell(ObservationRecorded, fields, here, name=name, cause=cause)
        self.events.setdefault(step.id, self.story.telling.id_of(*name))

    # Calls of tools

    def _call(self, moment: Moment) -> Iterator[Placed]:
        step = moment.step
        here = _here(step, moment.at)
        yield from self._calls.begin(step, here, cause=self._above(step))
        self.events[step.id] = self._calls.action_of(step)


class _Words:
    """Knows what models are told and say in a trace, to the letter or as a part of it.

    Parts are looked for `PARTS_MAX` times; after that only the letter counts.
    """

    def __init__(self, tree: Tree) -> None:
        models = [step for step in tree.steps.values() if step.kind == "model"]
        said = [message for step in models for message in (*step.heard, *step.said)]
        self._texts = {message.text.strip() for message in said if message.text}
        self._asked = 0

    def __call__(self, said: Said) -> bool:
        text = said.text.strip()
        if text in self._texts:
            return True
        self._asked += 1
        return self._asked <= PARTS_MAX and any(text in known for known in self._texts)


def _here(step: Step, at: datetime) -> Here:
    return Here(step.place, at, item=step.id)
