"""From the temporary table `batch` into the tables of analysts: one statement a table.

Each function runs the file of its name and returns how many rows it added.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import duckdb

from mnemolog.projections.analytics.sql_files import sql

Connection = duckdb.DuckDBPyConnection


class Insert(NamedTuple):
    """A table, what fills it, and from which event types; none given means from every event."""

    table: str
    run: Callable[[Connection], int]
    types: frozenset[str] = frozenset()


def create_batch(connection: Connection) -> None:
    """Make the table `batch` from the Arrow table `incoming`."""
    connection.execute(sql("create_batch"))


def insert_events(connection: Connection) -> int:
    """Fill `events`."""
    return added(connection, sql("insert_events"))


def insert_messages(connection: Connection) -> int:
    """Fill `messages`."""
    return added(connection, sql("insert_messages"))


def insert_observations(connection: Connection) -> int:
    """Fill `observations`."""
    return added(connection, sql("insert_observations"))


def insert_decisions(connection: Connection) -> int:
    """Fill `decisions`."""
    return added(connection, sql("insert_decisions"))


def insert_action_events(connection: Connection) -> int:
    """Fill `action_events`."""
    return added(connection, sql("insert_action_events"))


def insert_feedback(connection: Connection) -> int:
    """Fill `feedback`."""
    return added(connection, sql("insert_feedback"))


def insert_memory_changes(connection: Connection) -> int:
    """Fill `memory_changes`."""
    return added(connection, sql("insert_memory_changes"))


def insert_links(connection: Connection) -> int:
    """Fill `told_links` with those that events tell."""
    return added(connection, sql("insert_links"))


def insert_recalls(connection: Connection) -> int:
    """Fill `recalls`."""
    return added(connection, sql("insert_recalls"))


def insert_recalled_memories(connection: Connection) -> int:
    """Fill `recalled_memories`."""
    return added(connection, sql("insert_recalled_memories"))


def insert_uses(connection: Connection) -> int:
    """Fill `uses`."""
    return added(connection, sql("insert_uses"))


def insert_task_events(connection: Connection) -> int:
    """Fill `task_events`."""
    return added(connection, sql("insert_task_events"))


def insert_session_events(connection: Connection) -> int:
    """Fill `session_events`."""
    return added(connection, sql("insert_session_events"))


def insert_checkpoints(connection: Connection) -> int:
    """Fill `checkpoints`."""
    return added(connection, sql("insert_checkpoints"))


def insert_formed_memories(connection: Connection) -> int:
    """Fill `formed_memories` from the Arrow table `incoming_memories`."""
    return added(connection, sql("insert_formed_memories"))


def insert_drawn_links(connection: Connection) -> int:
    """Fill `told_links` with those from a memory of `incoming_memories` to what it draws."""
    return added(connection, sql("insert_drawn_links"))


def added(connection: Connection, statement: str) -> int:
    """Run *statement*, which inserts, updates or deletes; return how many rows it touched."""
    row = connection.execute(statement).fetchone()
    assert row is not None
    return int(row[0])


INSERTS: Final = (
    Insert("events", insert_events),
    Insert("messages", insert_messages, frozenset({"message.exchanged"})),
    Insert("observations", insert_observations, frozenset({"observation.recorded"})),
    Insert("decisions", insert_decisions, frozenset({"decision.made"})),
    Insert("action_events", insert_action_events, frozenset({"action.started", "action.finished"})),
    Insert("feedback", insert_feedback, frozenset({"feedback.given"})),
    Insert(
        "memory_changes",
        insert_memory_changes,
        frozenset(
            {
                "memory.pinned",
                "memory.importance-changed",
                "memory.superseded",
                "memory.archived",
                "memory.summarised",
            }
        ),
    ),
    Insert("told_links", insert_links, frozenset({"memory.linked", "memory.superseded"})),
    Insert("recalls", insert_recalls, frozenset({"memory.recalled"})),
    Insert("recalled_memories", insert_recalled_memories, frozenset({"memory.recalled"})),
    Insert("uses", insert_uses, frozenset({"memory.used", "decision.made"})),
    Insert(
        "task_events",
        insert_task_events,
        frozenset(
            {
                "task.started",
                "task.progressed",
                "task.phase-changed",
                "task.blocked",
                "task.paused",
                "task.resumed",
                "task.completed",
                "task.abandoned",
                "plan.changed",
            }
        ),
    ),
    Insert(
        "session_events", insert_session_events, frozenset({"session.started", "session.ended"})
    ),
    Insert("checkpoints", insert_checkpoints, frozenset({"checkpoint.saved"})),
)
