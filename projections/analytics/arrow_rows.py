"""Rows on their way into DuckDB: as Arrow, since single inserts are a hundred times slower."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import duckdb
import pyarrow as pa

Columns = Mapping[str, Sequence[Any]]

_TYPES: Final[Mapping[str, "pa.DataType"]] = {
    "binary": pa.binary(),
    "bool": pa.bool_(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "string": pa.string(),
    "strings": pa.list_(pa.string()),
}


@contextmanager
def given(
    connection: duckdb.DuckDBPyConnection,
    columns: Columns,
    *,
    types: Mapping[str, str],
    name: str = "given",
) -> Iterator[None]:
    """Let *name* be a table of *columns* within the block; *types* says of what each consists."""
    arrays = [pa.array(columns[column], _TYPES[kind]) for column, kind in types.items()]
    with registered(connection, pa.Table.from_arrays(arrays, names=list(types)), name=name):
        yield


@contextmanager
def registered(
    connection: duckdb.DuckDBPyConnection, table: pa.Table, *, name: str
) -> Iterator[None]:
    """Let *name* be *table* within the block."""
    connection.register(name, table)
    try:
        yield
    finally:
        connection.unregister(name)
