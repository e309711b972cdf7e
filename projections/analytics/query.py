"""One question to the published tables: read-only, bounded, without files or network."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import duckdb

from mnemolog.projections.analytics.duckdb_store import instance, quoted, speaking_of
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting, NotFound, TimedOut
from mnemolog.schemas.values import check_depth

ROWS_MAX: Final = 10_000
SECONDS_MAX: Final = 60.0
MEMORY_LIMIT: Final = "1GB"  # of one question; nothing is spilt to disk

# DESCRIBE, SHOW, SUMMARIZE, VALUES and FROM are SELECTs to DuckDB.
_ASKING: Final = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)


@dataclass(frozen=True, slots=True)
class Table:
    """An answer: names and DuckDB's types of its columns, and rows; more if *truncated*."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool


def query(
    published_file: Path,
    sql: str,
    *,
    parameters: Sequence[Any] | Mapping[str, Any] = (),
    rows_max: int = ROWS_MAX,
    seconds_max: float = SECONDS_MAX,
) -> Table:
    """Return what the one statement *sql* says of *published_file*, its first *rows_max* rows.

    Raises InvalidSetting with DuckDB's own words for what can't be run: more than one statement,
    one that writes, or one that reaches for a file, an extension or a setting; and for
    *parameters* that nest too deep. Raises NotFound
    before anything was published, TimedOut after *seconds_max*.
    """
    if rows_max < 1:
        raise InvalidSetting("rows_max", rows_max, "at least 1")
    _check_parameters(parameters)
    if not published_file.exists():
        raise NotFound("published file", str(published_file))
    with (
        speaking_of(published_file),
        instance(memory_limit=MEMORY_LIMIT, temp_directory="") as asked,
    ):
        _lock_up(asked, published_file)
        statement = _statement(asked, sql)
        try:
            return _answer(asked, statement, parameters, rows_max=rows_max, seconds_max=seconds_max)
        except duckdb.InterruptException as error:
            raise TimedOut("the query's answer", waited_seconds=seconds_max) from error
        except (duckdb.IOException, duckdb.InternalError, duckdb.FatalException):
            raise
        except duckdb.Error as error:
            raise InvalidSetting("sql", sql, str(error)) from error


def _check_parameters(parameters: Any) -> None:
    """Raise InvalidSetting for what nests too deep; in one that holds itself DuckDB dies."""
    try:
        check_depth(parameters, field="parameters")
    except InvalidEvent as error:
        raise InvalidSetting("parameters", "…", error.limit) from error


def _lock_up(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Let *connection* read *path* and nothing else, whatever it is told from here on."""
    connection.execute(f"ATTACH {quoted(path)} AS published (READ_ONLY)")
    connection.execute("USE published")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _statement(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    if not isinstance(sql, str):
        raise InvalidSetting("sql", sql, "a text")
    try:
        sql.encode()
    except UnicodeEncodeError as error:
        raise InvalidSetting("sql", sql, "it holds a lone surrogate") from error
    try:
        statements = connection.extract_statements(sql)
    except duckdb.Error as error:
        raise InvalidSetting("sql", sql, str(error)) from error
    if len(statements) != 1:
        raise InvalidSetting("sql", sql, f"{len(statements)} statements; one is asked for")
    kind = statements[0].type
    if kind not in _ASKING:
        limit = f"{kind.name} does not ask; only SELECT and its like are run here"
        raise InvalidSetting("sql", sql, limit)
    return statements[0]


def _answer(
    connection: duckdb.DuckDBPyConnection,
    statement: duckdb.Statement,
    parameters: Sequence[Any] | Mapping[str, Any],
    *,
    rows_max: int,
    seconds_max: float,
) -> Table:
    alarm = threading.Timer(seconds_max, connection.interrupt)
    alarm.start()
    try:
        result = connection.execute(statement, parameters)
        described = result.description or []
        rows = result.fetchmany(rows_max + 1)
    finally:
        alarm.cancel()
    return Table(
        columns=tuple(column[0] for column in described),
        types=tuple(str(column[1]) for column in described),
        rows=rows[:rows_max],
        truncated=len(rows) > rows_max,
    )
