"""The events of a sample, one at a time: models and tools as traces tell them, and what else is.

A tool's end that comes later than what follows it in the log waits for its time.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from mnemolog.importers.base import Here, Placed
from mnemolog.importers.inspect_log_context import SCORER, TOOL, Happened
from mnemolog.importers.inspect_log_judging import Judging
from mnemolog.importers.inspect_log_saving import STATE, STORE, Aim, Saving
from mnemolog.importers.inspect_log_scores import SCORER_UNKNOWN
from mnemolog.importers.inspect_log_steps import (
    end_of,
    sandbox_data,
    sandbox_succeeded,
    tool_step,
    use_of,
)
from mnemolog.importers.inspect_log_values import Attachments, expanded
from mnemolog.importers.otel_calls import Calls
from mnemolog.importers.otel_dialogue import Dialogue
from mnemolog.importers.otel_messages import messages_of
from mnemolog.importers.otel_pieces import pieces_of
from mnemolog.importers.otel_steps import Step
from mnemolog.importers.shapes import listed, mapping, text_or_none
from mnemolog.importers.story import Story
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.times import instant

GRADER: Final = "grader"
TASK: Final = ("task",)  # names the event with which a sample's task begins
SILENT: Final = frozenset(
    {
        *("span_begin", "span_end", "step", "subtask", "input", "logger", "compaction", "branch"),
        *("anchor", "checkpoint", "interrupt", "timeline", "review", "score_edit"),
    }
)  # they hold others, repeat what messages say, or are the program's own affair
KNOWN: Final = SILENT | {
    *("model", "tool", "sandbox", "sample_init", "state", "store", "score", "approval"),
    *("info", "error", "sample_limit"),
}


class Events:
    """Tells the events of one sample; `last` is the event that was told last."""

    def __init__(
        self, story: Story, *, steps: Mapping[int, Step], aim: Aim, attachments: Attachments
    ) -> None:
        self.last = ""
        self.has_models = False
        self.pool: Any = None  # the messages to which models' inputs refer
        self.calls = Calls(story, trace="", steps=steps.values())
        self.dialogue = Dialogue(story, self.calls, is_turn=False)
        self.judging = Judging(story, self.dialogue)
        self._saving = Saving(story, aim)
        self._story = story
        self._steps = steps
        self._attachments = attachments
        self._ends: list[Step] = []  # of tools, that are not told yet
        self._actions: dict[str, str] = {}  # the newest call of each tool

    @property
    def task(self) -> str:
        """The event with which the sample's task began."""
        return self._story.telling.id_of(*TASK)

    def due(self, now: datetime | None) -> Iterator[Placed]:
        """Tell the ends of tools that come before *now*; all of them without it."""
        for step in sorted(self._ends, key=_end):
            if now is None or _end(step) <= instant(now, field="time")[0]:
                self._ends.remove(step)
                yield from self.calls.end(step, Here(step.place, _end(step), item=step.id))

    def tell(self, at: Happened, here: Here) -> Iterator[Placed]:
        """Tell one event; those of kinds that are not known are nothing. Raises Unreadable."""
        event = mapping(at.event)
        match event.get("event"):
            case "model":
                yield from self._model(at, event, here)
            case "tool":
                yield from self._tool(at, here)
            case "sandbox":
                yield from self._sandbox(at, self._attachments.resolved(event), here)
            case "sample_init":
                self._saving.begin(self._attachments.resolved(event.get("state")))
            case "state":
                yield from self._save(STATE, at, here)
            case "store":
                yield from self._save(STORE, at, here)
            case "score":
                yield from self._score(at, here)
            case "approval":
                yield from self._approve(at, event, here)
            case "info" | "error" | "sample_limit" as kind:
                yield from self._note(kind, self._attachments.resolved(event), here)

    # Models

    def _model(self, at: Happened, event: Mapping[str, Any], here: Here) -> Iterator[Placed]:
        if at.nearest(SCORER) or event.get("role") == GRADER:
            self.judging.spend(use_of(event))  # what graders hear and say is not the agent's
            return
        self.has_models = True
        given = listed(event.get("input")) or expanded(event.get("input_refs"), self.pool)
        heard = messages_of(self._attachments.resolved(given), role="user")
        yield from self.dialogue.hear(heard, here, cause=self.last)
        if event.get("pending") is not True:
            yield from self._said(at, self._attachments.resolved(event), here)

    def _said(self, at: Happened, event: Mapping[str, Any], here: Here) -> Iterator[Placed]:
        cause = self._story.previous or self.last
        ended = Here(here.place, end_of(event), item=here.item)
        choices = listed(mapping(event.get("output")).get("choices"))
        answer = mapping(choices[0]).get("message") if choices else None
        pieces = [p for said in messages_of(answer, role="assistant") for p in pieces_of(said)]
        use = use_of(event)
        uses: list[Mapping[str, Any]] = [] if use is None else [use]
        name = ("said", str(at.number))
        yield from self.dialogue.say(pieces, ended, name=name, cause=cause, uses=uses)
        error = text_or_none(event.get("error"))
        if error is not None or uses:
            success, rest = (False if error else None), next(iter(uses), None)
            fields = {"text": error or "", "success": success, "model_use": rest}
            told = {**fields, "stated_by": "tool"}
            yield from self.observe(told, ended, name=name, cause=cause)

    # Tools and sandboxes

    def _tool(self, at: Happened, here: Here) -> Iterator[Placed]:
        step = self._steps.get(at.number)
        if step is None:
            tool_step(mapping(at.event), number=at.number, place=here.place)  # says what is wrong
            return
        yield from self.calls.begin(step, here, cause=self.last)
        self._actions[step.name] = self.calls.action_of(step)
        if step.ended is not None:
            self._ends.append(step)

    def _sandbox(self, at: Happened, event: Mapping[str, Any], here: Here) -> Iterator[Placed]:
        """Tell what a sandbox did: within a tool it is how the tool did it, else an action."""
        data, success = sandbox_data(event), sandbox_succeeded(event)
        tool, name = at.nearest(TOOL), ("sandbox", str(at.number))
        within = self._actions.get(tool.name) if tool else None
        if within is not None:
            fields = {"text": "", "data": data, "success": success, "stated_by": "tool"}
            yield from self.observe(fields, here, name=name, cause=within)
            return
        output, result = data.pop("output", None), data.pop("result", None)
        shared = {
            "action": self._story.telling.id_of(*name),
            "tool": f"sandbox {event.get('action')}",
        }
        how: dict[str, Any] = {"name": name, "cause": self.last}
        started = {**shared, "arguments": data}
        yield from self._story.tell(happened.ActionStarted, started, here, **how)
        ended = Here(here.place, end_of(event), item=here.item)
        text = output if isinstance(output, str) else "" if success else str(result)
        finished = {**shared, "success": success, "result" if success else "error": text}
        how = {"name": (*name, "end"), "cause": shared["action"]}
        yield from self._story.tell(happened.ActionFinished, finished, ended, **how)

    # States, scores, and what else a log notes

    def _save(self, which: str, at: Happened, here: Here) -> Iterator[Placed]:
        changes = self._attachments.resolved(mapping(at.event).get("changes"))
        how: dict[str, Any] = {"within": at.within, "name": str(at.number), "cause": self.last}
        yield from self._saving.change(which, changes, here, **how)

    def _score(self, at: Happened, here: Here) -> Iterator[Placed]:
        event = mapping(self._attachments.resolved(at.event))
        within = at.nearest(SCORER)
        scorer = text_or_none(event.get("scorer")) or (within.name if within else SCORER_UNKNOWN)
        how: dict[str, Any] = {"name": str(at.number), "otherwise": self.task}
        yield from self.judging.score(scorer, event.get("score"), here, **how)

    def _approve(self, at: Happened, event: Mapping[str, Any], here: Here) -> Iterator[Placed]:
        call_id = text_or_none(mapping(event.get("call")).get("id"))
        target = (self.calls.named(call_id) if call_id else None) or self.last
        how: dict[str, Any] = {"target": target, "cause": self.last, "name": str(at.number)}
        yield from self.judging.approval(event, here, **how)

    def _note(self, kind: str, event: Mapping[str, Any], here: Here) -> Iterator[Placed]:
        """Tell what a log notes: an error, a limit that was reached, what somebody said of it."""
        said = {"info": event.get("data"), "error": mapping(event.get("error")).get("message")}
        told = said.get(kind, event.get("message"))
        is_text = isinstance(told, str)
        fields = {
            "text": told if is_text else "",
            "data": None if is_text or told is None else {kind: told},
            "success": None if kind == "info" else False,
            "stated_by": "tool",
        }
        yield from self.observe(fields, here, name=(kind, str(here.item)), cause=self.last)

    def observe(
        self, fields: Mapping[str, Any], here: Here, *, name: tuple[str, ...], cause: str
    ) -> Iterator[Placed]:
        """Tell what was noticed, which nothing answers."""
        how: dict[str, Any] = {"name": ("observed", *name), "cause": cause}
        yield from self._story.aside(happened.ObservationRecorded, fields, here, **how)


def _end(step: Step) -> datetime:
    return instant(step.ended or step.begun, field="time")[0]
