"""The verbs that append: what an agent observes, says, decides, does, is told, and wants kept."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import Any, Final, Literal, Unpack

from mnemolog.acting import Acting
from mnemolog.schemas.envelope import DEFAULT_SOURCE, TYPE_PREFIX
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.events import ALL_EVENTS, Event, experience, memory
from mnemolog.schemas.events.governance import EVERYWHERE
from mnemolog.scope import Names, Ref, Scope, When, check_keywords, is_memory, ref_id
from mnemolog.streams.publishing import Appended, Draft, Publisher

IN_EVENT = ("tags", "model_use")
_EVENTS: Final = {event.event_type: event for event in ALL_EVENTS}


class Writer(Acting):
    """The writing half of `Memory`. Each verb returns once the log has its event durably.

    All take the keywords of `Scope`. Raises InvalidEvent, naming field, value and limit,
    LogUnavailable, or ReadOnly.
    """

    def __init__(self, publisher: Publisher, defaults: Names) -> None:
        self._publisher = publisher
        self._defaults = defaults

    def append(
        self,
        event: type[Event] | str,
        fields: Mapping[str, Any] | None = None,
        **scope: Unpack[Scope],
    ) -> Appended:
        """Append an event of any type: its model or its name, such as "task.started"."""
        told = {} if fields is None else fields
        if not isinstance(told, Mapping):
            raise InvalidEvent("fields", told, "the fields of an event are a mapping")
        return self._append(_model(event), told, scope)

    def _append(self, event: type[Event], fields: Mapping[str, Any], scope: Scope) -> Appended:
        """Append one event; of what rules every key, a copy to each partition."""
        draft = self.draft(event, fields, scope)
        if event not in EVERYWHERE:
            return self._publisher.append([draft])[0]
        first, *others = self._publisher.govern(draft)
        return replace(first, copies=tuple(copy.position for copy in others))

    def draft(self, event: type[Event], fields: Mapping[str, Any], scope: Scope) -> Draft:
        """Return the draft of an event, with this handle's defaults where *scope* is silent."""
        check_keywords(scope, of=Scope, where="this verb")
        named: dict[str, Any] = {**self._defaults, **scope}
        cause = named.get("caused_by")
        given = {name: named[name] for name in IN_EVENT if named.get(name)}
        told = {name: value for name, value in fields.items() if value is not None}
        return Draft(
            model=event,
            fields={**told, **given},
            source=named.get("source") or DEFAULT_SOURCE,
            occurred_at=named.get("occurred_at"),
            cause=None if cause is None else ref_id(cause),
            agent=named.get("agent"),
            user=named.get("user"),
            project=named.get("project"),
            session=named.get("session"),
            task=named.get("task"),
            phase=named.get("phase"),
            correlation=named.get("correlation"),
            id=named.get("id"),
        )

    def observe(
        self,
        text: str,
        *,
        data: Mapping[str, Any] | None = None,
        success: bool | None = None,
        stated_by: Literal["user", "tool", "agent"] = "agent",
        **scope: Unpack[Scope],
    ) -> Appended:
        """Record that the agent noticed something."""
        fields = {"text": text, "data": data, "success": success, "stated_by": stated_by}
        return self._append(experience.ObservationRecorded, fields, scope)

    def message(
        self,
        text: str,
        *,
        role: Literal["user", "assistant", "system", "tool"] = "user",
        speaker: str | None = None,
        **scope: Unpack[Scope],
    ) -> Appended:
        """Record that somebody said something."""
        fields = {"text": text, "role": role, "speaker": speaker}
        return self._append(experience.MessageExchanged, fields, scope)

    def plan(
        self,
        plan: str,
        *,
        steps: Sequence[str] = (),
        reason: str | None = None,
        **scope: Unpack[Scope],
    ) -> Appended:
        """Record that the plan is now this."""
        fields = {"plan": plan, "steps": steps, "reason": reason}
        return self._append(experience.PlanChanged, fields, scope)

    def decide(
        self,
        what: str,
        *,
        why: str | None = None,
        because: Iterable[Ref] = (),
        alternatives: Sequence[str] = (),
        confidence: float | None = None,
        **scope: Unpack[Scope],
    ) -> Appended:
        """Record a choice, and the events and memories it rests on: that counts as their use."""
        if isinstance(because, str | bytes | Mapping) or not isinstance(because, Iterable):
            raise InvalidEvent("because", because, "a list of events and memories")
        rests_on = list(because)
        fields = {
            "what": what,
            "why": why,
            "because_events": [ref_id(ref) for ref in rests_on if not is_memory(ref)],
            "because_memories": [ref_id(ref) for ref in rests_on if is_memory(ref)],
            "alternatives": alternatives,
            "confidence": confidence,
        }
        return self._append(experience.DecisionMade, fields, scope)

    def feedback(
        self,
        target: Ref,
        score: float,
        *,
        label: str | None = None,
        comment: str | None = None,
        given_by: str | None = None,
        target_kind: Literal["event", "memory", "decision"] | None = None,
        **scope: Unpack[Scope],
    ) -> Appended:
        """Record a judgement, -1 to 1, of a memory, a decision or any other event."""
        kind = target_kind or ("memory" if is_memory(target) else _kind_of(target))
        fields = {
            "target": ref_id(target),
            "target_kind": kind,
            "score": _real(score),
            "label": label,
            "comment": comment,
            "given_by": given_by,
        }
        return self._append(experience.FeedbackGiven, fields, scope)

    def remember(
        self,
        text: str,
        *,
        kind: str = "fact",
        importance: float | None = None,
        confidence: float | None = None,
        valid_from: When | None = None,
        valid_until: When | None = None,
        stated_by: Literal["user", "tool", "agent", "inferred"] = "user",
        entities: Sequence[str] = (),
        **scope: Unpack[Scope],
    ) -> Appended:
        """Record a memory said outright; its id is what it returns's `memory_id`."""
        fields = {
            "text": text,
            "kind": kind,
            "importance": _real(importance),
            "confidence": _real(confidence),
            "valid_from": valid_from,
            "valid_until": valid_until,
            "stated_by": stated_by,
            "entities": entities,
        }
        return self._append(memory.MemoryFormed, fields, scope)

    def used(self, *memories: Ref, purpose: str | None = None, **scope: Unpack[Scope]) -> Appended:
        """Record that *memories* helped: this reinforces them."""
        fields = {"memories": [ref_id(ref) for ref in memories], "purpose": purpose}
        return self._append(memory.MemoryUsed, fields, scope)

    def pin(self, target: Ref, *, pinned: bool = True, **scope: Unpack[Scope]) -> Appended:
        """Record that a memory must not fade, or may again."""
        return self._append(
            memory.MemoryPinned, {"memory": ref_id(target), "pinned": pinned}, scope
        )


def _real(value: Any) -> Any:
    """Return a number of any type as a float; what is none is for the event to refuse."""
    if isinstance(value, Real | Decimal) and not isinstance(value, bool):
        with suppress(OverflowError, ValueError):  # 10 ** 400, and Decimal("sNaN")
            return float(value)
    return value


def _kind_of(target: Ref) -> str:
    is_decision = isinstance(target, Appended) and target.event_type == "decision.made"
    return "decision" if is_decision else "event"


def _model(event: type[Event] | str) -> type[Event]:
    if isinstance(event, type) and issubclass(event, Event):
        return event
    model = _EVENTS.get(event.removeprefix(TYPE_PREFIX)) if isinstance(event, str) else None
    if model is None:
        raise InvalidEvent("type", event, "no such event type; docs/events.md lists them")
    return model
