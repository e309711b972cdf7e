"""Calls of tools in a trace: said by a model, recorded by the tool, answered in the next input.

All three may be there, or one alone; together they are one action with one end. An action's id is
derived from the call's id and arguments where the call has an id, since any of the three may come
first or be missing, or else from who said it.
"""

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.base import Here, Placed
from mnemolog.importers.chat_messages import Call
from mnemolog.importers.otel_said import Answer
from mnemolog.importers.otel_steps import Step
from mnemolog.importers.story import Story
from mnemolog.schemas.events.experience import ActionFinished, ActionStarted

UNKNOWN_TOOL: Final = "tool"  # of an answer that names none, to a call that is not there
Name = tuple[str, ...]
Use = Mapping[str, Any] | None


@dataclass(slots=True)
class Action:
    """A call on its way: `record` is the step in which the tool itself tells of it."""

    call: Call
    name: Name
    id: str
    cause: str | None = None
    use: Use = None
    record: str | None = None
    is_started: bool = False
    is_orphaned: bool = False
    end: str | None = None  # the id of the event that tells the answer

    @property
    def is_open(self) -> bool:
        """Say whether an answer is missing that no tool's own record will give."""
        return self.end is None and self.record is None and not self.is_orphaned


class _Records:
    """The tools' own records of a trace; each call of a model claims one of them at most."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self._steps: dict[tuple[str, ...], deque[Step]] = defaultdict(deque)
        self._claimed: set[str] = set()
        for step in steps:
            if step.kind == "tool" and step.call is not None:
                for key in _keys_of_record(step.call):
                    self._steps[key].append(step)

    def claim(self, call: Call) -> Step | None:
        """Return the record of *call*: by its id, or else by what it was called with.

        Ids that both have must be the same one.
        """
        for key in _keys_of_call(call):
            steps = self._steps.get(key, deque())
            while steps:
                step = steps.popleft()
                if step.id not in self._claimed:
                    self._claimed.add(step.id)
                    return step
        return None


def _keys_of_record(call: Call) -> Iterator[Name]:
    if call.id is not None:
        yield "id", call.tool, call.id
    for whose in ("any", "unnamed") if call.id is None else ("any",):
        yield "alike", call.tool, _text_of(call), whose
        if not call.arguments:
            yield "bare", call.tool, whose


def _keys_of_call(call: Call) -> Iterator[Name]:
    if call.id is not None:
        yield "id", call.tool, call.id
    whose = "any" if call.id is None else "unnamed"
    yield "alike", call.tool, _text_of(call), whose
    yield "bare", call.tool, whose


class Calls:
    """The calls of one trace."""

    def __init__(self, story: Story, *, trace: str, steps: Iterable[Step]) -> None:
        self._story = story
        self._trace = trace
        self._records = _Records(steps)
        self._actions: dict[str, Action] = {}
        self._by_id: dict[str, Action] = {}  # the newest call of each id
        self._by_record: dict[str, Action] = {}
        self._by_answer: dict[str, Action] = {}
        self._newest: dict[str, Action] = {}  # of each tool
        # Those without an answer, the oldest first; under "" those of all tools.
        self._waiting: dict[str, dict[str, Action]] = defaultdict(dict)

    # What a model says

    def say(
        self, call: Call, here: Here, *, name: Name, cause: str | None, use: Use
    ) -> Iterator[Placed]:
        """Tell a call, unless the tool's own record will; it is the story's last event then too."""
        action = self._action(call, name, cause=cause, use=use)
        record = self._records.claim(call)
        if record is None:
            yield from self._start(action, here)
        elif record.id in self._by_record:  # the tool was called before its caller was heard
            action = self._by_record[record.id]
        else:
            action.record = record.id
            self._by_record[record.id] = action
        self._remember(action)
        self._story.previous = action.id

    def _action(self, call: Call, name: Name, *, cause: str | None, use: Use = None) -> Action:
        if call.id is not None:
            name = ("call", self._trace, call.id, call.tool, _text_of(call))
        return Action(call, name, self._story.telling.id_of(*name), cause=cause, use=use)

    def _remember(self, action: Action) -> None:
        if action.id not in self._actions:
            self._actions[action.id] = action
            for tool in ("", action.call.tool):
                self._waiting[tool][action.id] = action
            self._newest[action.call.tool] = action
        if action.call.id is not None:
            self._by_id[action.call.id] = action

    def _start(self, action: Action, here: Here) -> Iterator[Placed]:
        call = action.call
        fields = {"action": action.id, "tool": call.tool, "arguments": call.arguments}
        told = {**fields, "raw": call.raw, "model_use": action.use}
        action.is_started = True
        how: dict[str, Any] = {"name": action.name, "cause": action.cause, "call": call.id}
        yield from self._story.tell(ActionStarted, told, here, **how)

    # What a tool records

    def begin(self, step: Step, here: Here, *, cause: str | None) -> Iterator[Placed]:
        """Tell that a tool was called."""
        action = self._by_record.get(step.id)
        if action is None:
            assert step.call is not None, "only what has a call is a tool"
            action = self._action(step.call, ("tool", self._trace, step.id), cause=cause)
            action.record = step.id
            self._by_record[step.id] = action
            self._remember(action)
        if not action.is_started:
            yield from self._start(action, here)

    def end(self, step: Step, here: Here) -> Iterator[Placed]:
        """Tell that a tool answered, unless a model heard the answer before."""
        action = self._by_record[step.id]
        if action.end is None:
            answer = step.answer or Answer("")
            if step.error:
                answer = Answer(step.error, failed=True)
            yield from self._end(action, answer, here, duration_ms=step.duration_ms)

    # What a model hears

    def answered(self, answer: Answer) -> Action | None:
        """Return the call that *answer* answers.

        One without an id is that of a call that was answered so, or of the oldest that waits, or
        else tells in other words what the tool itself has recorded.
        """
        if answer.call_id is not None:
            return self._by_id.get(answer.call_id)
        alike = self._by_answer.get(answer.text)
        if alike is not None and answer.tool in (None, alike.call.tool):
            return alike
        waiting = iter(self._waiting[answer.tool or ""].values())
        newest = self._newest.get(answer.tool or "")
        recorded = newest if newest is not None and newest.record else None
        return next(waiting, recorded)

    def hear(
        self, answer: Answer, here: Here, *, name: Name, cause: str | None
    ) -> Iterator[Placed]:
        """Tell an answer; one of no known call has no action that began."""
        action = self.answered(answer)
        if action is None:
            call = Call(answer.call_id, answer.tool or UNKNOWN_TOOL, {}, None)
            action = Action(call, name, self._story.telling.id_of("unsaid", *name), cause=cause)
        yield from self._end(action, answer, here)

    def _end(
        self, action: Action, answer: Answer, here: Here, *, duration_ms: int | None = None
    ) -> Iterator[Placed]:
        fields: dict[str, Any] = {
            "action": action.id,
            "tool": action.call.tool,
            "success": not answer.failed,
            "error" if answer.failed else "result": answer.text,
            "duration_ms": duration_ms,
        }
        name = ("answer", action.id)
        action.end = self._story.telling.id_of(*name)
        self._by_answer.setdefault(answer.text, action)
        for tool in ("", action.call.tool):
            self._waiting[tool].pop(action.id, None)
        cause = action.id if action.is_started or action.record else action.cause
        how: dict[str, Any] = {"name": name, "cause": cause, "call": action.call.id}
        yield from self._story.tell(ActionFinished, fields, here, **how)

    def orphan(self, action: Action, here: Here) -> Iterator[Placed]:
        """Tell that no answer will come to a call: the conversation went on without it."""
        if not action.is_open:
            return
        action.is_orphaned = True
        yield from self._story.orphan(action.id, action.call.tool, here)

    def named(self, call_id: str) -> str | None:
        """Return the action of the newest call of an id."""
        action = self._by_id.get(call_id)
        return None if action is None else action.id

    def action_of(self, step: Step) -> str:
        """Return the action of a tool that was called."""
        return self._by_record[step.id].id

    def of(self, action_id: str) -> Action | None:
        """Return the call whose action has this id."""
        return self._actions.get(action_id)


def _text_of(call: Call) -> str:
    return json.dumps([call.arguments, call.raw], sort_keys=True)
