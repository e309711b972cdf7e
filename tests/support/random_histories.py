"""Random histories with few ids, so that events meet: of every kind that a table is made of."""

from datetime import timedelta

from hypothesis import strategies as st

from mnemolog.schemas.checkpoint import Checkpoint
from mnemolog.schemas.events import Event, ModelUse
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from support.histories import DATAREFS, START, Happened, agents, happened, identity, memory_of

EVENTS_MIN, EVENTS_MAX = 30, 45
AGENTS = 2
IDS = [f"e{number}" for number in range(EVENTS_MAX)]

_words = st.sampled_from(
    [
        "the pool is full",
        "the  pool is\tfull ",
        "Never deploy on a Friday.",
        "caf\u00e9",
        "cafe\u0301",
        "价格是 5 元，必须今天完成。",
        "ok",
        "x" * 300,
        'it\'s "quoted"; DROP TABLE events',
        "\U0001f469\u200d\U0001f4bb",
    ]
)
_maybe_words = st.none() | _words
_flag = st.booleans()
_maybe_flag = st.none() | _flag
_share = st.sampled_from([0.0, 0.1, 0.25, 0.0005, 0.333, 1.0])
_ids = st.sampled_from(IDS)
_memories = st.builds(
    lambda event, ordinal, agent: memory_of(event, ordinal, agent=agent),
    st.sampled_from(IDS[:6]),  # few, so that several events speak of one
    st.sampled_from([0, 0, 0, 1]),
    st.sampled_from(agents(partitions=AGENTS)),
)
_identities = st.builds(
    lambda event, agent: identity(event, agent=agent),
    _ids,
    st.sampled_from(agents(partitions=AGENTS)),
)
_json = st.recursive(
    st.none() | _flag | st.integers(-(2**70), 2**70) | st.sampled_from([1.5, 1e22, 0.1]) | _words,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "A", "b"]), inner, max_size=3)
    ),
    max_leaves=5,
)
_map = st.dictionaries(st.sampled_from(["n", "N", "é", "x y"]), _json, max_size=3)
_few = {"max_size": 2}
_moments = st.integers(0, 50).map(lambda minutes: START + timedelta(minutes=minutes))
_model_use = st.none() | st.builds(
    ModelUse,
    model=st.sampled_from(["m1", "m2"]),
    tokens_in=st.integers(0, 2**40),
    cost_usd=st.none() | st.sampled_from([0.25, 3, 1e-9]),
)
_checkpoints = st.builds(
    Checkpoint,
    id=_ids,
    timestamp=_moments,
    agent=st.just("any"),
    current_goal=_words,
    plan_summary=_words,
    current_sub_goal=_maybe_words,
    key_observations=st.lists(_words, **_few),
    self_reflection=_maybe_words,
    parent=st.none() | _ids,
    task_state=st.none()
    | st.just(
        {
            "task_id": "t1",
            "nodes": [{"id": "n1", "title": "one"}, {"id": "n2", "title": "two", "parent": "n1"}],
            "completed": ["n1"],
            "pending_actions": [{"action": "a1", "tool": "bash"}],
            "iterations": 3,
            "tokens": {"used": 5, "limit": 9},
            "state": {"state_schema": "coding"},
        }
    )
    | st.just({"task_id": "t2"}),
)


def _event(model: type[Event], **fields: st.SearchStrategy) -> st.SearchStrategy[Event]:
    return st.builds(model, model_use=_model_use, tags=st.sampled_from([(), ("a", "b")]), **fields)


