"""OpenHands' events as ours: each action and observation of one run, in order.

An event is named by its own id within the run. The old format has no ids: there an event is named
by all that came up to it, and an observation answers the action before it.
"""

import hashlib
import json
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from mnemolog.importers.base import Found, Scope, Seconds, Source, Telling
from mnemolog.importers.chat_messages import arguments_of
from mnemolog.importers.moments import Times, moment_of_text
from mnemolog.importers.openhands_fields import (
    args_of,
    arguments_beside,
    call_of,
    extras_of,
    id_of,
    images_of,
    is_id,
    kind_of,
    succeeded,
    thought_of,
)
from mnemolog.importers.openhands_spending import Spending
from mnemolog.importers.shapes import text_at
from mnemolog.importers.teller import Teller
from mnemolog.importers.words import goal_of
from mnemolog.schemas.errors import shown
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.fields import is_blank

FORMAT: Final = "openhands"
DELEGATE: Final = "delegate"  # another agent's events come before its answer
_SAY_NOTHING: Final = frozenset(
    {
        *("null", "agent_state_changed", "change_agent_state", "loop_recovery"),
        *("start", "stop", "pause", "resume"),
    }
)
_FORGOTTEN: Final = ("forgotten_event_ids", "forgotten_events_start_id", "forgotten_events_end_id")
_ROLES: Final = {"user": "user", "agent": "assistant", "environment": "system"}
_PREVIOUS: Final = "previous"  # what an observation of the old format answers


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What is known of a run beside its events; without a goal, the user's first words are it."""

    scope: Scope
    goal: str | None = None
    model: str | None = None
    started: datetime | None = None


