"""One history that has an event of almost every kind, told by two agents, for tests of every fold.

It holds what folds find hard: a forgetting before its target and one after, an action that ends
before it begins, uses and feedback from another agent, a policy that changes on the way.
"""

from datetime import timedelta

from mnemolog.schemas.checkpoint import Checkpoint
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import governance as gov
from mnemolog.schemas.events import memory as mem
from mnemolog.schemas.ids import derived_id
from mnemolog.schemas.partitioning import governance_key
from mnemolog.schemas.policy import Policy, WritePolicy
from support.histories import START, Happened, agents, happened, identity, memory_of

PIN = "my PIN is 0000"


def eventful_history(*, partitions: int = 1) -> list[Happened]:
    """Return the history; the agents stay the same for any number of partitions up to two."""
    ann, bob = agents(partitions=2)
    told = [*_of_ann(ann), *_of_bob(bob, ann)]
    half = len(told) // 2
    policy = Policy(write=WritePolicy(importance_fact=0.6))
    changed = governing(
        lambda revision: gov.PolicyChanged(revision=revision, policy=policy),
        revision=1,
        partitions=partitions,
    )
    return [*told[:half], *changed, *told[half:]]


def governing(make, *, revision: int, partitions: int) -> list[Happened]:
    """Return the copies of a governance event, one for each partition."""
    return [
        happened(
            make(revision),
            agent=None,
            key=governance_key(partition, partitions=partitions),
            event_id=derived_id("governance", str(revision), str(partition)),
            at=START,
        )
        for partition in range(partitions)
    ]


def _of_ann(ann: str) -> list[Happened]:
    scope = {"project": "shop", "session": "s1", "task": "auth"}
    said: list[Event | tuple[str, Event]] = [
        ex.SessionStarted(title="JWT migration", instructions="Never log out live sessions."),
        ("task", ex.TaskStarted(goal="实现 JWT 认证模块", plan="schema, tokens, reset")),
        ex.PlanChanged(plan="tokens first", steps=("tokens", "reset"), reason="live sessions"),
        ex.MessageExchanged(role="user", text="The JWT migration must not touch live sessions."),
        ex.MessageExchanged(role="user", text="好的"),
        ("pool", ex.ObservationRecorded(text="The connection pool is exhausted at 512 sockets.")),
        ("pin", ex.ObservationRecorded(text=PIN, stated_by="user")),
        ex.ObservationRecorded(text="", data={"n": 2**64, "score": 0.1}),
        ("ended-early", ex.ActionFinished(action="a0", success=True, result="done")),
        ex.ActionStarted(action="a0", tool="bash", arguments={"cmd": "make"}),
        ex.ActionStarted(action="a1", tool="deploy", arguments={"to": "prod"}, costly=True),
        ex.ActionFinished(action="a1", success=False, error="time-out", duration_ms=900),
        ex.ActionStarted(action="a2", tool="bash", arguments={"cmd": "pytest"}),
        (
            "decision",
            ex.DecisionMade(
                what="Use RS256 for JWT",
                why="keys rotate",
                alternatives=("HS256",),
                because_events=("pool",),
                because_memories=(memory_of("pool", agent=ann),),
                confidence=0.8,
            ),
        ),
        ex.FeedbackGiven(target="decision", target_kind="decision", score=0.5, label="good"),
        ("saved-1", ex.CheckpointSaved(checkpoint=_checkpoint("c1", ann, None))),
        ex.TaskProgressed(note="tokens are signed", done=0.5),
        ex.TaskBlocked(reason="no staging keys", needs="operations"),
        ("saved-2", ex.CheckpointSaved(checkpoint=_checkpoint("c2", ann, "c1"))),
        ex.ContextMeasured(used_tokens=9_000, limit_tokens=10_000),
        mem.MemoryForgotten(events=(identity("saved-1", agent=ann),), texts=(PIN,)),
        ex.SessionEnded(outcome="handed over"),
    ]
    return [_told(one, number, ann, scope) for number, one in enumerate(said)]


def _of_bob(bob: str, ann: str) -> list[Happened]:
    pool, decision = memory_of("pool", agent=ann), memory_of("decision", agent=ann)
    fact, tip = memory_of("fact", agent=bob), memory_of("tip", agent=bob)
    said: list[Event | tuple[str, Event]] = [
        mem.MemoryForgotten(texts=("a secret that comes later",), reason="asked"),
        ("fact", mem.MemoryFormed(text="Payment is owned by the backend team.", kind="fact")),
        (
            "tip",
            mem.MemoryFormed(text="I prefer short answers.", kind="preference", tags=("style",)),
        ),
        ("secret", mem.MemoryFormed(text="a secret that comes later")),
        mem.MemoryUsed(memories=(pool, fact), purpose="weekly report"),
        mem.MemoryUsed(memories=(pool,)),
        ex.FeedbackGiven(target=pool, target_kind="memory", score=1.0, given_by="ann"),
        ex.FeedbackGiven(target=pool, target_kind="memory", score=-0.3),
        mem.MemoryLinked(from_memory=pool, to_memory=decision, kind="causes", score=0.7),
        mem.MemorySummarised(memory=pool, level=1, text="pool exhausted"),
        mem.MemoryPinned(memory=fact),
        mem.MemoryImportanceChanged(memory=tip, importance=0.95, reason="said twice"),
        mem.MemorySuperseded(memory=tip, superseded_by=fact, reason="outdated"),
        mem.ConflictFound(conflict="k1", memories=(fact, tip), question="Which holds?"),
        mem.ConflictSettled(conflict="k1", holds=fact),
        ("drawn", mem.KnowledgeConsolidated(text="Pools fail under load.", memories=(pool, fact))),
        mem.MemoryRecalled(question="why did it fail?", memories=({"memory": pool, "score": 0.9},)),
        mem.MemoryArchived(memory=decision),
        mem.SkillLearned(name="rotate keys", description="Rotate JWT keys", steps=("a", "b")),
        ex.TaskCompleted(outcome="JWT is live", lesson="Measure the pool first."),
        ex.TaskAbandoned(outcome="no budget", lesson="Ask early."),
        mem.MemoryForgotten(memories=(fact,)),
    ]
    scope = {"user": "u1", "task": "report"}
    return [_told(one, number, bob, scope) for number, one in enumerate(said)]


def _told(
    one: Event | tuple[str, Event], number: int, agent: str, scope: dict[str, str]
) -> Happened:
    """Return the event with an id and a time that the copies of governance events can't shift."""
    event_id, event = one if isinstance(one, tuple) else (f"{agent}-{number}", one)
    at = START + timedelta(minutes=number)
    return happened(event, agent=agent, event_id=event_id, at=at, **scope)


def _checkpoint(checkpoint_id: str, agent: str, parent: str | None) -> Checkpoint:
    return Checkpoint(
        id=checkpoint_id,
        timestamp=START,
        agent=agent,
        current_goal="实现 JWT 认证模块",
        plan_summary=f"tokens first ({checkpoint_id})",
        key_observations=("The pool is exhausted.",),
        parent=parent,
        tags=("auth",),
        task_state={"task_id": "auth", "working_memory": {"open": ["a2"]}, "iterations": 3},
    )
