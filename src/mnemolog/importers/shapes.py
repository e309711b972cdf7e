"""What stands in a source's JSON, if it has the shape that is asked for; else nothing does."""

from collections.abc import Mapping
from typing import Any

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.ids import check_id, check_name


def mapping(value: Any) -> dict[str, Any]:
    """Return *value* if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: Any) -> list[Any]:
    """Return *value* if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text_or_none(value: Any) -> str | None:
    """Return *value* if it is a text that is not empty."""
    return value if isinstance(value, str) and value else None


def text_at(value: Any, name: str) -> str:
    """Return the text *name* of an object, or an empty one."""
    text = value.get(name) if isinstance(value, Mapping) else None
    return text if isinstance(text, str) else ""


def name_or_none(value: Any) -> str | None:
    """Return *value* if it may be a name."""
    try:
        return check_name(value, field="name")
    except InvalidEvent:
        return None


def id_or_none(value: Any) -> str | None:
    """Return *value* if it may be an id."""
    try:
        return check_id(value, field="id")
    except InvalidEvent:
        return None
