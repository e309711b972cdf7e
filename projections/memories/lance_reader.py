"""Reads one generation's memories beside its writer, from any thread and any process.

Each call looks for the newest version first. A version whose files the writer deleted meanwhile
is read anew, once. A generation that holds nothing yet answers with nothing.
"""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from mnemolog.projections.generations import DESCRIPTION, described
from mnemolog.projections.memories.lance_filters import (
    condition,
    equals,
    is_one_of,
    is_true,
)
from mnemolog.projections.memories.lance_places import Places
from mnemolog.projections.memories.lance_schema import ROW_COLUMNS, memory_row
from mnemolog.projections.memories.lance_searches import matching_any
from mnemolog.projections.memories.lance_table import (
    connected,
    is_missing,
    opened,
    speaking_of_index,
)
from mnemolog.projections.memories.lexical import question_text
from mnemolog.projections.memories.reading import Hit, Link, Vector
from mnemolog.projections.memories.rows import Filter, MemoryRow
from mnemolog.projections.memories.settings import check_description
from mnemolog.projections.memories.sqlite_links import links_touching
from mnemolog.projections.memories.state_schema import STATE_FILE
from mnemolog.projections.sqlite_store import chunks, open_store, speaking_of
from mnemolog.schemas.errors import Damaged, InvalidSetting

if TYPE_CHECKING:
    import sqlite3

HITS_MAX: Final = 1_000  # of one signal
ROWS_MAX: Final = 10_000  # of one session, or of the latest
TIES_SEEN_MAX: Final = 50  # equal scores at the end of the hits, among which the ids decide
PARTITIONS_PROBED: Final = 40  # of the vector index, when there is one
REFINED: Final = 3  # times the hits are compared with their exact vectors

_DISTANCE: Final = "_distance"
_TIME: Final = ("occurred_at", "partition", "offset", "ordinal", "id")
_ORDINAL: Final = ("ordinal", "id")

_Seen = tuple[str, int, float]  # id, place and score
T = TypeVar("T")


