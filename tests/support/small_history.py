"""A small history that touches every kind of event that a projection folds: two agents, two tasks.

Everything is fixed, ids and times too, so that whatever log it is fed to holds the same events.
"""

from datetime import UTC, datetime, timedelta

from mnemolog.schemas.events import Event, experience, memory
from mnemolog.schemas.events.governance import PolicyChanged
from mnemolog.schemas.ids import identity_of, memory_id
from mnemolog.schemas.policy import Policy, WritePolicy
from mnemolog.streams.publishing import Appended, Draft, Publisher

SOURCE = "/tests/small"
START = datetime(2030, 3, 1, 8, tzinfo=UTC)
OPS, DEV = "ops-1", "dev-王"


def identity(event_id: str, *, agent: str) -> str:
    return identity_of(key=agent, source=SOURCE, event_id=event_id)


def memory_of(event_id: str, *, agent: str, ordinal: int = 0) -> str:
    return memory_id(identity(event_id, agent=agent), ordinal)


CHECKPOINT = {
    "id": "c-1",
    "timestamp": START,
    "agent": OPS,
    "current_goal": "keep auth up",
    "plan_summary": "raise the pool, then watch it",
    "key_observations": ["pool exhausted at 50 connections"],
    "task_state": {
        "task_id": "auth",
        "nodes": [
            {"id": "n1", "title": "raise", "status": "done"},
            {"id": "n2", "title": "watch", "status": "running", "parent": "n1"},
        ],
        "current_node": "n2",
        "completed": ["n1"],
    },
}


POOL = memory_of("ops-2", agent=OPS)
RULE = memory_of("dev-2", agent=DEV)
SECRET = memory_of("dev-5", agent=DEV)

TOLD = [
    ("ops-1", OPS, experience.TaskStarted, {"goal": "keep auth up"}),
    (
        "ops-2",
        OPS,
        experience.ObservationRecorded,
        {"text": "auth 的连接池耗尽了 (pool exhausted)"},
    ),
    ("dev-1", DEV, experience.SessionStarted, {"title": "JWT", "instructions": "be brief"}),
    (
        "dev-2",
        DEV,
        experience.MessageExchanged,
        {"role": "user", "text": "JWT 迁移不得影响在线会话。"},
    ),
    ("dev-3", DEV, experience.MessageExchanged, {"role": "assistant", "text": "好的"}),
    (
        "ops-3",
        OPS,
        experience.ActionStarted,
        {"action": "a-1", "tool": "psql", "arguments": {"max": 50}},
    ),
    (
        "ops-4",
        OPS,
        experience.ActionFinished,
        {"action": "a-1", "tool": "psql", "success": True, "result": "pool is 50"},
    ),
    (
        "ops-5",
        OPS,
        experience.ActionStarted,
        {"action": "a-2", "tool": "restart", "costly": True},
    ),
    (
        "dev-4",
        DEV,
        experience.DecisionMade,
        {
            "what": "double-issue tokens",
            "why": "no logouts",
            "because_memories": [RULE, POOL],
            "because_events": ["dev-2"],
        },
    ),
    (
        "ops-6",
        OPS,
        experience.FeedbackGiven,
        {
            "target": POOL,
            "target_kind": "memory",
            "score": 0.5,
            "comment": "this saved the night",
        },
    ),
    ("ops-7", OPS, memory.MemoryUsed, {"memories": [POOL, RULE]}),
    ("dev-5", DEV, memory.MemoryFormed, {"text": "the PIN is 0000", "kind": "fact"}),
    (
        "ops-8",
        OPS,
        memory.MemoryForgotten,
        {
            "memories": [SECRET],
            "events": [identity("dev-5", agent=DEV)],
            "texts": ["the PIN is 0000"],
        },
    ),
    (
        "dev-6",
        DEV,
        memory.MemoryFormed,
        {
            "text": "deploys go out on Fridays",
            "kind": "fact",
            "valid_until": START + timedelta(days=9),
        },
    ),
    (
        "dev-7",
        DEV,
        memory.MemorySuperseded,
        {
            "memory": memory_of("dev-6", agent=DEV),
            "superseded_by": memory_of("dev-8", agent=DEV),
        },
    ),
    (
        "dev-8",
        DEV,
        memory.MemoryFormed,
        {"text": "deploys go out on Mondays", "kind": "fact", "importance": 0.75},
    ),
    ("ops-9", OPS, memory.MemoryPinned, {"memory": RULE}),
    (
        "dev-9",
        DEV,
        memory.MemoryLinked,
        {"from_memory": POOL, "to_memory": RULE, "kind": "causes", "score": 0.5},
    ),
    ("ops-10", OPS, experience.CheckpointSaved, {"checkpoint": CHECKPOINT}),
    ("ops-11", OPS, experience.TaskBlocked, {"reason": "no access to node-7"}),
    (
        "dev-10",
        DEV,
        memory.MemoryRecalled,
        {"question": "which pool?", "memories": [{"memory": POOL, "score": 0.5}]},
    ),
    ("dev-11", DEV, experience.SessionEnded, {"outcome": "planned", "success": True}),
    (
        "ops-12",
        OPS,
        experience.TaskCompleted,
        {"outcome": "auth is up", "lesson": "watch the pool before launches"},
    ),
]


def history() -> list[Draft]:
    """Return the drafts, in order."""
    return [_draft(number, *one) for number, one in enumerate(TOLD)]


def policy() -> Draft:
    """Return a change of policy that shows in what is formed after it."""
    changed = Policy(write=WritePolicy(importance=0.25))
    fields = {"revision": 1, "policy": changed}
    return Draft(model=PolicyChanged, fields=fields, id="p-1", source=SOURCE, occurred_at=START)


def feed(publisher: Publisher) -> list[Appended]:
    """Append the policy, then the history, each once the one before it is acknowledged."""
    publisher.govern(policy())
    return [publisher.append([draft])[0] for draft in history()]


def _draft(number: int, event_id: str, agent: str, model: type[Event], fields: dict) -> Draft:
    return Draft(
        model=model,
        fields=fields,
        id=event_id,
        source=SOURCE,
        occurred_at=START + timedelta(hours=number),
        agent=agent,
        task="auth" if agent == OPS else "jwt",
        session="s-1" if agent == DEV else None,
        user="小李" if agent == DEV else None,
        project="shop",
    )
