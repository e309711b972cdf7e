"""What of an event's fields goes into blobs, and what stays as a head. Pure, and done once.

Texts are cut, never the data around them: an event's ids, numbers and shape stay what they are,
and whatever reads it needs no blob. Texts are cut as they were given, before they are checked and
repaired: a blob has each of their characters.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from pydantic import BaseModel

from mnemolog.schemas.blobs import BlobReference, blob_of, digest_of, pointer_of
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.heads import data_uris, head_of
from mnemolog.schemas.limits import (
    BLOB_BYTES_MAX,
    EVENT_BLOBS_BYTES_MAX,
    EVENT_BLOBS_MAX,
    EVENT_BYTES_MAX,
)
from mnemolog.schemas.values import check_depth

TEXT_BYTES_MAX: Final = 262_144  # of a text that stays in its event, unless a setting says so
DATA_URI_BYTES_MAX: Final = 65_536  # of a data URI that does
HEAD_BYTES: Final = 8_192
SHARE_OF_EVENT: Final = 16  # a head takes at most this part of an event
SHARE_OF_HEAD: Final = 8  # where heads are too many, each gets this part of one
FITTED_BYTES_MIN: Final = 4_096  # of a text that is cut only to make its event fit
REFERENCE_BYTES: Final = 100  # what `dataref` takes for a blob, beside its pointer
BYTES_A_CHARACTER: Final = 4  # of UTF-8, at most


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Up to which size a text, a data URI and an encoded event stay as they are; in bytes."""

    text: int = TEXT_BYTES_MAX
    data_uri: int = DATA_URI_BYTES_MAX
    event: int = EVENT_BYTES_MAX

    @property
    def head(self) -> int:
        """How large a head is, at most."""
        return min(HEAD_BYTES, self.event // SHARE_OF_EVENT)

    @cached_property
    def harmless(self) -> int:
        """With no more characters and values in all nothing can be too large, however encoded."""
        return min(self.text // BYTES_A_CHARACTER, self.data_uri, self.event // SHARE_OF_EVENT)


SIZES: Final = Sizes()


def may_be_large(fields: Mapping[str, Any], sizes: Sizes) -> bool:
    """Say whether something in *fields* may have to be cut. Nearly always not, and this is quick.

    Ends for any value, one that holds itself included.
    """
    left = sizes.harmless
    waiting: list[Any] = [fields.values()]
    while waiting and left >= 0:
        for value in waiting.pop():
            kind = value.__class__
            if kind is str:
                left -= len(value)
            elif kind is dict:
                waiting.append(value)  # a key takes room as a text does
                waiting.append(value.values())
            elif kind is list or kind is tuple:
                waiting.append(value)
            elif isinstance(value, BaseModel):
                waiting.append(vars(value).values())
            elif isinstance(value, str | dict | list | tuple):
                return True  # a kind of somebody's own: have the longer look
            left -= 1
    return left < 0


class Cutting:
    """An event's fields on their way into it: `fields`, and the `blobs` that they need by digest.

    Raises InvalidEvent, with both sizes, for what is too large for a blob too.
    """

    def __init__(self, given: Mapping[str, Any], *, event_type: str, sizes: Sizes = SIZES) -> None:
        """Cut what is larger than *sizes* says. Raises InvalidEvent for what nests too deeply."""
        check_depth(dict(given), field=event_type)
        self.fields: dict[str, Any] = _copied(dict(given))
        self.blobs: dict[str, bytes] = {}
        self._sizes = sizes
        self._places = list(_places(self.fields))
        for place in self._places:
            if self._is_too_large(place):
                self._cut(place, head_of(place.text, bytes_max=sizes.head, whole=sizes.text))

    @property
    def references(self) -> list[BlobReference]:
        """The blobs, and where in the fields their heads stand."""
        return [place.reference for place in self._places if place.reference is not None]

    def shrink(self, excess: int) -> bool:
        """Cut further, the largest texts first, until *excess* bytes are saved; say if any were.

        An event of many texts, none of which is too large by itself, is made to fit so.
        """
        head_bytes, is_smaller = self._sizes.head // SHARE_OF_HEAD, False
        for place in sorted(self._places, key=lambda place: (-place.kept, place.pointer)):
            more = 0 if place.reference else REFERENCE_BYTES + len(place.pointer)
            gain = place.kept - head_bytes - more
            if excess <= 0 or gain <= 0:
                break
            self._cut(place, head_of(place.text, bytes_max=head_bytes))
            excess, is_smaller = excess - gain, True
        return is_smaller

    def _is_too_large(self, place: "_Place") -> bool:
        if place.size > self._sizes.text:
            return True
        if place.size <= self._sizes.data_uri:
            return False
        return any(len(uri) > self._sizes.data_uri for uri in data_uris(place.text))

    def _cut(self, place: "_Place", head: str) -> None:
        if place.reference is None:
            blob = blob_of(place.text)
            place.reference = BlobReference(place.pointer, digest_of(blob), len(blob))
            self.blobs[place.reference.sha256] = blob
            self._check_bounds(place)
        place.holder[place.key] = head
        place.kept = len(head.encode())

    def _check_bounds(self, place: "_Place") -> None:
        texts, size = len(self.references), sum(one.bytes for one in self.references)
        if place.size > BLOB_BYTES_MAX:
            limit = f"{place.size} bytes; a text has at most {BLOB_BYTES_MAX}"
        elif size > EVENT_BLOBS_BYTES_MAX:
            limit = f"{size} bytes of large texts; an event has at most {EVENT_BLOBS_BYTES_MAX}"
        elif texts > EVENT_BLOBS_MAX:
            limit = f"{texts} large texts; an event has at most {EVENT_BLOBS_MAX}"
        else:
            return
        field = place.pointer.removeprefix("/").replace("/", ".")
        raise InvalidEvent(field, head_of(place.text, bytes_max=self._sizes.head), limit)


@dataclass(slots=True)
class _Place:
    """A text that may be cut, where it stands: in `holder` under `key`."""

    holder: Any
    key: Any
    pointer: str
    text: str
    size: int  # bytes of the text
    kept: int  # bytes of what stands there now
    reference: BlobReference | None = None


def _copied(value: Any) -> Any:
    """Return *value* with dicts and lists of its own, models as their fields: as it is written."""
    match value:
        case BaseModel():
            fields = value.model_dump(exclude_defaults=True)
            check_depth(fields, field=type(value).__name__)
            return _copied(fields)
        case dict():
            return {key: _copied(item) for key, item in value.items()}
        case list() | tuple():
            return [_copied(item) for item in value]
        case _:
            return value


def _places(data: dict[str, Any]) -> Iterator[_Place]:
    """Yield each text of *data* that is worth cutting."""
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:
        above, holder = waiting.pop()
        for key, value in holder.items() if isinstance(holder, dict) else enumerate(holder):
            if isinstance(value, dict | list):
                waiting.append((above + pointer_of([key]), value))
            elif isinstance(value, str):
                size = len(value) if value.isascii() else len(blob_of(value))
                if size >= FITTED_BYTES_MIN:
                    pointer = above + pointer_of([key])
                    yield _Place(holder, key, pointer, value, size, kept=size)
