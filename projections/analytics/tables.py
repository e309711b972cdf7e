"""The tables and views of analysts, and how each comes about in a new file."""

from typing import Final

import duckdb

from mnemolog.projections.analytics.sql_files import sql

Connection = duckdb.DuckDBPyConnection

# What the fold fills; the rest is derived from these, or describes them.
TABLES: Final = (
    "events",
    "messages",
    "observations",
    "decisions",
    "action_events",
    "feedback",
    "formed_memories",
    "memory_changes",
    "told_links",
    "recalls",
    "recalled_memories",
    "uses",
    "task_events",
    "session_events",
    "checkpoints",
)
VIEWS: Final = ("sessions", "tasks", "actions", "links", "memories")
RELATIONS: Final = (*TABLES, *VIEWS, "published", "columns")


def create_tables(connection: Connection) -> None:
    """Make every table in the database in use."""
    connection.execute(sql("create_tables"))


def create_views(connection: Connection) -> None:
    """Make every view in the database in use, beside the tables."""
    connection.execute(sql("create_views"))


def create_bookkeeping(connection: Connection) -> None:
    """Make what the fold keeps for itself, beside the ledger."""
    connection.execute(sql("create_bookkeeping"))


def insert_columns(connection: Connection) -> None:
    """Fill `columns`, which says what every column means."""
    connection.execute(sql("insert_columns"))
