"""The columns of the recall index, and how memories become rows of it and come back.

The schema is explicit: a batch whose vectors are all null, or whose lists are all empty, has it
too. What is text in the index is escaped by `lance_filters` and nowhere else.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa

from mnemolog.projections.formed_memory import FormedMemory
from mnemolog.projections.memories.composing import Composed
from mnemolog.projections.memories.embedding import Vector
from mnemolog.projections.memories.lexical import index_text
from mnemolog.projections.memories.rows import MemoryRow
from mnemolog.projections.memories.state import StoredMemory
from mnemolog.projections.memories.state_schema import INDEX_FOLDER
from mnemolog.schemas.positions import Position

TABLE: Final = "memories"
FOLDER: Final = INDEX_FOLDER

_MOMENT: Final = pa.timestamp("us", tz="UTC")
_TEXTS: Final = pa.list_(pa.string())
_FIELDS: "Final[list[pa.Field[Any]]]" = [
    pa.field("id", pa.string(), nullable=False),
    pa.field("kind", pa.string()),
    pa.field("text", pa.string()),
    pa.field("levels", pa.string()),  # JSON: level -> text
    pa.field("importance", pa.int32()),  # thousandths
    pa.field("confidence", pa.int32()),  # thousandths
    pa.field("stated_by", pa.string()),
    pa.field("tags", _TEXTS),
    pa.field("entities", _TEXTS),
    pa.field("reason", pa.string()),
    pa.field("occurred_at", _MOMENT),
    pa.field("valid_from", _MOMENT),
    pa.field("valid_until", _MOMENT),
    pa.field("superseded", pa.bool_()),
    pa.field("superseded_by", pa.string()),
    pa.field("archived", pa.bool_()),
    pa.field("agent", pa.string()),
    pa.field("user", pa.string()),
    pa.field("project", pa.string()),
    pa.field("session", pa.string()),
    pa.field("task", pa.string()),
    pa.field("event_id", pa.string()),
    pa.field("event_type", pa.string()),
    pa.field("identity", pa.string()),
    pa.field("key", pa.string()),
    pa.field("ordinal", pa.int32()),
    pa.field("partition", pa.int32()),
    pa.field("offset", pa.int64()),
    pa.field("recorded_at", _MOMENT),
    pa.field("from_events", _TEXTS),
    pa.field("from_memories", _TEXTS),
    pa.field("vector_key", pa.string()),
    pa.field("why_none", pa.string()),  # why there can be no vector
    pa.field("has_vector", pa.bool_()),
]
_ROW: Final = pa.schema(_FIELDS)
ROW_COLUMNS: Final = tuple(_ROW.names)  # what a `MemoryRow` is read from
_TIMES: Final = ("occurred_at", "valid_from", "valid_until", "recorded_at")
# What other events may change of a memory; the rest is as it was formed.
_OF_COMPOSED: Final = ("importance", "valid_until", "superseded", "superseded_by", "archived")
_OF_FORMED: Final = tuple(
    item.name
    for item in fields(FormedMemory)
    if item.name in ROW_COLUMNS and item.name not in _OF_COMPOSED
)
_SAME: Final = tuple(
    name
    for name in ROW_COLUMNS
    if name not in {"levels", "importance", "confidence", "partition", "offset", "why_none"}
)


@dataclass(frozen=True, slots=True)
class Served:
    """A memory to write, and its vector where it is known."""

    stored: StoredMemory
    vector: Vector | None


def index_schema(dimensions: int) -> pa.Schema:
    """Return the schema of an index whose vectors have *dimensions* numbers."""
    return (
        _ROW.append(pa.field("words", pa.string()))
        .append(pa.field("seq", pa.int64()))
        .append(pa.field("vector", pa.list_(pa.float32(), dimensions)))
    )


def vectors_schema(dimensions: int) -> pa.Schema:
    """Return the columns that a vector that comes later fills in."""
    names = ("id", "has_vector", "vector")
    return pa.schema([index_schema(dimensions).field(name) for name in names])


REASONS_SCHEMA: Final = pa.schema([_ROW.field("id"), _ROW.field("why_none")])


def index_table(served: Sequence[Served], *, sequence: int, dimensions: int) -> pa.Table:
    """Return *served* as rows of the index, written under *sequence*."""
    schema = index_schema(dimensions)
    columns = _columns(served, sequence)
    of_rows = schema.remove(schema.get_field_index("vector"))
    arrays = [pa.array(columns[field.name], type=field.type) for field in of_rows]
    table = pa.Table.from_arrays(arrays, schema=of_rows)
    vectors = vector_array([one.vector for one in served], dimensions=dimensions)
    return table.append_column(schema.field("vector"), vectors)


def vector_array(vectors: Iterable[Vector | None], *, dimensions: int) -> "pa.Array[Any]":
    """Return *vectors* as a column; None is null."""
    given = list(vectors)
    nothing = np.zeros(dimensions, dtype=np.float32)
    matrix = np.array([nothing if v is None else v for v in given], dtype=np.float32)
    values = pa.array(matrix.reshape(-1), type=pa.float32())
    mask = pa.array([vector is None for vector in given], type=pa.bool_())
    return pa.FixedSizeListArray.from_arrays(values, dimensions, mask=mask)


def _columns(served: Sequence[Served], sequence: int) -> dict[str, list[Any]]:
    """Return the columns but for the vector; Arrow takes columns faster than rows."""
    stored = [one.stored for one in served]
    composed = [one.composed for one in stored]
    formed = [one.formed for one in composed]
    return {
        **{name: [getattr(one, name) for one in formed] for name in _OF_FORMED},
        **{name: [getattr(one, name) for one in composed] for name in _OF_COMPOSED},
        "levels": [_levels_text(one) for one in composed],
        "partition": [one.position.partition for one in formed],
        "offset": [one.position.offset for one in formed],
        "vector_key": [one.vector_key for one in stored],
        "why_none": [one.why_none for one in stored],
        "has_vector": [one.vector is not None for one in served],
        "words": [_words(one) for one in formed],
        "seq": [sequence] * len(served),
    }


def _levels_text(composed: Composed) -> str | None:
    return json.dumps(composed.levels, ensure_ascii=False) if composed.levels else None


def _words(formed: FormedMemory) -> str:
    """Tags and entities first: what of a long text is beyond the bound is not indexed."""
    return index_text("\n".join((*formed.tags, *formed.entities, formed.text)))


def memory_row(record: Mapping[str, Any]) -> MemoryRow:
    """Return a record of `ROW_COLUMNS` as recall reads it."""
    same = {name: record[name] for name in _SAME} | {name: _utc(record[name]) for name in _TIMES}
    levels = json.loads(record["levels"] or "{}")
    return MemoryRow(
        **same | {"vector_key": None if record["why_none"] else record["vector_key"]},
        levels={int(level): text for level, text in levels.items()},
        importance=record["importance"] / 1000,
        confidence=record["confidence"] / 1000,
        position=Position(record["partition"], record["offset"]),
    )


def _utc(moment: datetime | None) -> datetime | None:
    """Return *moment* with the zone object that all times of ours have."""
    return None if moment is None else moment.astimezone(UTC)
