"""The recall index that is written: one writer, upserts that only go forward, no truth of its own.

A row is replaced only by one of a higher sequence, so that a writer that lost its place, or a
batch that is written twice, never turns a row back. The state can bring back every row.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import structlog

from mnemolog.projections.memories.embedding import Vector
from mnemolog.projections.memories.lance_filters import is_newer_than, is_one_of, is_true
from mnemolog.projections.memories.lance_schema import (
    FOLDER,
    REASONS_SCHEMA,
    ROW_COLUMNS,
    TABLE,
    Served,
    index_schema,
    index_table,
    vector_array,
    vectors_schema,
)
from mnemolog.projections.memories.lance_searches import (
    full_text_index,
    index_anew,
    search_each_way,
)
from mnemolog.projections.memories.lance_table import (
    WRITER_CACHE_BYTES,
    connected,
    opened,
    speaking_of_index,
)
from mnemolog.projections.memories.vector_state import SEQUENCE_BITS, Summary
from mnemolog.projections.sqlite_store import chunks
from mnemolog.schemas.errors import Damaged, InvalidSetting

WRITE_SECONDS_MAX: Final = 60.0  # of one upsert, retries included
READ_ROWS_MAX: Final = 4_096  # rows in memory at once when all are read
_PRIMARY_KEY: Final = b"lance-schema:unenforced-primary-key:position"

_log = structlog.get_logger("mnemolog.memories")


class LanceIndex:
    """The index of one generation, open for writing."""

    def __init__(self, folder: Path, table: Any, *, dimensions: int) -> None:
        self._folder = folder
        self._dimensions = dimensions
        self.table = table
        self.commits = 0  # since the table was opened; maintenance counts them

    @classmethod
    def open(cls, folder: Path, *, dimensions: int, thorough: bool = False) -> "LanceIndex":
        """Open the index in the generation's *folder*, or make it, empty.

        One that can't be read is made anew: the state brings its rows back. *thorough* reads every
        row. Raises InvalidSetting if its vectors have another length, StoreUnavailable if the disk
        refuses.
        """
        try:
            index = cls._opened(folder, dimensions)
            index.summary()
            index.check(thorough=thorough)
        except Damaged as error:
            _log.warning("index damaged; its rows are written anew", error=str(error))
            with speaking_of_index(folder):
                _remove(folder / FOLDER)
            index = cls._opened(folder, dimensions)
        return index

    @classmethod
    def _opened(cls, folder: Path, dimensions: int) -> "LanceIndex":
        with speaking_of_index(folder):
            connection = connected(folder, cache_bytes=WRITER_CACHE_BYTES)
            table = opened(connection)
            if table is None:
                table = connection.create_table(TABLE, schema=index_schema(dimensions))
            _check_dimensions(table, dimensions)
            _complete(table)
            return cls(folder, table, dimensions=dimensions)

    def check(self, *, thorough: bool) -> None:
        """Raise Damaged if its rows can't be searched; its searches are indexed anew if they fail.

        *thorough* reads every row, whole.
        """
        try:
            self._search()
        except Damaged as error:
            _log.warning("search index damaged; it is made anew", error=str(error))
            with speaking_of_index(self._folder):
                index_anew(self.table)
            self._search()
        if thorough:
            with speaking_of_index(self._folder):
                for _ in self.table.search().to_batches(READ_ROWS_MAX):
                    pass

    def _search(self) -> None:
        with speaking_of_index(self._folder):
            search_each_way(self.table, dimensions=self._dimensions)

    def upsert(self, served: Sequence[Served], *, sequence: int) -> None:
        """Write whole rows under *sequence*; each id stands once in *served*. None is harmless."""
        assert len({one.stored.id for one in served}) == len(served), "an id stands twice"
        if not served:
            return
        rows = index_table(served, sequence=sequence, dimensions=self._dimensions)
        with speaking_of_index(self._folder):
            merge = self.table.merge_insert("id").when_matched_update_all(
                where=is_newer_than("seq")
            )
            self._execute(merge.when_not_matched_insert_all(), rows)

    def delete(self, ids: Sequence[str]) -> None:
        """Take rows away; unknown ids are harmless."""
        with speaking_of_index(self._folder):
            for run in chunks(ids):
                self.table.delete(is_one_of("id", run))
                self.commits += 1

    def fill(self, vectors: Mapping[str, Vector], reasons: Mapping[str, str]) -> None:
        """Give rows their vectors, or the reason why they have none; adds no row."""
        with speaking_of_index(self._folder):
            self._merge(self._vector_table(vectors))
            ids, whys = list(reasons), list(reasons.values())
            self._merge(pa.table({"id": ids, "why_none": whys}, schema=REASONS_SCHEMA))

    def vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors of those of *ids* that have one."""
        found: dict[str, Vector] = {}
        with speaking_of_index(self._folder):
            for run in chunks(ids):
                query = self.table.search().where(
                    f"{is_true('has_vector')} AND {is_one_of('id', run)}"
                )
                for row in query.select(["id", "vector"]).to_arrow().to_pylist():
                    found[row["id"]] = np.array(row["vector"], dtype=np.float32)
        return found

    def summary(self) -> tuple[Summary, int]:
        """Return what the state has to agree with, and the highest sequence."""
        with speaking_of_index(self._folder):
            return summary_of(self.table)

    def written(self) -> dict[str, tuple[int, bool]]:
        """Return each row's sequence and whether it has a vector, by id."""
        with speaking_of_index(self._folder):
            columns = self.table.search().select(["id", "seq", "has_vector"]).to_arrow()
        return {row["id"]: (row["seq"], row["has_vector"]) for row in columns.to_pylist()}

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield every row as it is served, without its vector."""
        with speaking_of_index(self._folder):
            reading = self.table.search().select(list(ROW_COLUMNS)).to_batches(READ_ROWS_MAX)
            for batch in reading:
                yield from batch.to_pylist()

    def _vector_table(self, vectors: Mapping[str, Vector]) -> pa.Table:
        column = vector_array(vectors.values(), dimensions=self._dimensions)
        columns = {"id": list(vectors), "has_vector": [True] * len(vectors), "vector": column}
        return pa.table(columns, schema=vectors_schema(self._dimensions))

    def _merge(self, columns: pa.Table) -> None:
        if columns.num_rows:
            self._execute(self.table.merge_insert("id").when_matched_update_all(), columns)

    def _execute(self, merge: Any, rows: pa.Table) -> None:
        # "null" keeps null vectors as they are; unsound ones never come here.
        merge.execute(rows, on_bad_vectors="null", timeout=timedelta(seconds=WRITE_SECONDS_MAX))
        self.commits += 1


def summary_of(table: Any) -> tuple[Summary, int]:
    """Return what the state has to agree with of the rows of *table*, and the highest sequence."""
    columns = table.search().select(["seq", "has_vector"]).to_arrow()
    sequences = columns["seq"].to_numpy()
    summary = Summary(
        rows=len(sequences),
        epochs=int((sequences >> SEQUENCE_BITS).sum()),
        counters=int((sequences & ((1 << SEQUENCE_BITS) - 1)).sum()),
        vectors=int(columns["has_vector"].to_numpy(zero_copy_only=False).sum()),
    )
    return summary, int(sequences.max(initial=0))


def _check_dimensions(table: Any, dimensions: int) -> None:
    found = table.schema.field("vector").type.list_size
    if found != dimensions:
        limit = f"the index holds vectors of {found} numbers; run `mnemolog rebuild memories`"
        raise InvalidSetting("embedder dimensions", dimensions, limit)


def _complete(table: Any) -> None:
    """Do what a crash between making the table and its indices may have left undone.

    Without the primary key two writers could add the same new id twice.
    """
    if _PRIMARY_KEY not in (table.schema.field("id").metadata or {}):
        table.set_unenforced_primary_key("id")
    if not any(index.columns == ["words"] for index in table.list_indices()):
        table.create_index("words", config=full_text_index())


def _remove(path: Path) -> None:
    """Remove what stands at *path*, a folder or what took its place."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
