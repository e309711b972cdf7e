"""One session of Codex on its way into the log: what each kind of line becomes.

docs/importing.md has it as a table. The same words stand in two shapes, as what was sent to the
model and as what was shown: the n-th of a text in one shape is the n-th of it in the other, so
that both have one id and are told once.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from mnemolog.importers.base import Found, Here, Placed, Telling
from mnemolog.importers.chat_messages import arguments_of
from mnemolog.importers.codex_lines import Line, answer_of, image, role_of, said_in, thoughts_in
from mnemolog.importers.occurrences import Occurrences
from mnemolog.importers.story import Story, Told
from mnemolog.importers.words import decision_of, goal_of
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.experience import (
    CheckpointRequested,
    CheckpointSaved,
    DecisionMade,
    MessageExchanged,
)
from mnemolog.schemas.fields import is_blank

_NO_OUTPUT: Final = ("web_search_call", "image_generation_call")  # done when they are written


class Session:
    """Tells one session, line by line."""

    def __init__(self, telling: Telling) -> None:
        self.name = telling.scope.session or ""
        self.model: Any = None  # of the present turn
        self.story = Story(telling, Told())
        self._times = Occurrences()
        self._base: str | None = None  # what was said or answered last: it causes the next calls
        self._goal = ""
        self._is_rewound = False

    # What a line says. Each of these raises Unreadable before it tells anything.

    def start(self, here: Here, instructions: str | None) -> list[Placed]:
        """Tell the start."""
        fields = {"instructions": instructions}
        return self.story.start(fields, here, name=("session",), cause=None)

    def item(self, line: Line, here: Here) -> list[Found] | None:
        """Tell what was sent to the model or came from it; None for an unknown kind."""
        match line.kind:
            case "message":
                text, parts = said_in(line.payload.get("content"))
                role = role_of(line.payload, text)
                return self._message(here, role=role, text=text, parts=parts, shape="item")
            case "reasoning":
                thoughts = thoughts_in(line.payload)
                return [f for thought in thoughts for f in self._think(here, thought, shape="item")]
            case kind if kind.endswith("_call_output") or kind == "tool_search_output":
                return self._answer(line, here)
            case kind if kind.endswith("_call"):
                return self._call(line, here)
            case _:
                return None

    def shown(self, line: Line, here: Here) -> list[Found]:
        """Tell words or a thought as they were shown."""
        shown = {"user_message": "user", "agent_message": "assistant"}
        text = line.payload.get("text" if line.kind == "agent_reasoning" else "message")
        text, _ = said_in(text)
        if line.kind == "agent_reasoning":
            return self._think(here, text, shape="shown")
        images = line.payload.get("images")
        parts = [image(one) for one in images] if isinstance(images, list) else []
        return self._message(here, role=shown[line.kind], text=text, parts=parts, shape="shown")

    def compaction(self, line: Line, here: Here) -> list[Found]:
        """Tell a compaction: its summary is what the work went on from."""
        text, _ = said_in(line.payload.get("message", ""))
        cause = self.story.previous
        if is_blank(text):
            name = ("compaction", self._times.next("compaction", otherwise=here.place))
            fields: dict[str, Any] = {"reason": "compaction"}
            return [*self.story.tell(CheckpointRequested, fields, here, name=name, cause=cause)]
        name = ("checkpoint", _digest(text))
        state = {
            "id": self.story.id_of(*name),
            "timestamp": here.at,
            "agent": self.story.telling.scope.agent,
            "current_goal": self._goal or f"session {self.name}",
            "plan_summary": text,
        }
        fields = {"checkpoint": state}
        return [*self.story.tell(CheckpointSaved, fields, here, name=name, cause=cause)]

    def give_up_calls(self, here: Here) -> list[Found]:
        """Tell that open calls get no answer any more: the session went on without it."""
        return [*self.story.orphan_calls(here)]

    def rewind(self, here: Here) -> list[Found]:
        """Tell what a rewind leaves behind."""
        self._is_rewound = True
        return self.give_up_calls(here)

    def rest(self, here: Here) -> list[Found]:
        """Tell that a turn was completed: a session that was rewound is closed then."""
        given_up = self.give_up_calls(here)
        if not self._is_rewound:
            return given_up
        self._is_rewound = False
        return given_up + self.end(here)

    def end(self, here: Here) -> list[Found]:
        """Tell that the session ended."""
        name = ("ended", self._times.next("ended", otherwise=here.place))
        return [*self.story.close({}, here, name=name)]

    # How it is told

    def _message(
        self, here: Here, *, role: str, text: str, parts: list[dict[str, Any]], shape: str
    ) -> list[Found]:
        if is_blank(text) and not parts:
            return []
        given_up = self.story.orphan_calls(here) if role == "user" else []
        if role == "user":
            self._goal = goal_of(text, otherwise=self._goal)
        fields = {"role": role, "text": text, **({"parts": parts} if parts else {})}
        name = ("said", role, *self._named(role, text, shape, here))
        told = self._tell(MessageExchanged, fields, here, name=name)
        return [*given_up, *(told if role == "system" else self._opened(here, told))]

    def _think(self, here: Here, text: str, *, shape: str) -> list[Found]:
        if is_blank(text):
            return []
        name = ("thought", *self._named("thought", text, shape, here))
        return self._opened(here, self._tell(DecisionMade, decision_of(text), here, name=name))

    def _call(self, line: Line, here: Here) -> list[Found]:
        """Tell a call, caused by the words before it; one that is written when it is done is over.

        The ids that a source gives its calls may repeat: the n-th call of an id is another one.
        """
        payload, key = line.payload, _call_id(line.payload)
        given = payload.get("arguments", payload.get("input", payload.get("action")))
        arguments, raw = arguments_of(given)
        tool = payload.get("name")
        is_named = isinstance(tool, str) and not is_blank(tool)
        fields = {
            "tool": tool if is_named else line.kind.removesuffix("_call"),
            "arguments": arguments,
            "raw": raw,
        }
        name = ("call", key, self._times.next(f"call {key}", otherwise=here.place))
        told = self.story.call(key, fields, here, name=name, cause=self._base)
        if line.kind in _NO_OUTPUT:
            success = payload.get("status") in (None, "completed")
            told += self.story.answer(key, {"success": success}, here, otherwise=name)
        return self._opened(here, told)

    def _answer(self, line: Line, here: Here) -> list[Found]:
        key, answer = _call_id(line.payload), answer_of(line.payload.get("output"))
        fields = {
            "success": not answer.failed,
            "error" if answer.failed else "result": answer.text,
            "data": {"parts": list(answer.parts)} if answer.parts else None,
            "duration_ms": answer.duration_ms,
        }
        unknown = ("unknown call", key, self._times.next(f"answer {key}", otherwise=here.place))
        told = self.story.answer(key, fields, here, otherwise=unknown)
        self._base = self.story.previous
        return [*told]

    def _tell(
        self,
        model: type[Event],
        fields: Mapping[str, Any],
        here: Here,
        *,
        name: tuple[str, ...],
    ) -> list[Placed]:
        """Tell what is said; its other shape is no step further."""
        previous = self.story.previous
        told = self.story.tell(model, fields, here, name=name, cause=previous)
        if told:
            self._base = self.story.previous
        else:
            self.story.previous = previous
        return told

    def _opened(self, here: Here, told: list[Placed]) -> list[Found]:
        """Return what was *told*, behind a new start if the session had ended."""
        if not told or not self.story.is_closed:
            return [*told]
        previous = self.story.previous
        name = ("again", self._times.next("again", otherwise=here.place))
        again = self.story.start({}, here, name=name, cause=None)
        self.story.previous = previous
        return [*again, *told]

    def _named(self, who: str, text: str, shape: str, here: Here) -> tuple[str, str]:
        """Return what names a text: itself, and which time it is said in this shape."""
        digest = _digest(text.strip())
        return digest, self._times.next(f"{who} {shape} {digest}", otherwise=here.place)


def _call_id(payload: Mapping[str, Any]) -> str:
    """Return what names a call: its id, or a digest of it where it has none."""
    for key in ("call_id", "id"):
        if isinstance(payload.get(key), str) and payload[key]:
            return str(payload[key])
    return _digest(json.dumps(payload, sort_keys=True))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
