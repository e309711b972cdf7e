"""The kinds of fields that events and their parts are made of.

Scalars are strict: a text is no number. Texts that say something are not blank. This module
knows no event, so that parts of events (a checkpoint, a policy) can be imported by themselves.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Final

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
    WithJsonSchema,
)

from mnemolog.schemas import limits
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.ids import check_id, check_identity, check_name
from mnemolog.schemas.times import instant, written

# What a person sees nothing of: white space of all kinds, zero-width marks, the byte order mark.
BLANKS: Final = (
    " \t\n\r\f\v\x1c\x1d\x1e\x1f\x85\xa0\u1680\u3000\u2028\u2029\u202f\u205f\u2060\ufeff"
    + "".join(map(chr, range(0x2000, 0x2010)))
)


def is_blank(text: str) -> bool:
    r"""Say whether a person sees nothing in *text*.

    >>> is_blank("\u3000\u200b\n"), is_blank("-")
    (True, False)
    """
    return not text.strip(BLANKS)


def _not_blank(text: str) -> str:
    if is_blank(text):
        raise ValueError("blank; a text says something")
    return text


def _named(check: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return *check* for a field: pydantic names the field, so only the limit is told on."""

    def run(value: Any) -> Any:
        try:
            return check(value, field="")
        except InvalidEvent as error:
            raise ValueError(error.limit) from error

    return run


def _instant(value: Any, *, field: str) -> datetime:
    return instant(value, field=field)[0]


def _in_schema(bytes_max: int) -> WithJsonSchema:
    """Return what JSON Schema can say of a text that is bounded in bytes."""
    described = f"1 to {bytes_max} bytes of UTF-8"
    return WithJsonSchema(
        {"type": "string", "minLength": 1, "maxLength": bytes_max, "description": described}
    )


Text = Annotated[StrictStr, Field(max_length=limits.TEXT_CHARS_MAX)]
Said = Annotated[Text, AfterValidator(_not_blank), Field(json_schema_extra={"minLength": 1})]
Id = Annotated[StrictStr, AfterValidator(_named(check_id)), _in_schema(limits.ID_BYTES_MAX)]
Identity = Annotated[
    StrictStr,
    AfterValidator(_named(check_identity)),
    WithJsonSchema(
        {
            "type": "string",
            "pattern": "^[0-9a-f]{32}$",
            "description": "32 hexadecimal digits: an event's identity, of its key, source and id",
        }
    ),
]
Name = Annotated[StrictStr, AfterValidator(_named(check_name)), _in_schema(limits.NAME_BYTES_MAX)]
Flag = StrictBool
Count = Annotated[StrictInt, Field(ge=0, le=2**63 - 1)]
Share = Annotated[float, Field(ge=0, le=1, strict=True, allow_inf_nan=False)]
Score = Annotated[float, Field(ge=-1, le=1, strict=True, allow_inf_nan=False)]
Amount = Annotated[float, Field(ge=0, strict=True, allow_inf_nan=False)]
Instant = Annotated[
    datetime,
    BeforeValidator(_named(_instant)),
    PlainSerializer(written, return_type=str, when_used="json"),
]
JsonMap = dict[str, Any]
Tags = Annotated[tuple[Name, ...], Field(max_length=limits.TAGS_MAX)]
Ids = Annotated[tuple[Id, ...], Field(max_length=limits.LIST_ITEMS_MAX)]
Identities = Annotated[tuple[Identity, ...], Field(max_length=limits.LIST_ITEMS_MAX)]
Texts = Annotated[tuple[Text, ...], Field(max_length=limits.LIST_ITEMS_MAX)]


class Part(BaseModel):
    """A piece of an event's content."""

    model_config = ConfigDict(frozen=True, extra="forbid")
