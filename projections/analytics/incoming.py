"""What of a batch is handed to SQL as Arrow: the events as bytes, the memories that they form.

Pure. What SQL can't read as exactly as the codec does is read here: times within an event's data,
which come in any RFC 3339 form, and a guest's names, which count only where they fit.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import pyarrow as pa

from mnemolog.projections.analytics.arrow_rows import Columns
from mnemolog.projections.batch import arrow
from mnemolog.projections.formed_memory import FormedMemory
from mnemolog.schemas.blobs import references_in
from mnemolog.schemas.decoded import Guest, Ours
from mnemolog.schemas.envelope import scope
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.events.memory import MemorySuperseded
from mnemolog.schemas.times import microseconds
from mnemolog.schemas.values import json_bytes, parse_json

MEMORY_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("memory", "identity", "event_id", "key"), "string"),
    **dict.fromkeys(("agent", "user_id", "project", "session", "task"), "string"),
    **dict.fromkeys(("occurred_us", "valid_from_us", "valid_until_us"), "int64"),
    **dict.fromkeys(("kind", "text", "stated_by", "reason", "event_type"), "string"),
    **dict.fromkeys(("ordinal", "importance", "confidence", "log_partition"), "int32"),
    "log_offset": "int64",
    **dict.fromkeys(("tags", "entities", "from_events", "from_memories"), "strings"),
}

_LISTS: Final = ("tags", "entities", "from_events", "from_memories")
_ALIKE: Final = (
    *("identity", "event_id", "event_type", "key", "agent", "project", "session", "task"),
    *("kind", "text", "stated_by", "reason", "ordinal", "importance", "confidence"),
)


def incoming(items: Sequence[Ours | Guest]) -> pa.Table:
    """Return *items* as the table that `create_batch.sql` reads."""
    table = pa.Table.from_batches([arrow(items)])
    if any(isinstance(item, Guest) for item in items):
        readable = pa.array([_readable(item) for item in items], pa.binary())
        table = table.set_column(table.column_names.index("canonical"), "canonical", readable)
    large = [references_in(item.envelope.dataref) for item in items]
    sizes = [sum(one.bytes for one in references) for references in large]
    more: dict[str, pa.Array[Any]] = {
        "guest": pa.array([isinstance(item, Guest) for item in items], pa.bool_()),
        "assumed_utc": pa.array([item.envelope.assumed_utc for item in items], pa.bool_()),
        "large_texts": pa.array(map(len, large), pa.int32()),
        "large_text_bytes": pa.array(sizes, pa.int64()),
        "named_at": pa.array([_named_at(item) for item in items], pa.timestamp("us", tz="UTC")),
    }
    for name, column in more.items():
        table = table.append_column(name, column)
    return table


def _readable(item: Ours | Guest) -> bytes:
    """Return an event's canonical bytes; a guest's without what does not fit our names."""
    if isinstance(item, Ours):
        return item.canonical
    document = parse_json(item.canonical)
    data = document.get("data")
    if "data_base64" in document:
        data = {"data_base64": document["data_base64"]}
    envelope = item.envelope
    named: dict[str, Any] = {"id": envelope.id, "source": envelope.source, "type": item.event_type}
    return json_bytes({**scope(envelope), **named, **({} if data is None else {"data": data})})


def _named_at(item: Ours | Guest) -> datetime | None:
    """Return the time that an event names in its data, of those whose tables have one."""
    match item:
        case Ours(recorded=recorded):
            match recorded.event:
                case CheckpointSaved(checkpoint=checkpoint):
                    return checkpoint.timestamp
                case MemorySuperseded(valid_until=valid_until):
                    return valid_until
                case _:
                    return None
        case _:
            return None


def memory_columns(memories: Sequence[FormedMemory]) -> Columns:
    """Return *memories* as the columns of `MEMORY_TYPES`."""
    columns: dict[str, list[Any]] = {
        name: [getattr(memory, name) for memory in memories] for name in _ALIKE
    }
    return {
        **columns,
        **{name: [list(getattr(memory, name)) for memory in memories] for name in _LISTS},
        "memory": [memory.id for memory in memories],
        "user_id": [memory.user for memory in memories],
        "occurred_us": [_us(memory.occurred_at) for memory in memories],
        "valid_from_us": [_us(memory.valid_from) for memory in memories],
        "valid_until_us": [_us(memory.valid_until) for memory in memories],
        "log_partition": [memory.position.partition for memory in memories],
        "log_offset": [memory.position.offset for memory in memories],
    }


def _us(moment: datetime | None) -> int | None:
    return None if moment is None else microseconds(moment)
