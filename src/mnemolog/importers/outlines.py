"""What the beginning of a JSON file shows of its shape, before anything is parsed."""

import re
from collections.abc import Iterator
from typing import Final

_LINES_MAX: Final = 5  # a file of JSON Lines may begin with a damaged one
_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*+)("|\Z)|[\[\]{}:,]', re.DOTALL)


def outlines(head: bytes) -> Iterator[frozenset[str]]:
    """Yield the keys of the first object in *head*, and of those that begin its next lines.

    Only as far as *head* reaches: a key that stands behind it is missing.

    >>> [sorted(keys) for keys in outlines(b'[{"role": "user", "content": {"x": 1}')]
    [['content', 'role']]
    """
    lines = head.split(b"\n", _LINES_MAX)
    yield _keys(head)
    for line in lines[1:]:
        if line.startswith(b"{"):
            yield _keys(line)


def _keys(head: bytes) -> frozenset[str]:
    keys: set[str] = set()
    depth = level = 0  # level: the first object's depth
    text = None
    for token in _TOKEN.finditer(head):
        mark = token[0][:1]
        if mark == b":" and text is not None and depth == level:
            keys.add(text.decode("utf-8", "replace"))
        elif mark in b"[{":
            depth += 1
            level = level or (depth if mark == b"{" else 0)
        elif mark in b"]}":
            depth -= 1
            if depth < level:
                break
        text = token[1]
    return frozenset(keys)
