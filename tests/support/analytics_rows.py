"""What one event says in the analysts' tables, in plain Python, before anything is forgotten."""

import json
from collections.abc import Iterable
from datetime import datetime
from functools import singledispatch
from typing import Any
from uuid import UUID

from mnemolog.projections.formed_memory import FormedMemory
from mnemolog.schemas.blobs import references_in
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem

Row = dict[str, Any]

_FLOATS = {"score", "confidence", "cost_usd", "done"}
_COLUMNS = {
    "action_events": (
        *("tool", "arguments", "raw", "costly", "success", "orphaned", "result"),
        *("error", "data", "duration_ms", "cost_usd"),
    ),
    "session_events": ("title", "instructions", "outcome", "success"),
    "task_events": (
        *("goal", "parent_task", "plan", "steps", "note", "done", "node", "from_phase"),
        *("to_phase", "reason", "needs", "checkpoint", "outcome", "lesson", "success"),
    ),
    "memory_changes": (
        *("pinned", "importance", "superseded_by", "valid_until", "level", "text", "reason"),
    ),
}


def scope_of(item: Ours) -> Row:
    """Return what every table says of *item*."""
    envelope, record = item.envelope, item.record
    names = ("key", "agent", "project", "session", "task", "phase")
    return {
        "identity": UUID(item.identity),
        "event_id": envelope.id,
        **{name: getattr(envelope, name) for name in names},
        "user_id": envelope.user,
        "occurred_at": _naive(envelope.occurred_at),
        "log_partition": record.partition,
        "log_offset": record.offset,
        "forgotten": False,
    }


