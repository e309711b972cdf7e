"""Blobs: texts that are too large for an event and stand beside the log, each under its SHA-256.

The event keeps a head in each one's place, and its attribute `dataref` names them all:

    blobs?/text=<sha256>.<bytes>&/data/out=<sha256>.<bytes>

that is, a URI reference: a JSON pointer into `data`, percent-encoded, and the blob's SHA-256 and
size, in the order of the pointers. A blob holds its text's UTF-8 as it was given: a lone surrogate
or a NUL, which no event can hold, is there. A `dataref` of another form is somebody else's.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote

from pydantic import BaseModel

from mnemolog.schemas.errors import BlobDamaged, BlobMissing
from mnemolog.schemas.limits import BLOB_BYTES_MAX, EVENT_BLOBS_MAX
from mnemolog.schemas.values import REPLACEMENT, UNSAFE

PREFIX: Final = "blobs?"
DIGEST_PATTERN: Final = re.compile(r"[0-9a-f]{64}")
_REFERENCE = re.compile(r"(/[^=&]*)=([0-9a-f]{64})\.(0|[1-9][0-9]{0,15})")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_MARK: Final = "\ue000blob {}\ue000"  # a text that no event has, in the place of a head

Whole = TypeVar("Whole", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class BlobReference:
    """Where in an event's data the head of a text stands, and the blob that has it whole."""

    pointer: str  # a JSON pointer (RFC 6901) to a text in `data`
    sha256: str
    bytes: int


