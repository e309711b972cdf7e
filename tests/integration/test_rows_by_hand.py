"""For one small history: the rows of memories, weights and checkpoints, written out by hand.

What stands here follows from the design and docs/events.md, not from what the code gives; the
analysts' tables of the same history stand in test_rows_by_hand_in_analytics.py.
"""

import pytest

from mnemolog.memory import Memory
from mnemolog.projections.checkpoints.reading import CheckpointReader
from mnemolog.projections.checkpoints.stored import ActionStatus
from mnemolog.projections.memories.lance_reader import LanceMemoryReader
from mnemolog.projections.memories.rows import Filter
from mnemolog.projections.weights.reading import WeightReader
from mnemolog.schemas.policy import BUILT_IN
from support.hand_history import (
    CHECKPOINT,
    CONSTRAINT,
    DECISION,
    DEV,
    EPISODE,
    FRIDAYS,
    MONDAYS,
    OPS,
    POOL,
    PRAISE,
    RESULT,
    SECRET,
    day,
    feed,
    identity,
)

AT = day(30)  # when weights are asked for


@pytest.fixture(scope="module")
def memory():
    with Memory(":memory:", embedder="hashing", record_recalls=False) as opened:
        feed(opened)
        yield opened


@pytest.fixture(scope="module")
def reader_of(memory):
    """Return a function that opens a reader of the generation that serves."""
    opened = []

    def open_(kind, name):
        serving = memory.engine.shelf.generations(name).serving()
        opened.append(kind.open(serving))
        return opened[-1]

    yield open_
    for reader in opened:
        reader.close()


@pytest.fixture(scope="module")
def rows(reader_of):
    every = Filter(current=False)
    found = reader_of(LanceMemoryReader, "memories").latest(where=every, rows_max=100)
    return {row.id: row for row in found}


# Memories: kind, text, importance, confidence, who stated it, entities.

CALLED_FOR = "支付服务必须在周三之前上线。"
SAID_BY_THE_CHECKPOINT = (
    "Agent: ops-1. Overall goal: keep payments up. Current plan: raise the pool, then watch it."
    " Key observations: pool exhausted at 50"
)
MEMORIES = {
    EPISODE: ("episode", CALLED_FOR, 0.5, 0.9, "user", []),
    CONSTRAINT: ("constraint", CALLED_FOR, 0.8, 0.9, "user", []),
    POOL: (
        "episode",
        "Pool exhausted on node-7: 50 connections.",
        0.5,
        0.7,
        "agent",
        ["node-7", "50 connections"],
    ),
    # 0.5 + 0.2 for the success
    RESULT: ("result", "psql: max_connections is 100", 0.7, 0.9, "tool", ["max_connections"]),
    DECISION: (
        "decision",
        "Raise the pool to 100. Why: payments must not wait",
        0.5,
        0.8,  # as it says itself
        "agent",
        [],
    ),
    # 0.5 + 0.2 for the praise
    PRAISE: ("episode", "小李: this saved the night", 0.7, 0.9, "user", []),
    CHECKPOINT: (
        "checkpoint",
        SAID_BY_THE_CHECKPOINT,
        0.5,
        0.7,
        "agent",
        ["ops-1"],
    ),
    FRIDAYS: ("fact", "Deploys go out on Fridays.", 0.7, 0.9, "user", []),
    MONDAYS: ("fact", "Deploys go out on Mondays.", 0.75, 0.9, "user", []),
}
SOURCES = {  # event, its type, the memory's place in it, agent, day and hour, further sources
    EPISODE: ("h1", "message.exchanged", 0, OPS, day(0), [], []),
    CONSTRAINT: ("h1", "message.exchanged", 1, OPS, day(0), [], []),
    POOL: ("h2", "observation.recorded", 0, OPS, day(1), [], []),
    RESULT: ("h4", "action.finished", 0, OPS, day(1, hours=2), [], []),
    DECISION: ("h5", "decision.made", 0, DEV, day(2), ["h1"], [CONSTRAINT, POOL]),
    PRAISE: ("h6", "feedback.given", 0, DEV, day(3), [], [POOL]),
    CHECKPOINT: ("h8", "checkpoint.saved", 0, OPS, day(4), [], []),
    FRIDAYS: ("h9", "memory.formed", 0, DEV, day(4, hours=1), [], []),
    MONDAYS: ("h10", "memory.formed", 0, DEV, day(5), [], []),
}


def test_these_memories_are_there_and_no_other(rows):
    assert {
        id_: (row.kind, row.text, row.importance, row.confidence, row.stated_by, list(row.entities))
        for id_, row in rows.items()
    } == MEMORIES
    assert SECRET not in rows


