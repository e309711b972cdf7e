"""A small history whose rows are written out by hand in tests: what is told, and ids by formula.

Two agents, two languages. `ops-1` is given a constraint, sees a pool exhausted, asks the database
and saves a checkpoint; `dev-2` decides because of it, is praised for it, and replaces a fact.
The formulas of ids are written out here as docs and design tell them, not taken from the code.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid5

from mnemolog.memory import Memory
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem

SOURCE = "/tests/by-hand"
OPS, DEV = "ops-1", "dev-2"
NAMESPACE = UUID("6f6d656d-676f-6c6f-8e00-6d6e656d6f00")


def day(number: int, *, hours: int = 0) -> datetime:
    return datetime(2030, 3, 1, tzinfo=UTC) + timedelta(days=number, hours=hours)


def joined(*parts: str) -> str:
    return "".join(f"{len(part.encode())}:{part}" for part in parts)


def identity(event_id: str, *, agent: str) -> str:
    """Return the first half of the SHA-256 over key, source and id."""
    return hashlib.sha256(joined(agent, SOURCE, event_id).encode()).hexdigest()[:32]


def memory_id(event_id: str, ordinal: int = 0, *, agent: str) -> str:
    """Return "mem_" and the UUIDv5 of the event's identity and the memory's place in it."""
    named = joined("memory", identity(event_id, agent=agent), str(ordinal))
    return "mem_" + uuid5(NAMESPACE, named).hex


EPISODE = memory_id("h1", 0, agent=OPS)
CONSTRAINT = memory_id("h1", 1, agent=OPS)
POOL = memory_id("h2", agent=OPS)
RESULT = memory_id("h4", agent=OPS)
DECISION = memory_id("h5", agent=DEV)
PRAISE = memory_id("h6", agent=DEV)
CHECKPOINT = memory_id("h8", agent=OPS)
FRIDAYS = memory_id("h9", agent=DEV)
MONDAYS = memory_id("h10", agent=DEV)
SECRET = memory_id("h12", agent=OPS)

SAVED = {
    "id": "c-1",
    "timestamp": day(4),
    "agent": OPS,
    "current_goal": "keep payments up",
    "plan_summary": "raise the pool, then watch it",
    "key_observations": ["pool exhausted at 50"],
    "task_state": {
        "task_id": "payment",
        "nodes": [
            {"id": "n1", "title": "raise", "status": "done"},
            {"id": "n2", "title": "watch", "status": "running", "parent": "n1"},
        ],
        "current_node": "n2",
        "completed": ["n1"],
        "pending_actions": [{"action": "a-2", "tool": "watch"}],
        "iterations": 3,
        "tokens": {"used": 1_200, "limit": 8_000},
    },
}

TOLD: list[tuple[str, str, datetime, type[Event], dict]] = [
    (
        "h1",
        OPS,
        day(0),
        ex.MessageExchanged,
        {"role": "user", "text": "支付服务必须在周三之前上线。"},
    ),
    (
        "h2",
        OPS,
        day(1),
        ex.ObservationRecorded,
        {"text": "Pool exhausted on node-7: 50 connections."},
    ),
    (
        "h3",
        OPS,
        day(1, hours=1),
        ex.ActionStarted,
        {"action": "a-1", "tool": "psql", "arguments": {"max": 100}, "costly": True},
    ),
    (
        "h4",
        OPS,
        day(1, hours=2),
        ex.ActionFinished,
        {
            "action": "a-1",
            "tool": "psql",
            "success": True,
            "result": "max_connections is 100",
            "duration_ms": 40,
        },
    ),
    (
        "h5",
        DEV,
        day(2),
        ex.DecisionMade,
        {
            "what": "Raise the pool to 100",
            "why": "payments must not wait",
            "because_events": ["h1"],
            "because_memories": [CONSTRAINT, POOL],
            "confidence": 0.8,
        },
    ),
    (
        "h6",
        DEV,
        day(3),
        ex.FeedbackGiven,
        {
            "target": POOL,
            "target_kind": "memory",
            "score": 0.5,
            "comment": "this saved the night",
            "given_by": "小李",
        },
    ),
    (
        "h7",
        DEV,
        day(3, hours=1),
        ex.FeedbackGiven,
        {"target": "h5", "target_kind": "decision", "score": 1.0},
    ),
    ("h8", OPS, day(4), ex.CheckpointSaved, {"checkpoint": SAVED}),
    ("h9", DEV, day(4, hours=1), mem.MemoryFormed, {"text": "Deploys go out on Fridays."}),
    (
        "h10",
        DEV,
        day(5),
        mem.MemoryFormed,
        {"text": "Deploys go out on Mondays.", "importance": 0.75},
    ),
    (
        "h11",
        DEV,
        day(5, hours=1),
        mem.MemorySuperseded,
        {"memory": FRIDAYS, "superseded_by": MONDAYS, "valid_until": day(5)},
    ),
    ("h12", OPS, day(5, hours=2), mem.MemoryFormed, {"text": "The PIN of the door is 4711."}),
    (
        "h13",
        OPS,
        day(6),
        mem.MemoryForgotten,
        {"memories": [SECRET], "events": [identity("h12", agent=OPS)]},
    ),
]


def feed(memory: Memory) -> None:
    """Append the history, each event once the one before it is acknowledged."""
    for event_id, agent, occurred_at, model, fields in TOLD:
        around = {
            "id": event_id,
            "source": SOURCE,
            "agent": agent,
            "occurred_at": occurred_at,
            "project": "shop",
            "task": "payment" if agent == OPS else None,
            "session": "s-1" if event_id == "h1" else None,
            "user": "小李" if event_id == "h1" else None,
            "caused_by": "h3" if event_id == "h4" else None,
        }
        memory.append(model, fields, **around)
    memory.wait_for(memory.end(), vectors=True)
