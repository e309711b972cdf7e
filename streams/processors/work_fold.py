"""How an agent's events change the view of a task. Pure: (view, event) -> view."""

import hashlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from mnemolog.schemas.checkpoint import is_automatic
from mnemolog.schemas.envelope import RecordedEvent
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events.memory import MemoryForgotten
from mnemolog.schemas.fields import is_blank
from mnemolog.schemas.values import json_bytes
from mnemolog.streams.processors.forgetting import sourced
from mnemolog.streams.processors.work_state import (
    FINISHED_ACTIONS_MAX,
    NODES_MAX,
    OPEN_ACTIONS_MAX,
    DoneAction,
    OpenAction,
    Step,
    View,
    arguments_of,
    note_of,
    noted,
    text_of,
)

Change = dict[str, Any]
_UNTOLD: Final = (ex.ContextMeasured, ex.CheckpointRequested, ex.CheckpointSaved)
DONE: Final = 1.0  # the share of a node that is completed


def task_of(recorded: RecordedEvent) -> str | None:
    """Return the task that an event is about."""
    event = recorded.event
    if isinstance(event, ex.CheckpointSaved) and event.checkpoint.task_state is not None:
        return recorded.envelope.task or event.checkpoint.task_state.task_id
    return recorded.envelope.task


def evolved(view: View, recorded: RecordedEvent) -> View:
    """Return *view* as it is after *recorded*."""
    event, at = recorded.event, recorded.occurred_at
    rule = _RULES.get(type(event))
    change: Change = {} if rule is None else rule(view, event, recorded.identity)
    change["latest"] = at if view.latest is None else max(view.latest, at)
    if recorded.envelope.phase is not None and "phase" not in change:
        change["phase"] = recorded.envelope.phase
    if not isinstance(event, _UNTOLD):
        change["events"] = view.events + 1
        change["since"] = view.since or at
    return sourced(view.model_copy(update=change), recorded)


def saved(view: View, checkpoint: str) -> View:
    """Return *view* as it is after *checkpoint* was saved: what follows is new."""
    fresh = {"events": 0, "since": None, "observations": (), "decisions": (), "errors": ()}
    return view.model_copy(update={**fresh, "parent": checkpoint})


def _session_started(view: View, event: ex.SessionStarted, by: str) -> Change:
    return {"goal": view.goal or text_of(event.title, by)}


def _session_ended(view: View, event: ex.SessionEnded, by: str) -> Change:
    return {"observations": noted(view.observations, event.outcome or "", by), "open": ()}


def _task_started(view: View, event: ex.TaskStarted, by: str) -> Change:
    return {"goal": text_of(event.goal, by), "plan": text_of(event.plan, by) or view.plan}


def _progressed(view: View, event: ex.TaskProgressed, by: str) -> Change:
    notes = {"observations": noted(view.observations, event.note, by)}
    if event.node is None:
        return notes
    known = _step_named(view, event.node)
    step = known or Step(id=event.node, title=note_of(event.note), by=by)
    status = "done" if event.done == DONE else "running"
    step = step.model_copy(update={"status": status, "reason": None})
    current = step.id if status == "running" else None
    return {**notes, "steps": _with_step(view, step), "current": current}


def _step_named(view: View, node: str) -> Step | None:
    return next((step for step in view.steps if node in {step.id, step.title}), None)


def _with_step(view: View, step: Step) -> tuple[Step, ...]:
    if any(one.id == step.id for one in view.steps):
        return tuple(step if one.id == step.id else one for one in view.steps)
    return (*view.steps, step)[-NODES_MAX:]


def _phase_changed(view: View, event: ex.TaskPhaseChanged, by: str) -> Change:  # noqa: ARG001 - a rule's
    return {"phase": event.to_phase}


def _blocked(view: View, event: ex.TaskBlocked, by: str) -> Change:
    errors = noted(noted(view.errors, event.reason, by), event.needs or "", by)
    change: Change = {"errors": errors}
    step = next((one for one in view.steps if one.id == view.current), None)
    if step is not None:
        told = {"status": "blocked", "reason": note_of(event.reason)}
        change["steps"] = _with_step(view, step.model_copy(update=told))
    return change


def _paused(view: View, event: ex.TaskPaused, by: str) -> Change:
    return {"observations": noted(view.observations, event.reason or "", by)}


def _resumed(view: View, event: ex.TaskResumed, by: str) -> Change:
    freed = {"status": "running", "reason": None}
    steps = tuple(
        step.model_copy(update=freed) if step.status == "blocked" else step for step in view.steps
    )
    return {"observations": noted(view.observations, event.note or "", by), "steps": steps}


