"""What the content digest covers of the memories: what they say, not where or when they were read.

No positions, no recorded_at, no vectors, no floats: shares are thousandths, times microseconds.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemolog.projections.digests import ContentRow
from mnemolog.projections.memories.moments import optional_microseconds
from mnemolog.projections.memories.sqlite_links import every_link
from mnemolog.schemas.ids import joined

_COVERED: Final = (
    *("kind", "text", "importance", "confidence", "stated_by", "tags", "entities", "reason"),
    *("superseded", "superseded_by", "archived"),
    *("agent", "user", "project", "session", "task"),
    *("event_id", "event_type", "identity", "ordinal", "from_events", "from_memories"),
    "vector_key",
)
_TIMES: Final = ("occurred_at", "valid_from", "valid_until")


def covered_memory(record: Mapping[str, Any]) -> ContentRow:
    """Return the covered row of a record of the index."""
    values: dict[str, Any] = {name: record[name] for name in _COVERED}
    values |= {name: optional_microseconds(record[name]) for name in _TIMES}
    values["levels"] = json.loads(record["levels"] or "{}")
    return ContentRow(record["key"], "memories", record["id"], values)


def covered_links(connection: sqlite3.Connection) -> Iterator[ContentRow]:
    """Yield the covered row of each link between two memories that are there."""
    for link in every_link(connection):
        row_id = joined((link.from_memory, link.to_memory, link.kind, link.identity))
        values = {
            "from": link.from_memory,
            "to": link.to_memory,
            "kind": link.kind,
            "score": link.score,
            "cause": link.identity,
        }
        yield ContentRow(link.key, "links", row_id, values)
