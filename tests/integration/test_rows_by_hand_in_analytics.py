"""The analysts' tables of the small history of test_rows_by_hand.py, written out by hand."""

import json
from uuid import UUID

import pytest

from mnemolog.memory import Memory
from mnemolog.projections.analytics.tables import TABLES, VIEWS
from support import hand_history as hand
from support.hand_history import CONSTRAINT, DECISION, FRIDAYS, MONDAYS, OPS, POOL, PRAISE, identity

JSON = {"data", "parts", "arguments"}
# What each table has of the event around its own columns.
AROUND = (
    *("identity", "event_id", "key", "agent", "user_id", "project", "session", "task", "phase"),
    *("occurred_at", "log_partition", "log_offset", "forgotten"),
)


def at(number, hours=0):
    return hand.day(number, hours=hours).replace(tzinfo=None)  # tables hold UTC without a zone


@pytest.fixture(scope="module")
def memory():
    with Memory(":memory:", embedder="hashing", record_recalls=False) as opened:
        hand.feed(opened)
        yield opened


@pytest.fixture(scope="module")
def rows_of(memory):
    """Return a function that gives a relation's rows as dicts, JSON read."""

    def rows(relation, order="event_id"):
        found = memory.sql(f"FROM {relation} ORDER BY {order}")
        return [
            {
                name: json.loads(value) if name in JSON and value is not None else value
                for name, value in zip(found.columns, row, strict=True)
            }
            for row in found.rows
        ]

    return rows


def own(row):
    """Return the event's id and what this table alone says of it; what is null is left out."""
    said = {name: value for name, value in row.items() if value is not None}
    return row["event_id"], {name: said[name] for name in said if name not in AROUND}


def has(**columns):
    return columns


# Events

TYPES = {
    "h1": "message.exchanged",
    "h2": "observation.recorded",
    "h3": "action.started",
    "h4": "action.finished",
    "h5": "decision.made",
    **dict.fromkeys(("h6", "h7"), "feedback.given"),
    "h8": "checkpoint.saved",
    **dict.fromkeys(("h9", "h10"), "memory.formed"),
    "h11": "memory.superseded",
    "h12": "memory.formed",
    "h13": "memory.forgotten",
}


def test_events(rows_of):
    found = {row["event_id"]: row for row in rows_of("events")}
    assert {name: row["type"] for name, row in found.items()} == TYPES
    for event_id, agent, occurred_at, _, _ in hand.TOLD:
        said = {n: v for n, v in found[event_id].items() if v is not None and n != "data"}
        assert said.pop("recorded_at") is not None
        assert said == {
            "identity": UUID(identity(event_id, agent=agent)),
            "event_id": event_id,
            "key": agent,
            "agent": agent,
            **({"user_id": "小李", "session": "s-1"} if event_id == "h1" else {}),
            "project": "shop",
            **({"task": "payment"} if agent == OPS else {}),
            "occurred_at": occurred_at.replace(tzinfo=None),
            "log_partition": 0,
            "log_offset": list(TYPES).index(event_id),
            "forgotten": event_id == "h12",
            "source": hand.SOURCE,
            "type": TYPES[event_id],
            "version": 1,
            "guest": False,
            "tenant": "default",
            "assumed_utc": False,
            "large_texts": 0,
            "large_text_bytes": 0,
            **({"cause": "h3"} if event_id == "h4" else {}),
            "tags": [],
        }


def test_what_events_say_is_kept_but_for_what_is_forgotten(rows_of):
    said = {row["event_id"]: row["data"] for row in rows_of("events")}
    assert said.pop("h12") is None
    assert said.pop("h8")["checkpoint"]["key_observations"] == hand.SAVED["key_observations"]
    told = {event_id: fields for event_id, _, _, _, fields in hand.TOLD}
    ends = {"valid_until": "2030-03-06T00:00:00.000000Z"}
    assert said == {name: told[name] for name in said} | {"h11": told["h11"] | ends}


def test_what_surrounds_a_row_is_what_surrounds_its_event(rows_of):
    around = {row["identity"]: {name: row[name] for name in AROUND} for row in rows_of("events")}
    for table in {*TABLES} - {"formed_memories"}:
        for row in rows_of(table):
            assert {name: row[name] for name in AROUND} == around[row["identity"]], table


# One table for each kind of event: (event, its own columns that are not null)