def _ended(view: View, event: ex.TaskCompleted | ex.TaskAbandoned, by: str) -> Change:
    said = noted(noted(view.observations, event.outcome, by), event.lesson or "", by)
    return {"observations": said, "open": (), "current": None}


def _plan_changed(view: View, event: ex.PlanChanged, by: str) -> Change:
    done = {step.title for step in view.steps if step.status == "done"}
    titles = [note_of(title) for title in event.steps if not is_blank(title)][:NODES_MAX]
    steps = tuple(
        Step(id=f"step-{number}", title=title, by=by, status="done" if title in done else "todo")
        for number, title in enumerate(titles, start=1)
    )
    return {"plan": text_of(event.plan, by), "steps": steps, "current": None}


def _observed(view: View, event: ex.ObservationRecorded, by: str) -> Change:
    if event.success is False:
        return {"errors": noted(view.errors, event.text, by)}
    return {"observations": noted(view.observations, event.text, by)}


def _message(view: View, event: ex.MessageExchanged, by: str) -> Change:
    if event.role != "user" or is_blank(event.text):
        return {}
    said = noted(view.observations, event.text, by)
    return {"observations": said, "goal": view.goal or text_of(event.text, by)}


def _decided(view: View, event: ex.DecisionMade, by: str) -> Change:
    said = event.what if not event.why else f"{event.what}: {event.why}"
    return {"decisions": noted(view.decisions, said, by)}


def _action_started(view: View, event: ex.ActionStarted, by: str) -> Change:
    arguments = arguments_of(event.arguments)
    started = OpenAction(
        action=event.action,
        tool=note_of(event.tool),
        by=by,
        arguments=arguments,
        costly=event.costly,
    )
    others = [one for one in view.open if one.action != event.action]
    done = json_bytes([event.tool, event.arguments, event.raw])
    repeated = hashlib.sha256(done).hexdigest()[:32]
    return {
        "open": (*others, started)[-OPEN_ACTIONS_MAX:],
        "actions": view.actions + 1,
        "repeated": repeated,
        "repeats": view.repeats + 1 if repeated == view.repeated else 1,
    }


def _action_finished(view: View, event: ex.ActionFinished, by: str) -> Change:
    begun = next((one for one in view.open if one.action == event.action), None)
    said = event.result if event.success else (event.error or event.result)
    tool = begun.tool if begun else note_of(event.tool or "an action")
    ended = DoneAction(
        action=event.action,
        tool=tool if not is_blank(tool) else "an action",
        by=by,
        started_by=begun.by if begun else None,
        arguments=begun.arguments if begun else {},
        result=None if said is None else note_of(said),
        success=event.success,
    )
    failed = "" if event.success or event.orphaned else (said or f"{ended.tool} failed")
    return {
        "open": tuple(one for one in view.open if one.action != event.action),
        "done": (*view.done, ended)[-FINISHED_ACTIONS_MAX:],
        "errors": noted(view.errors, failed, by),
    }


def _measured(view: View, event: ex.ContextMeasured, by: str) -> Change:  # noqa: ARG001 - a rule's
    return {"used_tokens": event.used_tokens, "limit_tokens": event.limit_tokens}


def _saved(view: View, event: ex.CheckpointSaved, by: str) -> Change:
    told = event.checkpoint
    fresh = saved(view, told.id)
    names = ("events", "since", "observations", "decisions", "errors", "parent")
    change = {name: getattr(fresh, name) for name in names}
    if is_automatic(told):
        return change  # it tells what the view told
    goal, plan = text_of(told.current_goal, by), text_of(told.plan_summary, by)
    return {**change, "goal": goal, "plan": plan}


_RULES: Final[Mapping[type[Event], Callable[[View, Any, str], Change]]] = MappingProxyType(
    {
        ex.SessionStarted: _session_started,
        ex.SessionEnded: _session_ended,
        ex.TaskStarted: _task_started,
        ex.TaskProgressed: _progressed,
        ex.TaskPhaseChanged: _phase_changed,
        ex.TaskBlocked: _blocked,
        ex.TaskPaused: _paused,
        ex.TaskResumed: _resumed,
        ex.TaskCompleted: _ended,
        ex.TaskAbandoned: _ended,
        ex.PlanChanged: _plan_changed,
        ex.ObservationRecorded: _observed,
        ex.MessageExchanged: _message,
        ex.DecisionMade: _decided,
        ex.ActionStarted: _action_started,
        ex.ActionFinished: _action_finished,
        ex.ContextMeasured: _measured,
        ex.CheckpointSaved: _saved,
    }
)
INPUTS: Final = frozenset(
    {event.event_type for event in _RULES}
    | {ex.CheckpointRequested.event_type, MemoryForgotten.event_type}
)
