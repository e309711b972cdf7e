"""Cutting and folding text so that no character breaks: what a person sees as one stays one."""

import re
import unicodedata
from typing import Final

import regex

ELLIPSIS: Final = "…"
_CHARACTER = regex.compile(r"\X")
_SPACES = regex.compile(r"\s+")
_SEPARATOR = re.compile("[\x1c-\x1f]")  # white space to Python, but not to Unicode
# Characters that stand alone, whatever stands before or behind them but a mark: ASCII but for
# the carriage return, Chinese and its punctuation.
_PLAIN = re.compile("[\x00-\x0c\x0e-\x7f\u3001-\u3020\u4e00-\u9fff\uff01-\uff60]*")


def cut(text: str, *, characters_max: int) -> str:
    """Return *text*, or its first characters and an ellipsis: at most *characters_max* in all.

    >>> cut("hello world", characters_max=6), cut("短", characters_max=6)
    ('hello…', '短')
    """
    if len(text) <= characters_max:
        return text
    if characters_max > 1 and _PLAIN.fullmatch(text, 0, characters_max + 1):
        return text[: characters_max - 1].rstrip() + ELLIPSIS  # nearly every text
    ends = [
        match.end()
        for match, _ in zip(_CHARACTER.finditer(text), range(characters_max + 1), strict=False)
    ]
    if len(ends) <= characters_max:
        return text
    return text[: ends[characters_max - 2]].rstrip() + ELLIPSIS if characters_max > 1 else ELLIPSIS


def cut_bytes(text: str, *, bytes_max: int) -> str:
    """Return the longest start of *text* that ends on a character and fits *bytes_max* of UTF-8."""
    if len(text.encode()) <= bytes_max:
        return text
    size = end = 0
    for match in _CHARACTER.finditer(text):
        size += len(match[0].encode())
        if size > bytes_max:
            break
        end = match.end()
    return text[:end]


def one_line(text: str) -> str:
    """Return *text* with every run of white space as one space."""
    if _SEPARATOR.search(text):
        return _SPACES.sub(" ", text).strip()
    return " ".join(text.split())  # the same, a few times faster


def normalised(text: str) -> str:
    """Return *text* as vectors and content hashes see it: NFC, white space folded.

    Two texts that a person can't tell apart give one vector and are forgotten together.
    """
    return one_line(unicodedata.normalize("NFC", text))
