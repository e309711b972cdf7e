"""What of a text is for reading: encoded bytes in it are neither embedded nor split into words."""

from collections.abc import Callable
from typing import Final

import regex

from mnemolog.schemas.text import ELLIPSIS

BASE64_RUN_CHARACTERS_MIN: Final = 256  # a shorter run may be a long name or a path
SHOWN_CHARACTERS: Final = 24  # of such a run, to a person

_DATA_URI = regex.compile(
    r"data:(?P<type>[\w.+-]+/[\w.+-]+)?(?:;(?!base64,)[\w.+=-]+)*+;base64,\s*+"
    r"(?:[A-Za-z0-9+/_-]|%[0-9A-Fa-f]{2})*+"
    r"(?:\s++[A-Za-z0-9+/_-]{40,})*+"
    r"(?:=|%3[Dd])*+",
    regex.IGNORECASE,
)
_BASE64_RUN = regex.compile(rf"[A-Za-z0-9+/_-]{{{BASE64_RUN_CHARACTERS_MIN},}}+={{0,2}}")
_MIXED = (regex.compile("[a-z]"), regex.compile("[A-Z]"), regex.compile("[0-9]"))


def without_base64(text: str) -> str:
    """Return *text* with each data URI as its media type, and other long base64 as a space.

    >>> without_base64("see data:image/png;base64,iVBORw0KGgo= here")
    'see  image/png  here'
    """
    return _replaced(text, uri=_media_type, run=lambda _: " ")


def with_base64_cut(text: str) -> str:
    """Return *text* as a person reads it: of each data URI and other long base64 its start alone.

    >>> with_base64_cut("see data:image/png;base64,iVBORw0KGgo= here")
    'see data:image/png;base64,… here'
    """
    return _replaced(text, uri=_head_of_uri, run=lambda run: run[:SHOWN_CHARACTERS] + ELLIPSIS)


def _replaced(
    text: str, *, uri: Callable[[regex.Match[str]], str], run: Callable[[str], str]
) -> str:
    is_short = len(text) < BASE64_RUN_CHARACTERS_MIN
    # A pattern that ignores case takes a long s for an s.
    if "base64" in text.lower() or (not is_short and "ſ" in text):
        text = _DATA_URI.sub(uri, text)
    elif is_short or max(map(len, text.split()), default=0) < BASE64_RUN_CHARACTERS_MIN:
        return text  # nearly every text: no run can be long enough
    return _BASE64_RUN.sub(lambda found: run(found[0]) if _is_mixed(found[0]) else found[0], text)


def _media_type(found: regex.Match[str]) -> str:
    return f" {found['type'] or ''} "


def _head_of_uri(found: regex.Match[str]) -> str:
    is_cut = found.string.startswith(ELLIPSIS, found.end())  # before it came to the log
    return f"data:{found['type'] or ''};base64,{'' if is_cut else ELLIPSIS}"


def _is_mixed(run: str) -> bool:
    """Say whether *run* mixes cases and digits, as base64 does; a person may write another."""
    return all(kind.search(run) for kind in _MIXED)
