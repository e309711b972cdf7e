"""What the content digest covers of analytics: the tables as they are served.

Left out are places in the log, times of the log, and numbers that are no integers; the JSON in
`events.data` holds these as they were told. Left out too are governance events, which stand once
in every partition, so that their number is the log's and not the history's.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import duckdb

from mnemolog.projections.analytics.duckdb_store import quoted
from mnemolog.projections.analytics.tables import TABLES
from mnemolog.projections.digests import ContentRow
from mnemolog.schemas.events import GOVERNANCE

Connection = duckdb.DuckDBPyConnection

ROWS_AT_ONCE: Final = 2_048
_NOT_COVERED: Final = {"log_partition", "log_offset", "recorded_at"}
_OF_THE_HISTORY: Final = "WHERE guest OR type NOT IN ({})".format(
    ", ".join(quoted(event.event_type) for event in GOVERNANCE)
)
_ROW_ID: Final = {
    "formed_memories": ("memory",),
    "told_links": ("identity", "from_memory", "to_memory", "kind"),
    "recalled_memories": ("identity", "ordinal"),
    "uses": ("identity", "ordinal"),
}


class _Column(NamedTuple):
    name: str
    type: str

    def read(self) -> str:
        """Return the expression that gives the column as a JSON value, or as JSON text."""
        match self.type:
            case "UUID":
                return f"replace({self.name}::VARCHAR, '-', '')"
            case "TIMESTAMP":
                return f"epoch_us({self.name})"
            case "JSON":
                return f"{self.name}::VARCHAR"
            case _:
                return self.name


def content_rows(connection: Connection) -> Iterator[ContentRow]:
    """Yield every covered row of every table; memory does not grow with the rows."""
    for table in TABLES:
        yield from _rows_of(connection, table)


def _rows_of(connection: Connection, table: str) -> Iterator[ContentRow]:
    columns = _covered(connection, table)
    names = [column.name for column in columns]
    id_places = [names.index(name) for name in _ROW_ID.get(table, ("identity",))]
    key_place = names.index("key")
    json_places = [place for place, column in enumerate(columns) if column.type == "JSON"]
    wanted = ", ".join(column.read() for column in columns)
    where = _OF_THE_HISTORY if table == "events" else ""
    result = connection.execute(f"SELECT {wanted} FROM {table} {where}")  # noqa: S608 - ours
    while rows := result.fetchmany(ROWS_AT_ONCE):
        for row in rows:
            row_id = ":".join(str(row[place]) for place in id_places)
            values = dict(zip(names, _decoded(row, json_places), strict=True))
            yield ContentRow(str(row[key_place]), table, row_id, values)


def _decoded(row: tuple[Any, ...], json_places: list[int]) -> list[Any]:
    values = list(row)
    for place in json_places:
        if values[place] is not None:
            values[place] = json.loads(values[place])
    return values


def _covered(connection: Connection, table: str) -> list[_Column]:
    described = connection.execute(f"DESCRIBE {table}").fetchall()
    columns = [_Column(row[0], row[1]) for row in described]
    return [c for c in columns if c.type != "DOUBLE" and c.name not in _NOT_COVERED]