def digest_of(content: bytes) -> str:
    """Return the name of a blob: 64 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(content).hexdigest()


def blob_of(text: str) -> bytes:
    """Return the blob of *text*. What UTF-8 has no form for gets the one that Python gives it."""
    return text.encode("utf-8", "surrogatepass")


def text_of(blob: bytes) -> str:
    """Return the text whose blob this is, as it was given. Raises ValueError if it is no text."""
    return blob.decode("utf-8", "surrogatepass")


def written(references: Iterable[BlobReference]) -> str | None:
    """Return the attribute `dataref` that names *references*, or None if there are none.

    >>> written([BlobReference("/data/a b", "0" * 64, 9)])[:20]
    'blobs?/data/a%20b=00'
    """
    parts = [
        f"{quote(one.pointer, safe='/~')}={one.sha256}.{one.bytes}"
        for one in sorted(references, key=lambda one: one.pointer)
    ]
    return PREFIX + "&".join(parts) if parts else None


def references_in(dataref: str | None) -> tuple[BlobReference, ...]:
    """Return the blobs that *dataref* names; none where it is absent or no form of ours.

    What it takes `written` writes again to the same text, so that two texts never say the same.
    """
    if dataref is None or not dataref.startswith(PREFIX):
        return ()
    parts = dataref.removeprefix(PREFIX).split("&")
    found = [_reference(part) for part in parts[: EVENT_BLOBS_MAX + 1]]
    known = tuple(one for one in found if one is not None)
    is_ours = len(known) == len(parts) <= EVENT_BLOBS_MAX and written(known) == dataref
    return known if is_ours and len({one.pointer for one in known}) == len(known) else ()


def _reference(part: str) -> BlobReference | None:
    match = _REFERENCE.fullmatch(part)
    if match is None or int(match[3]) > BLOB_BYTES_MAX:
        return None
    return BlobReference(unquote(match[1]), match[2], int(match[3]))


def pointer_of(steps: Iterable[str | int]) -> str:
    """Return the JSON pointer of *steps*, with keys as an event can hold them.

    >>> pointer_of(["data", "a/b", 0])
    '/data/a~1b/0'
    """
    return "".join(f"/{_escaped(step)}" for step in steps)


def _escaped(step: str | int) -> str:
    return UNSAFE.sub(REPLACEMENT, str(step)).replace("~", "~0").replace("/", "~1")


def _steps(pointer: str) -> Iterator[str]:
    for part in pointer.split("/")[1:]:
        yield part.replace("~1", "/").replace("~0", "~")


def text_at(data: Any, pointer: str) -> str | None:
    """Return the text that *pointer* leads to in *data*, models in it included, or None."""
    for step in _steps(pointer):
        data = _child(data, step)
    return data if isinstance(data, str) else None


def _child(value: Any, step: str) -> Any:
    match value:
        case BaseModel():
            return getattr(value, step) if step in type(value).model_fields else None
        case dict():
            return value.get(step)
        case list() | tuple():
            is_there = _INDEX.fullmatch(step) and int(step) < len(value)
            return value[int(step)] if is_there else None
        case _:
            return None


def with_texts(model: Whole, texts: Mapping[str, str]) -> Whole:
    """Return *model* with each of *texts* at its pointer, which has to lead to a text.

    Nothing is validated: a whole text is longer than any that an event may hold.
    """
    for pointer, text in texts.items():
        assert text_at(model, pointer) is not None
        model = _with(model, list(_steps(pointer)), text)
    return model


def _with(value: Any, steps: list[str], text: str) -> Any:
    if not steps:
        return text
    step, *rest = steps
    changed = _with(_child(value, step), rest, text)
    match value:
        case BaseModel():
            return value.model_copy(update={step: changed})
        case dict():
            return {**value, step: changed}
        case _:
            items = list(value)
            items[int(step)] = changed
            return type(value)(items)


def no_blob(sha256: str) -> bytes:
    """Raise BlobMissing: who has no store has no blob."""
    raise BlobMissing(sha256, "this reader, which has no store of blobs")


def with_blobs(
    model: Whole, dataref: str | None, *, blob: Callable[[str], bytes], place: str
) -> Whole:
    """Return *model*, the data of an event at *place*, with its texts from *blob* for their heads.

    *blob* gives a blob for its SHA-256. Raises what it raises, with *place* in the message, and
    BlobDamaged for a blob that can't be of the text that is named.
    """
    texts = {}
    for one in references_in(dataref):
        if text_at(model, one.pointer) is None:
            continue  # of another producer's, or dropped by a newer version of its type
        try:
            texts[one.pointer] = _text(one, blob(one.sha256))
        except BlobDamaged as error:
            error.tell_place(f"{one.pointer} of {place}")
            raise
    return with_texts(model, texts)


def _text(named: BlobReference, content: bytes) -> str:
    if len(content) != named.bytes:
        reason = f"it has {len(content)} bytes, its event tells of {named.bytes}"
        raise BlobDamaged(named.sha256, reason)
    try:
        return text_of(content)
    except ValueError as error:
        raise BlobDamaged(named.sha256, "it is no UTF-8") from error


def lifted(
    dataref: str, data: dict[str, Any], lift: Callable[[dict[str, Any]], dict[str, Any]]
) -> str:
    """Return what *dataref* of *data* is after *lift*, which may move texts or drop them.

    Each head is marked, and looked for where it went: a step needs to know nothing of blobs.
    """
    references = [one for one in references_in(dataref) if text_at(data, one.pointer) is not None]
    if not references:
        return dataref
    marks = {_MARK.format(number): one for number, one in enumerate(references)}
    marked: Any = deepcopy(data)  # a step may change what it is given
    for mark, one in marks.items():
        marked = _with(marked, list(_steps(one.pointer)), mark)
    found = texts_in(lift(marked))
    moved = [replace(marks[text], pointer=at) for at, text in found if text in marks]
    return written(moved) or PREFIX


def texts_in(data: Any) -> Iterator[tuple[str, str]]:
    """Yield each text in *data* with its pointer; does not recurse."""
    waiting: list[tuple[str, Any]] = [("", data)]
    while waiting:
        pointer, value = waiting.pop()
        if isinstance(value, str):
            yield pointer, value
        elif isinstance(value, dict):
            waiting += [(f"{pointer}/{_escaped(key)}", item) for key, item in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(f"{pointer}/{index}", item) for index, item in enumerate(value)]
