"""What all events share. An event is a frozen fact without behaviour; unknown fields are refused.

Scalars are strict: a text is no number. Texts that say something are not blank.
"""

from datetime import datetime
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    StrictBool,
    StrictInt,
    StrictStr,
)

from mnemolog.schemas import limits
from mnemolog.schemas.ids import check_id, check_name
from mnemolog.schemas.times import instant, written


def _not_blank(text: str) -> str:
    if not text.strip(_BLANKS):
        raise ValueError("blank; a text says something")
    return text


# Beside what str.strip knows: zero-width characters and the byte order mark.
_BLANKS = " \t\n\r\f\v\x1c\x1d\x1e\x1f\x85\xa0\u3000\u2000-\u200f\u2028\u2029\u2060\ufeff"

Text = Annotated[StrictStr, Field(max_length=limits.TEXT_CHARS_MAX)]
Said = Annotated[Text, AfterValidator(_not_blank)]
Id = Annotated[StrictStr, AfterValidator(lambda value: check_id(value, field="id"))]
Name = Annotated[StrictStr, AfterValidator(lambda value: check_name(value, field="name"))]
Flag = StrictBool
Count = Annotated[StrictInt, Field(ge=0, le=2**63 - 1)]
Share = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
Score = Annotated[float, Field(ge=-1, le=1, strict=True, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
Instant = Annotated[
    datetime,
    BeforeValidator(lambda value: instant(value, field="time")[0]),
    PlainSerializer(written, return_type=str, when_used="json"),
]
JsonMap = dict[str, Any]
Tags = Annotated[tuple[Name, ...], Field(max_length=limits.TAGS_MAX)]
Ids = Annotated[tuple[Id, ...], Field(max_length=limits.LIST_ITEMS_MAX)]
Texts = Annotated[tuple[Text, ...], Field(max_length=limits.LIST_ITEMS_MAX)]


class Part(BaseModel):
    """A piece of an event's content."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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
