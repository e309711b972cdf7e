"""Whether what is published can be read: the DuckDB file and each Parquet file."""

from collections.abc import Iterator
from pathlib import Path

import duckdb

from mnemolog.projections.analytics.duckdb_store import instance, quoted, speaking_of
from mnemolog.projections.analytics.publishing import FILE, PARQUET, published_folder
from mnemolog.projections.analytics.tables import RELATIONS
from mnemolog.schemas.errors import Damaged, MnemologError

_TABLES = "SELECT table_name FROM duckdb_tables() WHERE database_name = 'published'"


def damaged_files(tenant_folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each published file that can't be read or is missing beside others, and why.

    Nothing is yielded where nothing was published yet.
    """
    folder = published_folder(tenant_folder)
    files = [folder / PARQUET / f"{relation}.parquet" for relation in RELATIONS]
    if not (folder / FILE).exists() and not any(path.exists() for path in files):
        return
    for path in (folder / FILE, *files):
        try:
            _read(path)
        except MnemologError as error:
            yield path, str(error)


def _read(path: Path) -> None:
    if not path.is_file():
        raise Damaged(str(path), "it is no file" if path.exists() else "it is missing")
    with speaking_of(path), instance(memory_limit="1GB", temp_directory="") as connection:
        try:
            _read_all(connection, path)
        except duckdb.InvalidInputException as error:  # what no value of a row can cause here
            raise Damaged(str(path), str(error).partition("\n")[0]) from error


def _read_all(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    if path.suffix == ".parquet":
        every = f"SELECT max(hash(t)) FROM read_parquet({quoted(path)}) t"  # noqa: S608 - ours
        connection.execute(every).fetchall()
    else:
        connection.execute(f"ATTACH {quoted(path)} AS published (READ_ONLY)")
        for (table,) in connection.execute(_TABLES).fetchall():
            connection.execute(f"SELECT max(hash(t)) FROM published.{table} t").fetchall()  # noqa: S608 - ours
