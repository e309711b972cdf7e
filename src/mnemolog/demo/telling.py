"""What a scenario is made of, and how it is told to a Memory.

A scenario is data: events with ids of their own and times that count from the scenario's start,
so that the same scenario can be told at any time. Nothing here asks the clock.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from mnemolog import Memory
from mnemolog.schemas.events import Event, experience
from mnemolog.schemas.positions import Token
from mnemolog.scope import Scope

VECTORS_SECONDS_MAX: Final = 300.0  # a slow machine embeds a scenario in less


@dataclass(frozen=True, slots=True)
class Told:
    """An event of a scenario: `when` counts from the scenario's start, `because` names an event."""

    id: str
    when: timedelta
    event: type[Event]
    fields: dict[str, Any]
    task: str | None = None
    session: str | None = None
    because: str | None = None
    tags: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A history to be told: by which agent, in which project."""

    agent: str
    project: str
    events: Sequence[Told] = field(repr=False)


def tell(
    memory: Memory, scenario: Scenario, *, start: datetime, events: Iterable[Told] | None = None
) -> Token:
    """Append *events*, or all of *scenario*, as they happened; return once they can be recalled.

    Their vectors are there then too. Told twice they count once.
    """
    appended = [
        memory.append(told.event, told.fields, **_scope(told, scenario, start=start))
        for told in (scenario.events if events is None else events)
    ]
    token = Token.of([one.position for one in appended])
    memory.wait_for(token, timeout_seconds=VECTORS_SECONDS_MAX, vectors=True)
    return token


def _scope(told: Told, scenario: Scenario, *, start: datetime) -> Scope:
    return Scope(
        id=told.id,
        agent=scenario.agent,
        project=scenario.project,
        occurred_at=start + told.when,
        task=told.task,
        session=told.session,
        caused_by=told.because,
        tags=told.tags,
    )


def said(name: str, when: timedelta, speaker: str, text: str, **around: Any) -> Told:
    """Return the event of a person saying *text*."""
    fields = {"role": "user", "speaker": speaker, "text": text}
    return Told(name, when, experience.MessageExchanged, fields, **around)


def answered(name: str, when: timedelta, text: str, **around: Any) -> Told:
    """Return the event of the agent saying *text*."""
    fields = {"role": "assistant", "text": text}
    return Told(name, when, experience.MessageExchanged, fields, **around)


def saw(name: str, when: timedelta, text: str, **around: Any) -> Told:
    """Return the event of the agent noticing something."""
    return Told(name, when, experience.ObservationRecorded, {"text": text}, **around)


def began(name: str, when: timedelta, goal: str, **around: Any) -> Told:
    """Return the event of a task's start."""
    return Told(name, when, experience.TaskStarted, {"goal": goal}, **around)


def ended(
    name: str, when: timedelta, outcome: str, *, lesson: str | None = None, **around: Any
) -> Told:
    """Return the event of a task's end, with what it taught."""
    learned = {} if lesson is None else {"lesson": lesson}
    return Told(name, when, experience.TaskCompleted, {"outcome": outcome, **learned}, **around)


def decided(name: str, when: timedelta, what: str, *, why: str, **around: Any) -> Told:
    """Return the event of a decision."""
    return Told(name, when, experience.DecisionMade, {"what": what, "why": why}, **around)


def called(
    name: str,
    when: timedelta,
    tool: str,
    *,
    result: str | None = None,
    error: str | None = None,
    **around: Any,
) -> list[Told]:
    """Return the two events of a tool call: that it started, and what it gave a minute later."""
    start = {"action": name, "tool": tool}
    end = {**start, "success": error is None, **({"result": result} if error is None else {})}
    end |= {} if error is None else {"error": error}
    cause = around | {"because": f"{name}-started"}
    return [
        Told(f"{name}-started", when, experience.ActionStarted, start, **around),
        Told(name, when + timedelta(minutes=1), experience.ActionFinished, end, **cause),
    ]


def judged(
    name: str, when: timedelta, target: str, score: float, *, by: str, comment: str, **around: Any
) -> Told:
    """Return the event of somebody judging the event *target*."""
    fields = {"target": target, "score": score, "given_by": by, "comment": comment}
    return Told(name, when, experience.FeedbackGiven, fields, **around)