PSQL = {"action": "a-1", "tool": "psql"}
CAME = {"result": "max_connections is 100", "duration_ms": 40, "data": {}}
CHOICE = {"what": "Raise the pool to 100", "why": "payments must not wait", "confidence": 0.8}
OF_EVENTS = {
    "messages": [("h1", has(role="user", text="支付服务必须在周三之前上线。", parts=[]))],
    "observations": [
        ("h2", has(text="Pool exhausted on node-7: 50 connections.", stated_by="agent", data={}))
    ],
    "action_events": [
        ("h3", has(**PSQL, change="action.started", arguments={"max": 100}, costly=True)),
        ("h4", has(**PSQL, change="action.finished", success=True, orphaned=False, **CAME)),
    ],
    "decisions": [
        (
            "h5",
            has(
                **CHOICE,
                alternatives=[],
                because_events=["h1"],
                because_memories=[CONSTRAINT, POOL],
            ),
        )
    ],
    "feedback": [
        (
            "h6",
            has(
                target=POOL,
                target_kind="memory",
                score=0.5,
                comment="this saved the night",
                given_by="小李",
            ),
        ),
        ("h7", has(target="h5", target_kind="decision", score=1.0)),
    ],
    "checkpoints": [
        (
            "h8",
            has(
                checkpoint="c-1",
                saved_at=at(4),
                goal="keep payments up",
                plan="raise the pool, then watch it",
                observations=["pool exhausted at 50"],
                tags=[],
                state_task="payment",
                nodes=2,
                nodes_completed=1,
                nodes_blocked=0,
                pending_actions=1,
                iterations=3,
                tokens_used=1_200,
                tokens_limit=8_000,
            ),
        )
    ],
    "memory_changes": [
        (
            "h11",
            has(
                memory=FRIDAYS, change="memory.superseded", superseded_by=MONDAYS, valid_until=at(5)
            ),
        )
    ],
    "uses": [
        ("h5", has(ordinal=1, memory=CONSTRAINT, via="decision.made")),
        ("h5", has(ordinal=2, memory=POOL, via="decision.made")),
    ],
    "told_links": [
        ("h11", has(from_memory=MONDAYS, to_memory=FRIDAYS, kind="supersedes", score=1_000)),
        ("h5", has(from_memory=CONSTRAINT, to_memory=DECISION, kind="causes", score=1_000)),
        ("h5", has(from_memory=POOL, to_memory=DECISION, kind="causes", score=1_000)),
        ("h6", has(from_memory=POOL, to_memory=PRAISE, kind="causes", score=1_000)),
    ],
    "recalls": [],
    "recalled_memories": [],
    "task_events": [],
    "session_events": [],
}


def test_every_table_and_view_is_looked_at():
    assert {*OF_EVENTS, "events", "formed_memories"} == set(TABLES)
    assert set(VIEWS) == {"memories", "actions", "links", "sessions", "tasks"}


@pytest.mark.parametrize("table", [*OF_EVENTS, "links"])
def test_a_row_for_each_event_or_part(rows_of, table):
    expected = OF_EVENTS["told_links" if table == "links" else table]  # both ends are there
    assert sorted(map(own, rows_of(table)), key=str) == sorted(expected, key=str)


def test_the_action(rows_of):
    [action] = rows_of("actions", order="action")
    assert {name: value for name, value in action.items() if value is not None} == {
        **PSQL,
        **CAME,
        "key": OPS,
        "agent": OPS,
        "project": "shop",
        "task": "payment",
        "status": "succeeded",
        "arguments": {"max": 100},
        "costly": True,
        "started_at": at(1, 1),
        "finished_at": at(1, 2),
        "started_identity": UUID(identity("h3", agent=OPS)),
        "finished_identity": UUID(identity("h4", agent=OPS)),
        "forgotten": False,
    }


# The memories as analysts see them: importance as formed and now, uses, the last of them.
MEMORIES = {
    hand.EPISODE: ("h1", "episode", 500, 0, None),
    CONSTRAINT: ("h1", "constraint", 800, 1, at(2)),
    POOL: ("h2", "episode", 500, 1, at(2)),
    hand.RESULT: ("h4", "result", 700, 0, None),
    DECISION: ("h5", "decision", 500, 0, None),
    PRAISE: ("h6", "episode", 700, 0, None),
    hand.CHECKPOINT: ("h8", "checkpoint", 500, 0, None),
    FRIDAYS: ("h9", "fact", 700, 0, None),
    MONDAYS: ("h10", "fact", 750, 0, None),
}


def test_memories(rows_of):
    names = ("event_id", "kind", "importance", "uses", "last_used_at")
    found = {row["memory"]: row for row in rows_of("memories")}
    assert {id_: tuple(row[name] for name in names) for id_, row in found.items()} == MEMORIES
    assert {row["memory"] for row in rows_of("formed_memories")} == MEMORIES.keys()
    assert all(row["importance"] == row["importance_formed"] for row in found.values())
    assert not any(row["pinned"] or row["archived"] for row in found.values())
    outdated = [row for row in found.values() if row["superseded"]]
    assert [(one["memory"], one["superseded_by"], one["valid_until"]) for one in outdated] == [
        (FRIDAYS, MONDAYS, at(5))
    ]
    assert found[DECISION]["confidence"] == 800
    assert found[DECISION]["from_memories"] == [CONSTRAINT, POOL]
    assert found[POOL]["entities"] == ["node-7", "50 connections"]


def test_the_session_and_the_task(rows_of):
    [session] = rows_of("sessions", order="session")
    assert {name: value for name, value in session.items() if value is not None} == {
        "session": "s-1",
        "status": "open",
        "first_at": at(0),
        "last_at": at(0),
        "events": 1,
        "agents": 1,
        "messages": 1,
        "tokens_in": 0,
        "tokens_out": 0,
    }
    [task] = rows_of("tasks", order="task")
    assert {name: value for name, value in task.items() if value is not None} == {
        "task": "payment",
        "first_at": at(0),
        "last_at": at(6),
        "events": 7,
        "agents": 1,
        "tokens_in": 0,
        "tokens_out": 0,
    }


def test_what_is_published_reaches_the_logs_end(memory, rows_of):
    [published] = rows_of("published", order="log_partition")
    assert (published["log_partition"], published["log_offset"]) == (0, len(hand.TOLD) - 1)
    [stamp] = memory.sql("SELECT max(recorded_at) FROM events").rows[0]
    assert published["recorded_at"] == stamp
