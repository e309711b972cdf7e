"""SWE-agent's steps as events: a thought, a command, what it showed, and where that led."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from mnemolog.importers.base import Found, Scope, Unreadable
from mnemolog.importers.chat_messages import Call, message_of, says_error
from mnemolog.importers.moments import Clock
from mnemolog.importers.shapes import text_at
from mnemolog.importers.teller import Teller
from mnemolog.importers.turns import Turns
from mnemolog.importers.usage import amount_of
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.events.experience import (
    CheckpointSaved,
    MessageExchanged,
    ObservationRecorded,
)
from mnemolog.schemas.fields import is_blank
from mnemolog.schemas.values import parse_json

if TYPE_CHECKING:
    from datetime import datetime

FORMAT: Final = "swe-agent"
SECONDS_MAX: Final = 10**9  # that a command may have taken; more is cut to this
SHELL: Final = "bash"  # whose command names no tool by its first word
_TOOL = re.compile(r"\s*([A-Za-z0-9_./-]{1,100})(?=\s|\Z)")
# How the tools say that they did not do it; nothing else says whether a command succeeded.
_FAILED = re.compile(
    r"\A\s*Your proposed edit has introduced new syntax"
    r"|^(?:EXECUTION|COMMAND) TIMED OUT\b"
    r"|\A[^\n]*\bwas cancelled because it took more than\b",
    re.MULTILINE,
)


class Steps:
    """Tells the steps of one run, each named by all that came up to it."""

    def __init__(
        self, teller: Teller, scope: Scope, *, goal: str, digest: str, clock: Clock
    ) -> None:
        self._teller = teller
        self._scope = scope
        self._goal = goal
        self._digest = digest
        self._clock = clock
        self._moment: datetime
        self._turns = Turns(teller)
        self._state: dict[str, Any] = {}
        self._checkpoint: str | None = None
        self._item = self._steps = 0

    def of_trajectory(self, steps: list[Any], place: str) -> Iterator[Found]:
        """Yield the events of each step."""
        for self._steps, step in enumerate(steps, start=1):
            where = f"{place}, step {self._steps}"
            if isinstance(step, dict):
                yield from self._step(where, step)
            else:
                self._go(where, step)
                yield self._teller.problem(f"{shown(step)} is no step")

    def of_history(self, messages: list[tuple[str, Any]]) -> Iterator[Found]:
        """Yield the events of each message from the agent's first on."""
        for where, message in messages:
            self._go(where, message)
            try:
                yield from self._message(message)
            except Unreadable as error:
                yield self._teller.problem(str(error))

    def end(
        self, where: str, status: Any, submission: str, use: Mapping[str, Any] | None
    ) -> Iterator[Found]:
        """Yield how the run ended; one without an exit status may go on."""
        if status is None or status == "":
            return
        self._go(where, [status, submission])
        if not isinstance(status, str | int):
            yield self._teller.problem(f"exit status {shown(status)} is neither text nor number")
            return
        yield from self._turns.end(str(status), submission, goal=self._goal, use=use)

    def _go(self, where: str, essence: Any) -> None:
        """Go to what comes next; *essence* is what makes it the one that it is."""
        written = json.dumps(essence, sort_keys=True)
        self._digest = hashlib.sha256((self._digest + written).encode()).hexdigest()
        self._moment = self._clock.tick()
        self._item += 1
        self._teller.at(where, self._moment, item=str(self._item), key=self._digest)

    def _step(self, where: str, step: dict[str, Any]) -> Iterator[Found]:
        thought, action = text_at(step, "thought"), text_at(step, "action")
        observation = step.get("observation")
        self._go(where, [thought, action, step.get("response")])
        if is_blank(thought) and is_blank(action):
            thought = text_at(step, "response")
        yield from self._turns.act(thought, _calls(action))
        if not isinstance(observation, str):  # it has not answered yet
            return
        self._go(where, observation)
        yield from self._shown(observation, step.get("execution_time"))
        yield from self._stands(step.get("state"))

    def _shown(self, text: str, seconds: Any = None, call: str | None = None) -> Iterator[Found]:
        """Tell what a command showed, or the environment by itself."""
        success = not (says_error(text) or _FAILED.search(text))
        if self._turns.is_waiting:
            took = amount_of(seconds)
            duration = None if took is None else round(min(took, SECONDS_MAX) * 1000)
            yield self._turns.show(text, success=success, call=call, duration_ms=duration)
        elif not is_blank(text):
            fields = {"text": text, "success": success, "stated_by": "tool"}
            yield self._teller.tell(ObservationRecorded, fields)

    def _stands(self, state: Any) -> Iterator[Found]:
        """Save where the agent is, if that is another place than after the step before."""
        try:
            values = _state(state)
        except Unreadable as error:
            yield self._teller.problem(str(error))
            return
        if not values or values == self._state:
            return
        saved = self._teller.id_of(CheckpointSaved)
        where = ", ".join(f"{name.replace('_', ' ')}: {value}" for name, value in values.items())
        checkpoint = {
            "id": saved,
            "timestamp": self._moment,
            "agent": self._scope.agent,
            "current_goal": self._goal,
            "plan_summary": where,
            "parent": self._checkpoint,
            "task_state": {
                "task_id": self._scope.task,
                "variables": values,
                "iterations": self._steps,
            },
        }
        self._state, self._checkpoint = values, saved
        yield self._teller.tell(CheckpointSaved, {"checkpoint": checkpoint})

    def _message(self, value: Any) -> Iterator[Found]:
        """Tell a message of a history. Raises Unreadable."""
        ids = value.get("tool_call_ids") if isinstance(value, dict) else None
        message = message_of(value)
        if message.role == "assistant":
            has_thought = isinstance(value.get("thought"), str)
            thought = value["thought"] if has_thought else message.text
            yield from self._turns.act(thought, message.calls or _calls(text_at(value, "action")))
        elif self._turns.is_waiting:
            first = ids[0] if isinstance(ids, list) and ids else message.call_id
            yield from self._shown(message.text, call=first if isinstance(first, str) else None)
        else:
            said = {"role": message.role, "text": message.text}
            yield self._teller.tell(MessageExchanged, said)


def _calls(action: str) -> list[Call | str]:
    """Return the call that a command is; its first word is the tool."""
    if is_blank(action):
        return []
    named = _TOOL.match(action)
    return [Call(None, named[1] if named else SHELL, {"command": action}, None)]


def _state(value: Any) -> dict[str, Any]:
    """Return where the agent stands, which is an object or its JSON. Raises Unreadable."""
    if isinstance(value, str):
        if is_blank(value):
            return {}
        try:
            value = parse_json(value.encode("utf-8", "surrogatepass"))
        except InvalidEvent as error:
            raise Unreadable(f"state: {error.limit}") from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Unreadable(f"state {shown(value)} is no object")
    return value