def test_each_memory_knows_its_sources(rows):
    found = {}
    for id_, row in rows.items():
        assert row.identity == identity(row.event_id, agent=row.key)
        where = (row.event_id, row.event_type, row.ordinal, row.agent, row.occurred_at)
        found[id_] = (*where, list(row.from_events), list(row.from_memories))
        assert row.key == row.agent
    assert found == SOURCES


def test_flags_and_scope_are_these(rows):
    outdated = {
        id_: (row.superseded_by, row.valid_until) for id_, row in rows.items() if row.superseded
    }
    assert outdated == {FRIDAYS: (MONDAYS, day(5))}
    assert not any(row.archived or row.levels or row.tags for row in rows.values())
    assert not any(row.valid_from for row in rows.values())
    assert {id_ for id_, row in rows.items() if row.valid_until} == {FRIDAYS}
    assert all(row.project == "shop" and row.has_vector for row in rows.values())
    assert {row.task for row in rows.values() if row.agent == OPS} == {"payment"}
    assert {row.task for row in rows.values() if row.agent == DEV} == {None}
    of_a_user = {id_: (row.user, row.session) for id_, row in rows.items() if row.user}
    assert of_a_user == {EPISODE: ("小李", "s-1"), CONSTRAINT: ("小李", "s-1")}


def test_these_links_are_there_and_no_other(reader_of):
    found = reader_of(LanceMemoryReader, "memories").links(MEMORIES, links_max=100)
    assert {(one.from_memory, one.to_memory, one.kind, one.score, one.cause) for one in found} == {
        (CONSTRAINT, DECISION, "causes", 1.0, "h5"),
        (POOL, DECISION, "causes", 1.0, "h5"),
        (POOL, PRAISE, "causes", 1.0, "h6"),
        (MONDAYS, FRIDAYS, "supersedes", 1.0, "h11"),
    }


# Weights: initial, importance, uses, feedback, relevance gain, utility gain, last reinforcement.
# The decision used the constraint and the pool; its praise (1.0 x 0.2) is a gain in relevance of
# its own memory and in utility of what it rested on. The pool was praised itself (0.5 x 0.2).

STANDING = {
    EPISODE: (1.0, 0.5, 0, 0.0, 0.0, 0.0, None),
    CONSTRAINT: (1.0, 0.8, 1, 1.0, 0.0, 0.2, day(2)),
    POOL: (1.0, 0.5, 1, 1.5, 0.1, 0.2, day(2)),
    RESULT: (1.0, 0.7, 0, 0.0, 0.0, 0.0, None),
    DECISION: (1.0, 0.5, 0, 1.0, 0.2, 0.0, None),
    PRAISE: (1.0, 0.7, 0, 0.0, 0.0, 0.0, None),
    CHECKPOINT: (1.0, 0.5, 0, 0.0, 0.0, 0.0, None),
    FRIDAYS: (1.0, 0.7, 0, 0.0, 0.0, 0.0, None),
    MONDAYS: (1.0, 0.75, 0, 0.0, 0.0, 0.0, None),
}
# On day 30: S = base x (1 + 4 importance) x (1 + ln(1 + uses)), R = exp(-age / S), in days;
# weight = 1 x R + relevance gain + utility gain. ln 2 = 0.6931472.
WEIGHTS = {
    # S = 30 x 3 x 1 = 90; R = exp(-30 / 90) = 0.7165313
    EPISODE: 0.7165313,
    # S = 180 x 4.2 x 1.6931472 = 1280.01927; R = exp(-28 / 1280.01927) = 0.9783628; + 0.2
    CONSTRAINT: 1.1783628,
    # S = 30 x 3 x 1.6931472 = 152.38325; R = exp(-28 / 152.38325) = 0.8321460; + 0.1 + 0.2
    POOL: 1.1321460,
    # S = 14 x 3.8 x 1 = 53.2; age 28 d 22 h = 28.9166667; R = exp(-0.5435464) = 0.5806851
    RESULT: 0.5806851,
    # S = 120 x 3 x 1 = 360; R = exp(-28 / 360) = 0.9251700; + 0.2
    DECISION: 1.1251700,
    # S = 30 x 3.8 x 1 = 114; R = exp(-27 / 114) = 0.7891158
    PRAISE: 0.7891158,
    # S = 30 x 3 x 1 = 90; R = exp(-26 / 90) = 0.7490954
    CHECKPOINT: 0.7490954,
    # S = 90 x 3.8 x 1 = 342; age 25 d 23 h = 25.9583333; R = exp(-0.0759015) = 0.9269075
    FRIDAYS: 0.9269075,
    # S = 90 x 4 x 1 = 360; R = exp(-25 / 360) = 0.9329116
    MONDAYS: 0.9329116,
}