class LanceMemoryReader:
    """The `MemoryReader` of a generation in a folder."""

    def __init__(self, folder: Path, *, model_id: str, dimensions: int) -> None:
        self._folder = folder
        self._model_id = model_id
        self._dimensions = dimensions
        self._connection: Any = None
        self._table: Any = None
        self._places = Places()
        self._opening = threading.Lock()
        self._reading_links = threading.Lock()
        self._state: sqlite3.Connection | None = None

    @classmethod
    def open(cls, folder: Path, *, model_id: str | None = None) -> "LanceMemoryReader":
        """Open the generation in *folder*, which may be empty yet.

        Raises InvalidSetting if its vectors are not *model_id*'s (None takes any), Damaged if it
        has no description that names them.
        """
        options = described(folder).options
        if model_id is not None:
            check_description(folder, model_id=model_id)
        if not {"embedder", "dimensions"} <= options.keys():
            raise Damaged(str(folder / DESCRIPTION), "it names no embedder")
        found, dimensions = str(options["embedder"]), int(options["dimensions"])
        return cls(folder, model_id=found, dimensions=dimensions)

    @property
    def model_id(self) -> str:
        """The embedder whose vectors the generation holds."""
        return self._model_id

    def nearest(self, vector: Vector, *, where: Filter, hits_max: int) -> Sequence[Hit]:
        """Return the memories nearest to *vector* by cosine, best first, ties by id.

        A vector of zeros, or with a number that is none, is near nothing. Raises InvalidSetting
        for a vector of another length.
        """
        if vector.shape != (self._dimensions,):
            limit = f"this generation's vectors have {self._dimensions} numbers"
            raise InvalidSetting("question's vector", vector.shape, limit)
        if hits_max < 1 or not np.isfinite(vector).all() or not vector.any():
            return []
        return self._best(lambda table: _nearest(table, vector, where), hits_max)

    def matching(self, question: str, *, where: Filter, hits_max: int) -> Sequence[Hit]:
        """Return the memories that share words with *question* by BM25, best first, ties by id."""
        words = question_text(question)
        if hits_max < 1 or not words:
            return []
        return self._best(lambda table: _matching(table, words, where), hits_max)

    def rows(self, ids: Iterable[str]) -> Mapping[str, MemoryRow]:
        """Return the memories of *ids* that are there."""
        wanted = list(dict.fromkeys(ids))
        return self._read(lambda table: _rows(table, wanted, self._places), empty={})

    def of_event(self, event_id: str) -> Sequence[MemoryRow]:
        """Return the memories that an event formed, by ordinal."""
        where = equals("event_id", event_id)
        return self._read(lambda table: _ordered(table, where, _ORDINAL, ROWS_MAX), empty=[])

    def of_session(self, session: str, *, where: Filter, rows_max: int) -> Sequence[MemoryRow]:
        """Return a session's memories in the order of their occurrence; ties by position."""
        named = condition(where, also=[equals("session", session)])
        return self._read(lambda table: _ordered(table, named, _TIME, rows_max), empty=[])

    def latest(self, *, where: Filter, rows_max: int) -> Sequence[MemoryRow]:
        """Return the memories that occurred last, newest first."""
        named = condition(where)
        return self._read(
            lambda table: _ordered(table, named, _TIME, rows_max, newest_first=True), empty=[]
        )

    def links(self, ids: Iterable[str], *, links_max: int) -> Sequence[Link]:
        """Return the links that touch any of *ids*, in either direction."""
        path = self._folder / STATE_FILE
        if links_max < 1 or not path.exists():
            return []
        with self._reading_links, speaking_of(path):
            if self._state is None:
                self._state = open_store(path, schema="", read_only=True)
            stored = links_touching(self._state, list(ids), links_max=links_max)
        return [link.as_link() for link in stored]

    def counts(self) -> Mapping[str, int]:
        """Return how many there are, by the words memories, vectors, outstanding, unembeddable."""
        nothing = dict.fromkeys(("memories", "vectors", "outstanding", "unembeddable"), 0)
        return self._read(_counts, empty=nothing)

    def close(self) -> None:
        """Let go of the index. Harmless twice."""
        with self._reading_links:
            if self._state is not None:
                self._state.close()
            self._state = None
        self._table = self._connection = None

    def _best(self, asked: Callable[[Any], tuple[Any, str]], hits_max: int) -> list[Hit]:
        """Return the best that the query *asked* finds by its column of scores, ties by id."""
        limit, nothing = min(hits_max, HITS_MAX), list[_Seen]()
        found = self._read(
            lambda table: _found(*asked(table), limit + TIES_SEEN_MAX), empty=nothing
        )
        self._places.note((id_, place) for id_, place, _ in found)
        hits = [Hit(id_, score) for id_, _, score in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def _read(self, action: Callable[[Any], T], *, empty: T) -> T:
        """Return what *action* reads from the newest version, or *empty* without a table."""
        with speaking_of_index(self._folder):
            try:
                table = self._newest(anew=False)
                return empty if table is None else action(table)
            except Exception as error:
                if not is_missing(error):
                    raise
            table = self._newest(anew=True)
            return empty if table is None else action(table)

    def _newest(self, *, anew: bool) -> Any | None:
        with self._opening:
            if self._table is None or anew:
                self._connection = connected(self._folder)
                self._table = opened(self._connection)
            else:
                self._table.checkout_latest()
            return self._table


def _nearest(table: Any, vector: Vector, where: Filter) -> tuple[Any, str]:
    query = table.search(vector, vector_column_name="vector", query_type="vector")
    query = query.distance_type("cosine").nprobes(PARTITIONS_PROBED).refine_factor(REFINED)
    query = query.where(condition(where, also=[is_true("has_vector")]), prefilter=True)
    return query, _DISTANCE


def _matching(table: Any, words: str, where: Filter) -> tuple[Any, str]:
    query = table.search(matching_any(words), query_type="fts")
    return query.where(condition(where), prefilter=True), "_score"


def _found(query: Any, measure: str, limit: int) -> list[_Seen]:
    """Return ids, places and scores: more is better, so a distance is turned round."""
    columns = query.select(["id", measure]).with_row_id(with_row_id=True).limit(limit).to_arrow()
    ids, places, measured = (columns[name].to_pylist() for name in ("id", "_rowid", measure))
    scores = [1 - distance for distance in measured] if measure == _DISTANCE else measured
    return list(zip(ids, places, scores, strict=True))


def _rows(table: Any, ids: Sequence[str], places: Places) -> dict[str, MemoryRow]:
    """Return the memories of *ids*: from where they were seen if they are there yet, else found."""
    found = _rows_at(table, places.of(ids), set(ids))
    for run in chunks([id_ for id_ in ids if id_ not in found]):
        query = table.search().where(is_one_of("id", run)).select(list(ROW_COLUMNS))
        found |= {record["id"]: memory_row(record) for record in query.to_arrow().to_pylist()}
    return {id_: found[id_] for id_ in ids if id_ in found}


def _rows_at(table: Any, places: Sequence[int], wanted: set[str]) -> dict[str, MemoryRow]:
    """Return those rows at *places* that are *wanted*: by now others may stand there, or none."""
    if not places:
        return {}
    read = table.take_row_ids(list(places)).select(list(ROW_COLUMNS)).to_arrow().to_pylist()
    return {record["id"]: memory_row(record) for record in read if record["id"] in wanted}


def _ordered(
    table: Any, where: str, columns: Sequence[str], rows_max: int, *, newest_first: bool = False
) -> list[MemoryRow]:
    from lancedb.query import ColumnOrdering  # noqa: PLC0415 - heavy

    if rows_max < 1:
        return []
    order = [ColumnOrdering(column_name=name, ascending=not newest_first) for name in columns]
    query = table.search().where(where).order_by(order).limit(min(rows_max, ROWS_MAX))
    return [memory_row(record) for record in query.select(list(ROW_COLUMNS)).to_arrow().to_pylist()]


def _counts(table: Any) -> dict[str, int]:
    memories, vectors = table.count_rows(), table.count_rows(is_true("has_vector"))
    unembeddable = table.count_rows("`why_none` IS NOT NULL")
    return {
        "memories": memories,
        "vectors": vectors,
        "outstanding": memories - vectors - unembeddable,
        "unembeddable": unembeddable,
    }
