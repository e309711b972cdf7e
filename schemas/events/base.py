"""What all events share: frozen facts without behaviour, which refuse unknown fields."""

from typing import ClassVar

from mnemolog.schemas.fields import (
    Amount,
    Count,
    Flag,
    Id,
    Identities,
    Identity,
    Ids,
    Instant,
    JsonMap,
    Name,
    Part,
    Said,
    Score,
    Share,
    Tags,
    Text,
    Texts,
)

__all__ = [
    "Amount",
    "Count",
    "Event",
    "Flag",
    "Id",
    "Identities",
    "Identity",
    "Ids",
    "Instant",
    "JsonMap",
    "ModelUse",
    "Name",
    "Part",
    "Said",
    "Score",
    "Share",
    "Tags",
    "Text",
    "Texts",
    "schema_id",
]


class ModelUse(Part):
    """Which model took part, and what it cost."""

    model: Said
    tokens_in: Count = 0
    tokens_out: Count = 0
    cost_usd: Amount | None = None


class Event(Part):
    """A fact that an agent's history keeps.

    `event_type` (without the "mnemolog." prefix) and `event_version` name its schema: they
    outlive the class. A default is part of the schema: to change one is a new version.
    """

    event_type: ClassVar[str]
    event_version: ClassVar[int] = 1

    tags: Tags = ()
    model_use: ModelUse | None = None


def schema_id(event_type: str, version: int) -> str:
    """Return the `dataschema` of an event: a URN of its type and version."""
    return f"urn:mnemolog:schema:{event_type}:{version}"
