"""Markdown as tests about the documentation read it: fences, tables, sections, links."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_HEADING: Final = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_FENCE: Final = re.compile(r"\s*(```+|~~~+)\s*(\w*)")
_LINK: Final = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?[^)]*\)")
_CODE: Final = re.compile(r"`[^`\n]+`")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page: under which heading it stands, and in which fence, if in one."""

    text: str
    heading: str
    fence: int = 0  # the number of the fenced block, from 1; 0 outside
    language: str = ""


def lines(page: str) -> Iterator[Line]:
    """Yield the lines of *page* but for those that open and close a fence.

    A heading's line counts as under itself; a # in a fence is no heading.
    """
    heading, mark, language, fences = "", "", "", 0
    for text in page.splitlines():
        fence = _FENCE.match(text)
        if fence and not mark:
            mark, language, fences = fence[1], fence[2], fences + 1
        elif mark and text.strip() == mark:
            mark = language = ""
        else:
            title = None if mark else _HEADING.match(text)
            heading = title[2] if title else heading
            yield Line(text, heading, fences if mark else 0, language)


def section(page: str, heading: str) -> list[Line]:
    """Return the lines under *heading*, up to the next heading of any depth."""
    return [line for line in lines(page) if line.heading == heading]


def sections(page: str) -> dict[str, str]:
    """Return the text under each heading; what stands before the first is under ""."""
    found: dict[str, str] = {}
    for line in lines(page):
        found[line.heading] = found.get(line.heading, "") + line.text + "\n"
    return found


def blocks(part: list[Line], *languages: str) -> list[tuple[str, str]]:
    """Return (language, text) of the fenced blocks in *part* that are in one of *languages*."""
    found: dict[int, tuple[str, str]] = {}
    for line in part:
        if line.fence and line.language in languages:
            before = found.get(line.fence, ("", ""))[1]
            found[line.fence] = (line.language, before + line.text + "\n")
    return list(found.values())


def shell(language: str, text: str) -> str:
    """Return the commands of a block: of a console's those behind "$ ", with their "> " lines."""
    if language != "console":
        return text
    asked = (line for line in text.splitlines() if line.startswith(("$ ", "> ")))
    return "".join(f"{line[2:]}\n" for line in asked)


def tables(page: str) -> Iterator[list[list[str]]]:
    """Yield the tables of *page*, each a list of rows of cells, the head first, no ruler."""
    rows: list[list[str]] = []
    for line in [*lines(page), Line("", "")]:
        if line.text.startswith("|") and not line.fence:
            rows.append([cell.strip() for cell in line.text.strip().strip("|").split("|")])
        elif rows:
            yield [row for row in rows if not all(set(cell) <= set("-: ") for cell in row)]
            rows = []


def links(page: str) -> list[str]:
    """Return what the links of *page* lead to; code holds none."""
    texts = (_CODE.sub("", line.text) for line in lines(page) if not line.fence)
    return [target for text in texts for target in _LINK.findall(text)]


def anchors(page: str) -> set[str]:
    """Return the names by which links reach the headings of *page*."""
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in sections(page))
    return {heading.replace(" ", "-") for heading in plain}
