"""How many rows each table should have, kept with the rows, so that a file that lost some is told.

DuckDB opens a file whose write-ahead log was cut or overwritten without a word, and drops the
transactions behind the damage. Since rows, counts and progress are one transaction, what is left
is an earlier state that the log completes; where they disagree, the file is damaged.
"""

from collections.abc import Mapping
from pathlib import Path

import duckdb

from mnemolog.projections.analytics.tables import TABLES
from mnemolog.schemas.errors import Damaged

Connection = duckdb.DuckDBPyConnection


def begin_counting(connection: Connection) -> None:
    """Note that every table is empty."""
    rows = [(table, 0) for table in TABLES]
    connection.executemany("INSERT INTO ledger.row_counts VALUES (?, ?)", rows)


def count(connection: Connection, grown: Mapping[str, int]) -> None:
    """Note by how many rows each table of *grown* has grown, in the transaction of the rows."""
    for table, rows in grown.items():
        if rows:
            connection.execute(
                "UPDATE ledger.row_counts SET row_count = row_count + ? WHERE table_name = ?",
                [rows, table],
            )


def check_counts(connection: Connection, *, path: Path) -> None:
    """Raise Damaged if a table has not the rows that were counted, or lacks an event seen."""
    noted = connection.execute("SELECT table_name, row_count FROM ledger.row_counts").fetchall()
    expected = dict(noted)
    for table in TABLES:
        found = _rows(connection, table)
        if found != expected.get(table):
            raise Damaged(str(path), f"{table} has {found} rows of {expected.get(table)}")
    if (seen := _rows(connection, "ledger.seen")) != expected["events"]:
        raise Damaged(str(path), f"{seen} events were seen, {expected['events']} are there")


def _rows(connection: Connection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - ours
    assert row is not None
    return int(row[0])