_actions = st.sampled_from(["a1", "a2", "a3"])
_experience = st.one_of(
    _event(ex.SessionStarted, title=_maybe_words, instructions=_maybe_words),
    _event(ex.SessionEnded, outcome=_maybe_words, success=_maybe_flag),
    _event(ex.TaskStarted, goal=_words, plan=_maybe_words),
    _event(ex.TaskProgressed, note=_words, done=st.none() | _share),
    _event(ex.TaskPhaseChanged, to_phase=st.sampled_from(["plan", "test"])),
    _event(ex.TaskBlocked, reason=_words, needs=_maybe_words),
    _event(ex.TaskPaused, reason=_maybe_words),
    _event(ex.TaskResumed, checkpoint=st.none() | _ids),
    _event(ex.TaskCompleted, outcome=_words, lesson=_maybe_words, success=_flag),
    _event(ex.TaskAbandoned, outcome=_words, lesson=_maybe_words),
    _event(ex.PlanChanged, plan=_words, steps=st.lists(_words, **_few), reason=_maybe_words),
    _event(ex.ObservationRecorded, text=_words | st.just(""), data=_map, success=_maybe_flag),
    _event(
        ex.MessageExchanged,
        role=st.sampled_from(["user", "assistant"]),
        text=_words,
        parts=st.sampled_from([(), ({"kind": "image", "reference": "blob:1"},)]),
    ),
    _event(
        ex.DecisionMade,
        what=_words,
        why=_maybe_words,
        alternatives=st.lists(_words, **_few),
        because_events=st.lists(_ids, **_few),
        because_memories=st.lists(_memories, **_few),
        confidence=st.none() | _share,
    ),
    _event(ex.ActionStarted, action=_actions, tool=st.just("bash"), arguments=_map, costly=_flag),
    _event(
        ex.ActionFinished,
        action=_actions,
        success=_flag,
        orphaned=_flag,
        result=_maybe_words,
        error=_maybe_words,
        data=_map,
        duration_ms=st.none() | st.integers(0, 2**63 - 1),
        cost_usd=st.none() | _share,
    ),
    _event(ex.ContextMeasured, used_tokens=st.just(1), limit_tokens=st.just(2)),
    _event(ex.FeedbackGiven, target=_ids, score=_share, comment=_maybe_words),
    _event(ex.CheckpointSaved, checkpoint=_checkpoints),
)
_about_memories = st.one_of(
    _event(mem.MemoryFormed, text=_words, valid_until=st.none() | _moments),
    _event(
        mem.MemoryRecalled,
        question=_words,
        memories=st.lists(
            st.builds(mem.RecalledMemory, memory=_memories, score=_share), max_size=3
        ),
        missing=st.lists(_words, **_few),
    ),
    _event(
        mem.MemoryUsed,
        memories=st.lists(_memories, min_size=1, max_size=3),
        purpose=_maybe_words,
    ),
    _event(
        mem.MemoryLinked,
        from_memory=_memories,
        to_memory=_memories,
        kind=st.just("causes"),
        score=_share,
        reason=_maybe_words,
    ),
    _event(mem.MemorySummarised, memory=_memories, level=st.integers(1, 2), text=_words),
    _event(
        mem.MemorySuperseded,
        memory=_memories,
        superseded_by=st.none() | _memories,
        reason=_maybe_words,
        valid_until=st.none() | _moments,
    ),
    _event(mem.MemoryPinned, memory=_memories, pinned=_flag),
    _event(mem.MemoryImportanceChanged, memory=_memories, importance=_share, reason=_maybe_words),
    _event(mem.MemoryArchived, memory=_memories),
    _event(
        mem.KnowledgeConsolidated, text=_words, memories=st.lists(_memories, min_size=1, max_size=2)
    ),
    _event(mem.SkillLearned, name=_words, description=_words),
)
_forgetting = st.one_of(
    _event(mem.MemoryForgotten, memories=st.lists(_memories, min_size=1, max_size=2)),
    _event(mem.MemoryForgotten, events=st.lists(_identities, min_size=1, max_size=2)),
    _event(mem.MemoryForgotten, texts=st.lists(_words, min_size=1, max_size=1)),
)
_scopes = st.fixed_dictionaries(
    {},
    optional={
        "user": st.just("u1"),
        "project": st.just("shop"),
        "session": st.sampled_from(["s1", "s2"]),
        "task": st.sampled_from(["t1", "t2"]),
        "phase": st.just("build"),
        "cause": _ids,
        "correlation": st.just("c1"),
        "assumed_utc": st.sampled_from([True]),
        "dataref": st.sampled_from(DATAREFS),
    },
)


@st.composite
def histories(draw: st.DrawFn, *, forgets: bool = True) -> list[Happened]:
    """Draw what two agents tell; times go back and forth, ids are those of `IDS`."""
    size = draw(st.integers(EVENTS_MIN, EVENTS_MAX))
    forgetting = draw(st.sets(st.integers(0, size - 1), max_size=3 if forgets else 0))
    events = [
        draw(_forgetting if number in forgetting else _experience | _about_memories)
        for number in range(size)
    ]
    return [
        happened(
            event,
            agent=draw(st.sampled_from(agents(partitions=AGENTS))),
            event_id=IDS[number],
            at=draw(_moments),
            **draw(_scopes),
        )
        for number, event in enumerate(events)
    ]
