"""Strict JSON in and out, and the checks that every value passes on its way to or from the log.

What `parse_json` takes, `json_bytes` can write again to the same value: no NaN, no doubled key,
integers with all their digits. Equal values are equal bytes.
"""

import json
import math
import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime
from itertools import islice
from json import encoder
from typing import Any, Final

from pydantic import BaseModel

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.limits import DEPTH_MAX, TIME_MAX, TIME_MIN
from mnemolog.schemas.times import instant, written

REPLACEMENT: Final = "�"  # stands where a lone surrogate or a NUL stood
INTEGER_BITS_MAX: Final = 14_000  # Python reads and writes at most 4,300 digits
REPAIRS_MAX: Final = 200_000  # of an event: more than one of the greatest size can have
REPAIRS_COUNTED: Final = 1_000
Repairs = dict[str, dict[str, str]]  # JSON pointer -> index in the text -> code point in hex

UNSAFE = re.compile("[\x00\ud800-\udfff]")


def _time_as_text(value: Any) -> str:
    if isinstance(value, datetime):
        return written(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


# What `json.JSONEncoder` makes anew for each value, which takes longer than to write most of them.
# It looks for no value that holds itself: such a one ends in a RecursionError.
_encoded: Final[Callable[[Any, int], tuple[str, ...]]] = encoder.c_make_encoder(  # type: ignore[attr-defined]
    None,  # markers
    _time_as_text,
    encoder.encode_basestring,
    None,  # indent
    ":",
    ",",
    True,  # noqa: FBT003 - sort_keys; it takes no names
    False,  # noqa: FBT003 - skipkeys
    False,  # noqa: FBT003 - allow_nan
)
quoted: Final = encoder.encode_basestring  # what `json_text` makes of a text, and nothing else
_ESCAPED_UNSAFE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")


def json_bytes(value: Any) -> bytes:
    """Return *value* as canonical JSON: sorted keys, no spaces, UTF-8, times in UTC as texts.

    >>> json_bytes({"b": 1, "a": "好"}).decode()
    '{"a":"好","b":1}'
    """
    return json_text(value).encode("utf-8")


def json_text(value: Any) -> str:
    """Return what `json_bytes` encodes."""
    return "".join(_encoded(value, 0))


def parse_json(data: bytes, *, field: str = "value", depth_max: int = DEPTH_MAX) -> Any:
    """Return the JSON value in *data*, which is strict: RFC 8259, no doubled key, in our bounds.

    Raises InvalidEvent with *field* on anything else: not UTF-8, NaN, an infinity (1e400 too),
    a key that stands twice, more than *depth_max* levels. Lone surrogates and NULs that were
    written as escapes pass; `cleaned` takes care of them.
    """
    try:
        value = _DECODER.decode(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidEvent(field, data[:40], f"not UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise InvalidEvent(field, data[:40], f"not JSON: {error.msg} at {error.pos}") from error
    except RecursionError as error:
        raise InvalidEvent(field, data[:40], f"nesting depth > {depth_max}") from error
    except ValueError as error:
        raise InvalidEvent(field, data[:40], f"not JSON: {error}") from error
    if data.count(b"{") + data.count(b"[") > depth_max:
        check_depth(value, field=field, depth_max=depth_max)
    return value


def may_need_cleaning(data: bytes) -> bool:
    """Say whether *data*, a JSON document, may hold a NUL or a lone surrogate."""
    return _ESCAPED_UNSAFE.search(data) is not None


def check_depth(value: Any, *, field: str, depth_max: int = DEPTH_MAX) -> None:
    """Raise InvalidEvent if *value* nests deeper than *depth_max*; never recurses."""
    level, depth = _containers([value]), 0
    while level:
        depth += 1
        if depth > depth_max:
            whole = _depth_from(level, depth)
            raise InvalidEvent(field, "…", f"nesting depth {whole} > limit {depth_max}")
        level = _inside(level)


def _depth_from(level: list[Any], depth: int) -> int:
    """Return the depth of the value whose containers at *depth* are *level*."""
    while depth < 100 * DEPTH_MAX and (level := _inside(level)):  # one that holds itself has none
        depth += 1
    return depth


def _inside(level: list[Any]) -> list[Any]:
    """Return the containers directly within those of *level*."""
    return _containers(
        child for node in level for child in (node.values() if isinstance(node, dict) else node)
    )


def _containers(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if isinstance(value, dict | list | tuple)]


class NotPlain(Exception):
    """A value is not JSON as it stands: `cleaned` has to look at it."""


def plain(value: Any, *, levels: int = DEPTH_MAX) -> Any:
    """Return what `cleaned` makes of *value* where that has nothing to replace or to refuse.

    Nearly every value is so, and this takes a fourth of the time. Raises NotPlain for any other,
    one that nests deeper than *levels* included.
    """
    kind = type(value)
    if kind is str:
        if _is_safe(value):
            return value
    elif kind is dict:
        if levels:
            return _plain_mapping(value, levels - 1)
    elif kind is list or kind is tuple:
        if levels:
            return [plain(item, levels=levels - 1) for item in value]
    elif _is_plain_scalar(value, kind):
        return value
    elif kind is datetime and value.tzinfo is UTC and TIME_MIN <= value < TIME_MAX:
        return written(value)
    raise NotPlain


def _plain_mapping(value: dict[Any, Any], levels: int) -> dict[str, Any]:
    plain_items = {}
    for key, item in value.items():
        if type(key) is not str or not _is_safe(key):
            raise NotPlain
        is_plain_text = type(item) is str and item.isascii() and "\0" not in item  # nearly always
        plain_items[key] = item if is_plain_text else plain(item, levels=levels)
    return plain_items


def _is_plain_scalar(value: Any, kind: type) -> bool:
    if value is None or kind is bool:
        return True
    if kind is int:
        return bool(value.bit_length() <= INTEGER_BITS_MAX)
    return kind is float and math.isfinite(value)


def _is_safe(text: str) -> bool:
    return "\0" not in text if text.isascii() else not UNSAFE.search(text)


def cleaned(value: Any, *, field: str, repairs: Repairs, pointer: str = "") -> Any:
    """Return *value* as JSON can hold it, and write into *repairs* what had to be replaced.

    Each lone surrogate or NUL in a text becomes U+FFFD, and *repairs* keeps the original under
    the text's JSON pointer. Times become texts, models their fields. NaN, infinities, keys that
    are no text and types that JSON lacks raise InvalidEvent with the path. Check the depth first.
    """
    match value:
        case None | bool() | int() | float():
            return _clean_number(value, field + pointer)
        case str():
            return _clean_text(value, repairs, pointer)
        case dict():
            return _clean_mapping(value, field, repairs, pointer)
        case list() | tuple():
            return [
                cleaned(item, field=field, repairs=repairs, pointer=f"{pointer}/{index}")
                for index, item in enumerate(value)
            ]
        case date():  # a datetime is one too
            return written(instant(value, field=field + pointer)[0])
        case BaseModel():
            fields = value.model_dump(exclude_defaults=True)
            return cleaned(fields, field=field, repairs=repairs, pointer=pointer)
        case _:
            raise InvalidEvent(field + pointer, value, f"{type(value).__name__} is not JSON")


def _clean_number(value: float | None, path: str) -> float | None:
    if isinstance(value, int) and value.bit_length() > INTEGER_BITS_MAX:
        raise InvalidEvent(path, "…", f"integers have at most {INTEGER_BITS_MAX} bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidEvent(path, value, "numbers are finite")
    return value


def _clean_mapping(
    value: dict[Any, Any], field: str, repairs: Repairs, pointer: str
) -> dict[str, Any]:
    clean: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise InvalidEvent(field + pointer, key, "keys are texts")
        safe = UNSAFE.sub(REPLACEMENT, key)
        if safe in clean:
            raise InvalidEvent(field + pointer, key, "a key stands once")
        path = f"{pointer}/{safe.replace('~', '~0').replace('/', '~1')}"
        if safe != key:
            _note_repairs(key, repairs, path + "~")  # "~" alone is no JSON pointer: the key itself
        clean[safe] = cleaned(item, field=field, repairs=repairs, pointer=path)
    return clean


def _clean_text(text: str, repairs: Repairs, pointer: str) -> str:
    if not UNSAFE.search(text):
        return text
    _note_repairs(text, repairs, pointer)
    return UNSAFE.sub(REPLACEMENT, text)


def _note_repairs(text: str, repairs: Repairs, pointer: str) -> None:
    found = islice(UNSAFE.finditer(text), REPAIRS_MAX + 1)
    repairs[pointer] = {str(m.start()): f"{ord(m[0]):x}" for m in found}
    many = len(repairs[pointer]) > REPAIRS_COUNTED  # a few more are no burden, and count nothing
    if many and sum(map(len, repairs.values())) > REPAIRS_MAX:
        limit = f"more than {REPAIRS_MAX} characters that JSON can't hold"
        raise InvalidEvent(pointer.removeprefix("/"), "…", limit)


def restored(text: str, repair: dict[str, str]) -> str:
    """Return the text as it was before `cleaned` replaced what *repair* says.

    >>> restored("caf?", {"3": "e9"})
    'café'
    """
    characters = list(text)
    for index, code in repair.items():
        characters[int(index)] = chr(int(code, 16))
    return "".join(characters)


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        keys = [key for key, _ in pairs]
        doubled = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"key {doubled!r} stands twice")
    return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits} is beyond a double's range")
    return number


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_no_doubles, parse_constant=_no_constant, parse_float=_finite
)
