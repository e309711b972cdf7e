"""The columns of the recall index, and how memories become rows of it and come back.

The schema is explicit: a batch whose vectors are all null, or whose lists are all empty, has it
too. What is text in the index is escaped by `lance_filters` and nowhere else.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa

from mnemolog.projections.memories.embedding import Vector
from mnemolog.projections.memories.lexical import index_text
from mnemolog.projections.memories.rows import MemoryRow
from mnemolog.projections.memories.state import StoredMemory
from mnemolog.schemas.positions import Position

TABLE: Final = "memories"
FOLDER: Final = "lance"

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
    rows = [_index_row(one, sequence) for one in served]
    table = pa.Table.from_pylist(rows, schema=schema.remove(schema.get_field_index("vector")))
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


def _index_row(served: Served, sequence: int) -> dict[str, Any]:
    composed = served.stored.composed
    formed = composed.formed
    said = {name: getattr(formed, name) for name in ROW_COLUMNS if hasattr(formed, name)}
    return {
        **said,
        "levels": json.dumps(composed.levels, ensure_ascii=False) if composed.levels else None,
        "importance": composed.importance,
        "valid_until": composed.valid_until,
        "superseded": composed.superseded,
        "superseded_by": composed.superseded_by,
        "archived": composed.archived,
        "partition": formed.position.partition,
        "offset": formed.position.offset,
        "vector_key": served.stored.vector_key,
        "why_none": served.stored.why_none,
        "has_vector": served.vector is not None,
        # Tags and entities first: what of a long text is beyond the bound is not indexed.
        "words": index_text("\n".join((*formed.tags, *formed.entities, formed.text))),
        "seq": sequence,
    }


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
