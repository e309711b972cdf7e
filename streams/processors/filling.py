"""What a checkpoint says, filled by rules from the view of a task."""

from datetime import datetime
from typing import Any, Final

from mnemolog.schemas.checkpoint import AUTOMATIC, FROM_EVENTS
from mnemolog.schemas.fields import JsonMap
from mnemolog.schemas.policy import Trigger
from mnemolog.streams.processors.work_state import Step, View

NO_GOAL: Final = "No goal was told."
NO_PLAN: Final = "No plan was told."


def checkpoint_of(
    view: View, trigger: Trigger, *, checkpoint_id: str, agent: str, at: datetime
) -> JsonMap:
    """Return the fields of the checkpoint of *view*, as JSON values."""
    told: dict[str, Any] = {
        "id": checkpoint_id,
        "timestamp": at.isoformat(),
        "agent": agent,
        "current_goal": view.goal.text if view.goal else NO_GOAL,
        "plan_summary": view.plan.text if view.plan else _listed(view.steps) or NO_PLAN,
        "current_sub_goal": next_step(view),
        "key_observations": [note.text for note in (*view.observations, *view.errors)],
        "decision_rationale": "; ".join(note.text for note in view.decisions) or None,
        "intermediate_results": _results(view, trigger),
        "self_reflection": _reflection(view, trigger),
        "parent": view.parent,
        "tags": [AUTOMATIC, trigger],
        "task_state": None if view.task is None else _task_state(view, view.task),
    }
    return {name: value for name, value in told.items() if value is not None}


def next_step(view: View) -> str | None:
    """Return what is to be done next, as far as the plan tells."""
    running = [step for step in view.steps if step.id == view.current]
    left = [step for step in view.steps if step.status in {"running", "todo"}]
    return next((step.title for step in [*running, *left]), None)


def _listed(steps: tuple[Step, ...]) -> str:
    return "; ".join(step.title for step in steps)


def _reflection(view: View, trigger: Trigger) -> str | None:
    if trigger == "loop":
        return f"The same action was started {view.repeats} times in a row: {view.open[-1].tool}"
    return None


def _results(view: View, trigger: Trigger) -> JsonMap:
    ids = list(dict.fromkeys(source.id for source in view.sources))
    found: JsonMap = {"trigger": trigger, "events": view.events, FROM_EVENTS: ids}
    if view.phase is not None:
        found["phase"] = view.phase
    if view.task is None and view.open:
        found["open_actions"] = _pending(view)
    return found


def _pending(view: View) -> list[JsonMap]:
    return [
        {
            "action": one.action,
            "tool": one.tool,
            "arguments": one.arguments,
            **({"note": "costly: check before repeating"} if one.costly else {}),
        }
        for one in view.open
    ]


def _task_state(view: View, task: str) -> JsonMap:
    calls = [one.model_dump(exclude_none=True, exclude={"by", "started_by"}) for one in view.done]
    known = {step.id for step in view.steps}
    state: JsonMap = {
        "task_id": task,
        "nodes": [_node(step) for step in view.steps],
        "current_node": view.current if view.current in known else None,
        "completed": [step.id for step in view.steps if step.status == "done"],
        "blocked": [step.id for step in view.steps if step.status == "blocked"],
        "variables": {} if view.phase is None else {"phase": view.phase},
        "pending_actions": _pending(view),
        "last_tool_calls": calls,
        "working_memory": {
            "decisions": [note.text for note in view.decisions],
            "errors": [note.text for note in view.errors],
        },
        "tokens": {"used": view.used_tokens, "limit": view.limit_tokens},
        "iterations": view.actions,
    }
    return {name: value for name, value in state.items() if value is not None}


def _node(step: Step) -> JsonMap:
    told: JsonMap = {"id": step.id, "title": step.title, "status": step.status}
    return told if step.reason is None else {**told, "blocked_reason": step.reason}
