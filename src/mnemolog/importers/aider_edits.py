"""The SEARCH/REPLACE blocks of an answer: which file, what is sought, and what takes its place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_SEARCH: Final = re.compile(r"<{5,9} SEARCH\s*")
_DIVIDER: Final = re.compile(r"={5,9}\s*")
_REPLACE: Final = re.compile(r">{5,9} REPLACE\s*")
_FENCE: Final = re.compile(r"\s*(?:`{3,}|</?(?:source|code|pre|codeblock|sourcecode)>)\S*\s*")
_AROUND_PATHS: Final = "*`#: \t"
_LINES_TO_PATH_MAX: Final = 3  # from a block up to its file's name, a fence between them


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of a file; `path` is "" where none is named."""

    path: str
    search: str
    replace: str


def without_edits(answer: str) -> tuple[str, list[Edit]]:
    r"""Return *answer* with a line for each edit in its place, and the edits.

    A block that does not end is left in the text.

    >>> without_edits("So:\n\na.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\nDone.")
    ('So:\n\n[edit of a.py]\nDone.', [Edit(path='a.py', search='x', replace='y')])
    """
    lines, edits = answer.split("\n"), list[Edit]()
    kept: list[str] = []
    index = 0
    while index < len(lines):
        found = _block(lines, index) if _SEARCH.fullmatch(lines[index]) else None
        if found is None:
            kept.append(lines[index])
            index += 1
            continue
        search, replace, index = found
        path = _taken_path(kept) or (edits[-1].path if edits else "")
        edits.append(Edit(path, search, replace))
        kept.append(f"[edit of {path}]" if path else "[edit]")
        index += index < len(lines) and _FENCE.fullmatch(lines[index]) is not None
    return "\n".join(kept), edits


def _block(lines: list[str], start: int) -> tuple[str, str, int] | None:
    """Return both sides of the block at *start* and the index behind it, if it ends."""
    divider = next(_matching(lines, start + 1, _DIVIDER), None)
    end = None if divider is None else next(_matching(lines, divider + 1, _REPLACE), None)
    if divider is None or end is None:
        return None
    return "\n".join(lines[start + 1 : divider]), "\n".join(lines[divider + 1 : end]), end + 1


def _matching(lines: list[str], start: int, mark: re.Pattern[str]) -> Iterator[int]:
    for index in range(start, len(lines)):
        if _SEARCH.fullmatch(lines[index]):
            return
        if mark.fullmatch(lines[index]):
            yield index


def _taken_path(kept: list[str]) -> str:
    """Take the fence and the file's name that stand before a block; "" if none does."""
    for count in range(1, min(_LINES_TO_PATH_MAX, len(kept)) + 1):
        line = kept[-count]
        if _FENCE.fullmatch(line) or not line.strip():
            continue
        path = line.strip(_AROUND_PATHS)
        if " " in path or path.startswith("[edit"):
            break
        del kept[-count:]
        return path
    while kept and _FENCE.fullmatch(kept[-1]):
        kept.pop()
    return ""
