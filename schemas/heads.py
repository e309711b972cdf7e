"""What an event keeps of a text that stands beside the log: its start, or what is no picture in it.

A head is short, valid UTF-8, ends between two characters, and tells so by an ellipsis. Of a data
URI it has the kind alone: packed bytes say nothing in words, and no model is to read them.
"""

import re
from collections.abc import Iterator
from typing import Final

from mnemolog.schemas.fields import is_blank
from mnemolog.schemas.text import ELLIPSIS, cut_bytes
from mnemolog.schemas.values import REPLACEMENT, UNSAFE

# A head may end within a character that began before its end; nobody writes longer ones.
CHARACTER_CODE_POINTS_MAX: Final = 256

_DATA_URI = re.compile(r"data:(?=[^,\s]{0,255}[/;])[^,\s\"'<>()]{0,255},", re.IGNORECASE)
_EMBEDDED = re.compile(r"(data:[\w.+/;=-]{0,255};base64,)[A-Za-z0-9+/=_%-]{256,}", re.IGNORECASE)


def head_of(text: str, *, bytes_max: int, whole: int = 0) -> str:
    """Return the head of *text*: at most *bytes_max* of UTF-8, its ellipsis included.

    Packed bytes within it are left out first; what is left then stays if it fits *whole*. Of a
    text in which a person sees nothing, nothing is left.

    >>> head_of("data:image/png;base64," + "iVBORw0K" * 99, bytes_max=99)
    'data:image/png;base64,…'
    >>> head_of("好好学习", bytes_max=10)
    '好好…'
    """
    if is_blank(text):
        return ""
    told = UNSAFE.sub(REPLACEMENT, _told(text))
    if len(told.encode()) <= max(bytes_max, whole):
        return told
    start = told[: bytes_max + CHARACTER_CODE_POINTS_MAX]
    return cut_bytes(start, bytes_max=bytes_max - len(ELLIPSIS.encode())).rstrip() + ELLIPSIS


def data_uris(text: str) -> Iterator[str]:
    """Yield the data URIs in *text*: itself if it is one, else those with packed bytes in it."""
    if _DATA_URI.match(text):
        yield text
    else:
        yield from (match[0] for match in _EMBEDDED.finditer(text))


def _told(text: str) -> str:
    """Return what *text* says in words."""
    uri = _DATA_URI.match(text)
    if uri is not None:
        return uri[0] + ELLIPSIS
    return _EMBEDDED.sub(lambda match: match[1] + ELLIPSIS, text)
