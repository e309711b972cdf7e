"""Calls of tools in a trace: said by a model, recorded by the tool, answered in the next input.

All three may be there, or one alone; together they are one action with one end. An action's id is
derived from the call's id and arguments where the call has an id, since any of the three may come
first or be missing, or else from who said it.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.base import Placed
from mnemolog.importers.chat_messages import Call
from mnemolog.importers.otel_said import Answer
from mnemolog.importers.otel_steps import Step
from mnemolog.importers.story import Here, Story
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


class Calls:
    """The calls of one trace."""

    def __init__(self, story: Story, *, trace: str, steps: Iterable[Step]) -> None:
        self._story = story
        self._trace = trace
        self._records: dict[str, list[Step]] = defaultdict(list)  # of a tool, not yet claimed
        for step in steps:
            if step.kind == "tool" and step.call is not None:
                self._records[step.call.tool].append(step)
        self._actions: dict[str, Action] = {}
        self._by_id: dict[str, Action] = {}  # the newest call of each id
        self._by_record: dict[str, Action] = {}
        self._by_answer: dict[str, Action] = {}
        self._newest: dict[str, Action] = {}  # of each tool
        self._waiting: dict[str, Action] = {}  # without an answer, the oldest first

    # What a model says

    def say(
        self, call: Call, here: Here, *, name: Name, cause: str | None, use: Use
    ) -> Iterator[Placed]:
        """Tell a call, unless the tool's own record will; it is the story's last event then too."""
        action = self._action(call, name, cause=cause, use=use)
        record = self._claim(call)
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
            self._actions[action.id] = self._waiting[action.id] = action
            self._newest[action.call.tool] = action
        if action.call.id is not None:
            self._by_id[action.call.id] = action

    def _claim(self, call: Call) -> Step | None:
        """Return the tool's record of *call*: by its id, or else by what it was called with."""
        records = self._records.get(call.tool, [])
        by_id = (r for r in records if r.call and r.call.id == call.id is not None)
        found = next(by_id, None)
        if found is None:
            others = [r for r in records if r.call and None in (r.call.id, call.id)]
            alike = [r for r in others if r.call and _text_of(r.call) == _text_of(call)]
            bare = [r for r in others if r.call and not r.call.arguments]
            found = next(iter(alike or bare), None)
        if found is not None:
            records.remove(found)
        return found

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
        waiting = (a for a in self._waiting.values() if answer.tool in (None, a.call.tool))
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
        self._waiting.pop(action.id, None)
        cause = action.id if action.is_started or action.record else action.cause
        how: dict[str, Any] = {"name": name, "cause": cause, "call": action.call.id}
        yield from self._story.tell(ActionFinished, fields, here, **how)

    def orphan(self, action: Action, here: Here) -> Iterator[Placed]:
        """Tell that no answer will come to a call: the conversation went on without it."""
        if not action.is_open:
            return
        action.is_orphaned = True
        fields = {"action": action.id, "tool": action.call.tool, "success": False, "orphaned": True}
        name = ("orphan", action.id)
        yield from self._story.aside(ActionFinished, fields, here, name=name, cause=action.id)

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
