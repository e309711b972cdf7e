"""Sentences of a text, with what is quoted in it out of sight of patterns.

Offsets are kept: a sentence as patterns see it and as it was written have the same length.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

READ_CHARACTERS_MAX: Final = 20_000  # where statements are looked for
HIDDEN: Final = "\x00"  # stands for each character of what is quoted; no pattern matches it

_QUOTED = re.compile(
    r"```.*?(?:```|\Z)|^[ \t]*>.*?$|`[^`\n]{1,300}`"
    r"|“[^”\n]{1,300}”|「[^」\n]{1,300}」|『[^』\n]{1,300}』|‘[^’\n]{1,300}’(?!\w)"
    r'|(?<![\w"])"[^"\n]{1,300}"(?!\w)|(?<![\w\'])\'[^\'\n]{1,300}\'(?!\w)',
    re.DOTALL | re.MULTILINE,
)
# A stop ends a sentence only before white space: v1.8 and payments.api are no ends.
_END = re.compile(
    r"(?<=[。！？；\n])|(?<=[.!?;])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bvs\.)(?<!\bMr\.)(?<!\bDr\.)(?=\s)"
)
_LEADING: Final = " \t\r\n-*•·#>)）—–"


class Sentence(NamedTuple):
    """A sentence as it was written, and as patterns see it."""

    written: str
    seen: str


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of *text* in order, without list marks; blank ones are left out.

    >>> [s.written for s in sentences('Use v1.8. He said "never". 必须加锁！')]
    ['Use v1.8.', 'He said "never".', '必须加锁！']
    """
    text = text[:READ_CHARACTERS_MAX]
    seen = _QUOTED.sub(_hidden, text).replace("’", "'")
    assert len(seen) == len(text)
    start = 0
    for end in [*(match.start() for match in _END.finditer(seen)), len(seen)]:
        left = start + len(seen[start:end]) - len(seen[start:end].lstrip(_LEADING))
        if written := text[left:end].strip():
            yield Sentence(written, seen[left : left + len(written)])
        start = end


def _hidden(quoted: re.Match[str]) -> str:
    return "".join("\n" if character == "\n" else HIDDEN for character in quoted[0])