@pytest.fixture(scope="module")
def weights(reader_of):
    reader = reader_of(WeightReader, "weights")
    assert reader.decay_policy() == BUILT_IN.decay
    return reader.weights([*MEMORIES, SECRET], at=AT, decay=BUILT_IN.decay)


def test_each_memory_stands_as_these_events_say(weights):
    assert {
        id_: (
            one.initial,
            one.importance,
            one.uses,
            one.feedback,
            one.relevance_gain,
            one.utility_gain,
            one.last_reinforcement,
        )
        for id_, one in weights.items()
    } == STANDING
    assert not any(one.pinned or one.standing.level for one in weights.values())
    superseded = {id_: one.standing for id_, one in weights.items() if one.standing.superseded}
    assert superseded.keys() == {FRIDAYS}
    assert superseded[FRIDAYS].superseded_by == MONDAYS
    assert superseded[FRIDAYS].valid_until == day(5)


@pytest.mark.parametrize("id_", WEIGHTS)
def test_a_weight_on_day_30_is_what_the_formula_gives_by_hand(weights, id_):
    assert weights[id_].weight == pytest.approx(WEIGHTS[id_], abs=5e-7)
    # clamp(sqrt(weight), 0.3, 1.5) / 1.5; here no bound is met
    assert weights[id_].ranking_term == pytest.approx(WEIGHTS[id_] ** 0.5 / 1.5, abs=5e-7)


# Checkpoints, the timeline and actions


def test_the_checkpoint_is_this(reader_of):
    reader = reader_of(CheckpointReader, "checkpoints")
    [saved] = reader.list()
    told = (saved.id, saved.agent, saved.task, saved.parent, saved.tags)
    assert told == ("c-1", OPS, "payment", None, ())
    assert (saved.event.event_id, saved.event.occurred_at) == ("h8", day(4))
    checkpoint = reader.load(saved).checkpoint
    assert checkpoint.timestamp == day(4)
    assert checkpoint.current_goal == "keep payments up"
    assert checkpoint.plan_summary == "raise the pool, then watch it"
    assert checkpoint.key_observations == ("pool exhausted at 50",)
    assert checkpoint.embedding is None
    state = checkpoint.task_state
    assert [(n.id, n.status, n.parent) for n in state.nodes] == [
        ("n1", "done", None),
        ("n2", "running", "n1"),
    ]
    assert (state.current_node, state.completed, state.iterations) == ("n2", ("n1",), 3)
    assert (state.tokens.used, state.tokens.limit) == (1_200, 8_000)
    assert [(a.action, a.tool) for a in state.pending_actions] == [("a-2", "watch")]


LINES = {
    "h1": ("message.exchanged", CALLED_FOR),
    "h2": ("observation.recorded", "Pool exhausted on node-7: 50 connections."),
    "h3": ("action.started", 'psql {"max":100}'),
    "h4": ("action.finished", "max_connections is 100"),
    "h5": ("decision.made", "Raise the pool to 100 · payments must not wait"),
    "h6": ("feedback.given", "this saved the night"),
    "h7": ("feedback.given", ""),
    "h8": ("checkpoint.saved", "keep payments up · raise the pool, then watch it"),
    "h9": ("memory.formed", "Deploys go out on Fridays."),
    "h10": ("memory.formed", "Deploys go out on Mondays."),
    "h11": ("memory.superseded", ""),
    "h12": ("memory.formed", None),  # forgotten
    "h13": ("memory.forgotten", ""),
}


def test_the_timeline_has_these_lines_in_this_order(reader_of):
    entries = reader_of(CheckpointReader, "checkpoints").timeline(project="shop")
    assert [entry.event_id for entry in entries] == list(LINES)
    assert {entry.event_id: (entry.type, entry.text) for entry in entries} == LINES
    assert {entry.event_id: entry.cause for entry in entries if entry.cause} == {"h4": "h3"}
    assert all(entry.identity == identity(entry.event_id, agent=entry.key) for entry in entries)


def test_the_action_is_this(reader_of):
    [action] = reader_of(CheckpointReader, "checkpoints").actions()
    assert (action.action, action.tool, action.costly) == ("a-1", "psql", True)
    assert (action.status, action.started.event_id) == (ActionStatus.FINISHED, "h3")
