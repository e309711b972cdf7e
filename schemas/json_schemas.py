"""JSON Schema 2020-12 of events, made from their models, for those who publish without our SDK.

A schema takes whatever the codec takes; it can't say all that the codec refuses (bytes, blanks,
trees). What the codec writes is always valid by it.
"""

from typing import Any, Final

from mnemolog.schemas.events.base import Event, schema_id

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def json_schema(event: type[Event]) -> dict[str, Any]:
    """Return the schema of *event*'s data, in the version that its model has."""
    made = event.model_json_schema(mode="validation")
    schema: dict[str, Any] = _without_titles(made)
    return {
        "$schema": DIALECT,
        "$id": schema_id(event.event_type, event.event_version),
        "title": event.event_type,
        **schema,
    }


def file_name(event: type[Event]) -> str:
    """Return what the file of *event*'s schema is called."""
    return f"{event.event_type}.{event.event_version}.json"


def _without_titles(schema: Any) -> Any:
    """Return *schema* without the titles that pydantic makes of Python's names."""
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _without_titles(value)
        for name, value in schema.items()
        if name != "title" or not isinstance(value, str)
    }
