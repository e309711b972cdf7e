"""A formed memory as one line of JSON, for the row that keeps it. Times are microseconds."""

import json
from dataclasses import fields
from typing import Any, Final

from mnemolog.projections.formed_memory import FormedMemory
from mnemolog.projections.memories.moments import optional_microseconds, optional_moment
from mnemolog.schemas.positions import Position

_TIMES: Final = ("occurred_at", "valid_from", "valid_until", "recorded_at")
_LISTS: Final = ("tags", "entities", "from_events", "from_memories")
_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_NAMES: Final = tuple(item.name for item in fields(FormedMemory))


def formed_json(memory: FormedMemory) -> str:
    """Return *memory* as `formed_of` reads it."""
    values: dict[str, Any] = {name: getattr(memory, name) for name in _NAMES}
    for name in _TIMES:
        values[name] = optional_microseconds(values[name])
    return _ENCODER.encode(values)


def formed_of(line: str) -> FormedMemory:
    """Return what `formed_json` wrote."""
    values = json.loads(line)
    for name in _TIMES:
        values[name] = optional_moment(values[name])
    for name in _LISTS:
        values[name] = tuple(values[name])
    values["position"] = Position(*values["position"])
    return FormedMemory(**values)
