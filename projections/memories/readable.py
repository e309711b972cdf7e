"""What of a text is for reading: encoded bytes in it are neither embedded nor split into words."""

from typing import Final

import regex

BASE64_RUN_CHARACTERS_MIN: Final = 256  # a shorter run may be a long name or a path

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
    is_short = len(text) < BASE64_RUN_CHARACTERS_MIN
    # A pattern that ignores case takes a long s for an s.
    if "base64" in text.lower() or (not is_short and "ſ" in text):
        text = _DATA_URI.sub(_media_type, text)
    elif is_short or max(map(len, text.split()), default=0) < BASE64_RUN_CHARACTERS_MIN:
        return text  # nearly every text: no run can be long enough
    return _BASE64_RUN.sub(_space_for_base64, text)


def _media_type(found: regex.Match[str]) -> str:
    return f" {found['type'] or ''} "


def _space_for_base64(found: regex.Match[str]) -> str:
    """Keep a run that a person or a test may have written: base64 mixes cases and digits."""
    run = found[0]
    return " " if all(kind.search(run) for kind in _MIXED) else run