class EventStream:
    """Tells one run: `hear` each of its events in order."""

    def __init__(self, about: About, source: Source, seconds: Seconds) -> None:
        assert about.scope.session is not None, "a run has a name"
        self.about = about
        self.spending = Spending(about.model)
        self.goal = about.goal or ""
        self.task_end: str | None = None  # the id of the event that ended the task
        self.teller = Teller(Telling(FORMAT, about.scope, seed=(about.scope.session,)), source)
        self._times = Times(seconds, moment_of_text, started=about.started)
        self._moment: datetime  # of the event that is being told
        self._digest = ""
        self._heard = 0
        self._checkpoint: str | None = None
        self._user_spoke = False

    def hear(self, place: str, event: Any) -> Iterator[Found]:
        """Yield what *event* says; a Problem for what can't be read of it."""
        self._heard += 1
        written = json.dumps(event, sort_keys=True)
        self._digest = hashlib.sha256((self._digest + written).encode()).hexdigest()
        written_at = event.get("timestamp") if isinstance(event, dict) else None
        self._moment, reason = self._times.of(written_at)
        if self._heard == 1:
            yield from self.begin(place, self._moment, _instructions(event))
        number = id_of(event)
        item = str(self._heard if number is None else number)
        key = self._digest if number is None else f"event:{number}"
        self.teller.at(place, self._moment, item=item, key=key)
        if reason:
            yield self.teller.problem(reason)
        if kind_of(event, "action"):
            yield from self._act(event, number)
        elif kind_of(event, "observation"):
            yield from self._observe(event)
        else:
            yield self.teller.problem(f"{shown(event)} is neither an action nor an observation")

    def begin(self, place: str, moment: datetime, instructions: str = "") -> Iterator[Found]:
        """Start the session and its task. Only for a run without events; else `hear` does it."""
        self.teller.at(place, moment, item="start", key="start")
        yield self.teller.tell(happened.SessionStarted, {"instructions": instructions or None})
        if self.goal:
            yield self.teller.tell(happened.TaskStarted, {"goal": self.goal})

    # Actions

    def _act(self, event: dict[str, Any], number: int | None) -> Iterator[Found]:
        tells: dict[str, Callable[[dict[str, Any]], Iterator[Found]]] = {
            "system": self._instruct,
            "message": self._say,
            "think": self._think,
            "finish": self._finish,
            "reject": self._reject,
            "condensation": self._condense,
            "condensation_request": self._request,
        }
        action = event["action"]
        if action in _SAY_NOTHING:
            return
        if event.get("source", "agent") == "agent":  # it acts again: what it waited for is over
            yield from self.teller.orphan(but=DELEGATE)
        if action in tells:
            yield from tells[action](event)
        else:
            yield from self._call(event, ("event", number) if number is not None else _PREVIOUS)

    def _instruct(self, event: dict[str, Any]) -> Iterator[Found]:
        if self._heard > 1:  # the first word is the session's
            said = {"role": "system", "text": text_at(args_of(event), "content")}
            yield self.teller.tell(happened.MessageExchanged, said)

    def _say(self, event: dict[str, Any]) -> Iterator[Found]:
        """Tell a message; without a source the first is the user's."""
        source = event.get("source") or ("agent" if self._user_spoke else "user")
        role = _ROLES.get(source, "system") if isinstance(source, str) else "system"
        text = text_at(args_of(event), "content")
        self._user_spoke = self._user_spoke or role == "user"
        if role == "user" and not self.goal:
            self.goal = goal_of(text, otherwise=f"task {self.about.scope.task}")
            yield self.teller.tell(happened.TaskStarted, {"goal": self.goal})
        said = {"role": role, "text": text, "model_use": self.spending.of(event)}
        images = images_of(args_of(event))
        parts = {"parts": images} if images else {}
        yield self.teller.tell(happened.MessageExchanged, {**said, **parts})

    def _think(self, event: dict[str, Any]) -> Iterator[Found]:
        yield from self.teller.think(thought_of(event), use=self.spending.of(event))

    def _call(self, event: dict[str, Any], key: Hashable) -> Iterator[Found]:
        """Tell what the agent thought, and the call that it led to."""
        thought, use = thought_of(event), self.spending.of(event)
        yield from self.teller.think(thought, use=use)
        arguments, raw = arguments_of(arguments_beside(event))
        yield self.teller.act(
            key,
            event["action"],
            arguments,
            raw=raw,
            call=call_of(event),
            use=use if is_blank(thought) else None,
        )

    def _finish(self, event: dict[str, Any]) -> Iterator[Found]:
        """End the task with the agent's last words; what it thought before them is a decision."""
        args, use = args_of(event), self.spending.of(event)
        thought, final = thought_of(event), text_at(args, "final_thought")
        if not is_blank(final) and final.strip() != thought.strip():
            yield from self.teller.think(thought, use=use)
            use = use if is_blank(thought) else None
        said = (text for text in (final, thought) if not is_blank(text))
        outcome = next(said, f"Finished: {self.goal or self.about.scope.task}")
        told = args.get("task_completed", "true")
        fields = {"outcome": outcome, "success": told in ("true", True), "model_use": use}
        yield self.teller.tell(happened.TaskCompleted, fields, call=call_of(event))
        self.task_end = self.teller.previous

    def _reject(self, event: dict[str, Any]) -> Iterator[Found]:
        outputs = args_of(event).get("outputs")
        told = (text_at(outputs, "reason"), thought_of(event))
        said = (text for text in told if not is_blank(text))
        outcome = next(said, f"Rejected: {self.goal or self.about.scope.task}")
        fields = {"outcome": outcome, "model_use": self.spending.of(event)}
        yield self.teller.tell(happened.TaskAbandoned, fields, call=call_of(event))
        self.task_end = self.teller.previous

    def _condense(self, event: dict[str, Any]) -> Iterator[Found]:
        args = args_of(event)
        forgotten = {name: args[name] for name in _FORGOTTEN if args.get(name) is not None}
        yield from self._save(text_at(args, "summary"), forgotten, self.spending.of(event))

    def _request(self, event: dict[str, Any]) -> Iterator[Found]:
        fields = {"reason": "condensation", "model_use": self.spending.of(event)}
        yield self.teller.tell(happened.CheckpointRequested, fields)

    def _save(
        self, summary: str, forgotten: Mapping[str, Any], use: Mapping[str, Any] | None
    ) -> Iterator[Found]:
        """Tell a summary in the place of events as the state from which the run went on."""
        if is_blank(summary):
            return
        scope, saved = self.about.scope, self.teller.id_of(happened.CheckpointSaved)
        checkpoint = {
            "id": saved,
            "timestamp": self._moment,
            "agent": scope.agent,
            "current_goal": self.goal or f"task {scope.task}",
            "plan_summary": summary,
            "intermediate_results": dict(forgotten),
            "parent": self._checkpoint,
            "task_state": {"task_id": scope.task},
        }
        fields = {"checkpoint": checkpoint, "model_use": use}
        self._checkpoint = saved
        yield self.teller.tell(happened.CheckpointSaved, fields)

    # Observations

    def _observe(self, event: dict[str, Any]) -> Iterator[Found]:
        """Tell an answer to an action, or else what the environment showed by itself."""
        kind, text = event["observation"], text_at(event, "content")
        if kind in _SAY_NOTHING or kind == "think":  # which says that the thought was logged
            return
        if kind == "condense":
            yield from self._save(text, {}, None)
            return
        data = extras_of(event)
        cause = event.get("cause")
        key: Hashable = _PREVIOUS if cause is None and id_of(event) is None else ("event", cause)
        success = succeeded(event, data)
        if (is_id(cause) or key == _PREVIOUS) and self.teller.waits_for(key):
            yield self.teller.answer(key, text, success=success is not False, data=data)
        else:
            seen = {"text": text, "data": data, "success": success, "stated_by": "tool"}
            yield self.teller.tell(happened.ObservationRecorded, seen)


def _instructions(first: Any) -> str:
    """Return what the system says to the agent, if that is the first event."""
    return text_at(args_of(first), "content") if kind_of(first, "action") == "system" else ""
