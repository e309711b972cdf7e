"""Can every row of a live file be read? Asked by who opens it after a death, and by `doctor`."""

from pathlib import Path

import duckdb

from mnemolog.projections.analytics.counting import check_counts
from mnemolog.projections.analytics.duckdb_store import instance, quoted, speaking_of

_TABLES = "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'live'"


def read_all(connection: duckdb.DuckDBPyConnection) -> None:
    """Read every column of every table of the database `live`; DuckDB's error names what can't."""
    for schema, table in connection.execute(_TABLES).fetchall():
        connection.execute(f"SELECT max(hash(t)) FROM live.{schema}.{table} t").fetchall()  # noqa: S608 - ours


def check_closed(path: Path) -> None:
    """Look at the live file *path*, which nobody may have open, and leave it as it is.

    Raises Damaged where rows are missing or can't be read, StoreUnavailable where it is open.
    """
    with speaking_of(path), instance(threads="1", memory_limit="1GB") as connection:
        connection.execute(f"ATTACH {quoted(path)} AS live (READ_ONLY)")
        connection.execute("USE live")
        check_counts(connection, path=path)
        read_all(connection)