def _naive(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.replace(tzinfo=None)


def _own(event: Any, *names: str) -> Row:
    values = {name: getattr(event, name) for name in names}
    floats = {n: float(v) for n, v in values.items() if n in _FLOATS and v is not None}
    return {**{n: list(v) if isinstance(v, tuple) else v for n, v in values.items()}, **floats}


def rows_of(item: Ours) -> Iterable[tuple[str, Row]]:
    """Yield the tables in which *item* has a row, and what stands there beside its scope."""
    yield "events", _event_row(item)
    yield from _told(item.recorded.event)


@singledispatch
def _told(event: Event) -> Iterable[tuple[str, Row]]:
    if event.event_type.startswith(("task.", "plan.")):
        yield "task_events", _change("task_events", event)


@_told.register
def _(event: ex.MessageExchanged) -> Iterable[tuple[str, Row]]:
    parts = [part.model_dump(exclude_defaults=True) for part in event.parts]
    yield "messages", {**_own(event, "role", "speaker", "text"), "parts": parts}


@_told.register
def _(event: ex.ObservationRecorded) -> Iterable[tuple[str, Row]]:
    yield "observations", _own(event, "text", "stated_by", "success", "data")


@_told.register
def _(event: ex.DecisionMade) -> Iterable[tuple[str, Row]]:
    lists = ("alternatives", "because_events", "because_memories")
    yield "decisions", _own(event, "what", "why", "confidence", *lists)
    yield from _uses(event.because_memories, event.event_type, None)


@_told.register(ex.ActionStarted)
@_told.register(ex.ActionFinished)
def _(event: Any) -> Iterable[tuple[str, Row]]:
    yield "action_events", {**_change("action_events", event), "action": event.action}


@_told.register
def _(event: ex.FeedbackGiven) -> Iterable[tuple[str, Row]]:
    names = ("target", "target_kind", "score", "label", "comment", "given_by")
    yield "feedback", _own(event, *names)


@_told.register
def _(event: ex.CheckpointSaved) -> Iterable[tuple[str, Row]]:
    yield "checkpoints", _checkpoint_row(event)


@_told.register(ex.SessionStarted)
@_told.register(ex.SessionEnded)
def _(event: Any) -> Iterable[tuple[str, Row]]:
    yield "session_events", _change("session_events", event)


@_told.register
def _(event: ex.TaskAbandoned) -> Iterable[tuple[str, Row]]:
    yield "task_events", {**_change("task_events", event), "success": False}


@_told.register
def _(event: mem.MemoryUsed) -> Iterable[tuple[str, Row]]:
    yield from _uses(event.memories, event.event_type, event.purpose)


@_told.register
def _(event: mem.MemoryRecalled) -> Iterable[tuple[str, Row]]:
    yield "recalls", {**_own(event, "question", "tokens", "missing"), "hits": len(event.memories)}
    for place, hit in enumerate(event.memories, 1):
        yield "recalled_memories", {"ordinal": place, **_own(hit, "memory", "score")}


@_told.register
def _(event: mem.MemoryLinked) -> Iterable[tuple[str, Row]]:
    ends = _own(event, "from_memory", "to_memory", "kind", "reason")
    yield "told_links", {**ends, "score": round(event.score * 1000)}


@_told.register(mem.MemoryPinned)
@_told.register(mem.MemoryArchived)
@_told.register(mem.MemorySummarised)
def _(event: Any) -> Iterable[tuple[str, Row]]:
    yield "memory_changes", {**_change("memory_changes", event), "memory": event.memory}


@_told.register
def _(event: mem.MemoryImportanceChanged) -> Iterable[tuple[str, Row]]:
    own = {"memory": event.memory, "importance": round(event.importance * 1000)}
    yield "memory_changes", {**_change("memory_changes", event), **own}


@_told.register
def _(event: mem.MemorySuperseded) -> Iterable[tuple[str, Row]]:
    own = {"memory": event.memory, "valid_until": _naive(event.valid_until)}
    yield "memory_changes", {**_change("memory_changes", event), **own}
    if event.superseded_by:
        ends = {"from_memory": event.superseded_by, "to_memory": event.memory}
        yield "told_links", {**ends, "kind": "supersedes", "score": 1000, "reason": event.reason}


def _change(table: str, event: Any) -> Row:
    """Return what *event* says of the columns of *table*, a table that several types share."""
    names = [name for name in _COLUMNS[table] if name in type(event).model_fields]
    return {**dict.fromkeys(_COLUMNS[table]), "change": event.event_type, **_own(event, *names)}


def _event_row(item: Ours) -> Row:
    envelope, event = item.envelope, item.recorded.event
    document = json.loads(item.canonical)
    if isinstance(event, mem.MemoryForgotten):
        document["data"].pop("texts", None)
    use = event.model_use
    return {
        **{name: getattr(envelope, name) for name in ("source", "subject", "cause")},
        "tenant": document["tenant"],
        "correlation": envelope.correlation,
        "assumed_utc": envelope.assumed_utc,
        "large_texts": len(references_in(envelope.dataref)),
        "large_text_bytes": sum(one.bytes for one in references_in(envelope.dataref)),
        "type": event.event_type,
        "version": event.event_version,
        "guest": False,
        "recorded_at": _naive(item.record.recorded_at),
        "tags": list(event.tags),
        "model": use and use.model,
        "tokens_in": use and use.tokens_in,
        "tokens_out": use and use.tokens_out,
        "cost_usd": None if use is None or use.cost_usd is None else float(use.cost_usd),
        "data": document["data"],
    }


def _uses(memories: Iterable[str], via: str, purpose: str | None) -> Iterable[tuple[str, Row]]:
    for place, memory in enumerate(memories, 1):
        yield "uses", {"ordinal": place, "memory": memory, "via": via, "purpose": purpose}


def _checkpoint_row(event: ex.CheckpointSaved) -> Row:
    checkpoint, state = event.checkpoint, event.checkpoint.task_state
    typed = state and state.state
    return {
        "checkpoint": checkpoint.id,
        "parent": checkpoint.parent,
        "saved_at": _naive(checkpoint.timestamp),
        "goal": checkpoint.current_goal,
        "sub_goal": checkpoint.current_sub_goal,
        "plan": checkpoint.plan_summary,
        "observations": list(checkpoint.key_observations),
        "rationale": checkpoint.decision_rationale,
        "reflection": checkpoint.self_reflection,
        "tags": list(checkpoint.tags),
        "state_task": state and state.task_id,
        "state_schema": typed and typed.state_schema,
        "state_version": typed and typed.state_version,
        "nodes": state and len(state.nodes),
        "nodes_completed": state and len(state.completed),
        "nodes_blocked": state and len(state.blocked),
        "pending_actions": state and len(state.pending_actions),
        "iterations": state and state.iterations,
        "tokens_used": state and state.tokens.used,
        "tokens_limit": state and state.tokens.limit,
    }


def memory_row(memory: FormedMemory) -> Row:
    """Return the row of *memory* as it was formed."""
    names = (
        *("event_id", "key", "agent", "project", "session", "task", "event_type", "ordinal"),
        *("kind", "text", "importance", "confidence", "stated_by", "tags", "entities", "reason"),
        *("from_events", "from_memories"),
    )
    lists = ("tags", "entities", "from_events", "from_memories")
    row = {name: getattr(memory, name) for name in names}
    return {
        **row,
        **{name: list(row[name]) for name in lists},
        "memory": memory.id,
        "identity": UUID(memory.identity),
        "user_id": memory.user,
        "occurred_at": _naive(memory.occurred_at),
        "valid_from": _naive(memory.valid_from),
        "valid_until": _naive(memory.valid_until),
        "log_partition": memory.position.partition,
        "log_offset": memory.position.offset,
    }
