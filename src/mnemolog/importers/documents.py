"""The JSON values of a file, one at a time: an array's items, JSON Lines, or one document.

What can't be read is a Problem with its place; the values beside it come. Lines end at a line
feed and nowhere else. Runs of NUL bytes, which an interrupted append leaves, are named and passed
over: JSON has no raw NUL, so what stands on either side of them is read by itself.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.array_items import Piece, array_items
from mnemolog.importers.base import Problem, Source
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.limits import DEPTH_MAX
from mnemolog.schemas.values import parse_json

ITEM_BYTES_MAX: Final = 33_554_432  # a line, an array's item, or a file that is one document
VALUES_MAX: Final = 4_000_000  # texts, objects and arrays in one: each takes far more room read
_LINES_SUFFIXES: Final = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
_NULS = re.compile(rb"\0+")


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON value and where it stands."""

    place: str
    value: Any


def documents(source: Source, *, depth_max: int = DEPTH_MAX) -> Iterator[Document | Problem]:
    """Yield the JSON values of *source* in order; the shape is seen from how it begins.

    A value that nests deeper than *depth_max* is a Problem.
    """
    match _shape(source.name, source.head, depth_max):
        case "array":
            pieces = array_items(source.stream, bytes_max=ITEM_BYTES_MAX)
        case "lines":
            pieces = _lines(source)
        case _:
            pieces = _whole(source)
    yield from _read(source, pieces, depth_max)


def _shape(name: str, head: bytes, depth_max: int) -> str:
    """Return "array", "lines" or "whole".

    A file of JSON Lines is called so, or one of its first two lines is a value by itself and is
    not all that there is.
    """
    text = head.lstrip(b" \t\r\n\0")
    lines = text.split(b"\n", 2)
    if name.endswith(_LINES_SUFFIXES):
        return "lines"
    if text.startswith(b"["):
        by_itself = len(lines) > 1 and lines[1].strip() and _is_value(lines[0], depth_max)
        return "lines" if by_itself else "array"
    if text.startswith(b"{"):
        return "lines" if any(_is_value(line, depth_max) for line in lines[:2]) else "whole"
    return "lines"


def _is_value(line: bytes, depth_max: int) -> bool:
    try:
        return isinstance(parse_json(line, depth_max=depth_max), dict | list)
    except InvalidEvent:
        return False


def _read(source: Source, pieces: Iterator[Piece], depth_max: int) -> Iterator[Document | Problem]:
    """Yield the value of each of *pieces*, cut where NULs stand."""
    for piece in pieces:
        if piece.trouble:
            yield source.problem(_at(source, piece, 0), piece.trouble)
        if not piece.content.strip():
            continue
        if b"\0" in piece.content:
            yield from _around_nuls(source, piece, depth_max)
        else:
            yield _value(source, piece.place, piece.content, depth_max)


def _around_nuls(source: Source, piece: Piece, depth_max: int) -> Iterator[Document | Problem]:
    end = 0
    for nuls in [*_NULS.finditer(piece.content), None]:
        between = piece.content[end : nuls.start() if nuls else None]
        if between.strip():
            yield _value(source, piece.place, between, depth_max)
        if nuls:
            reason = f"{len(nuls[0])} NUL bytes, passed over"
            yield source.problem(_at(source, piece, nuls.start()), reason)
            end = nuls.end()


def _at(source: Source, piece: Piece, index: int) -> str:
    return f"{piece.place}, byte {source.start + piece.offset + index}"


def _value(source: Source, place: str, content: bytes, depth_max: int) -> Document | Problem:
    values = content.count(b'"') // 2 + content.count(b"{") + content.count(b"[")
    if values > VALUES_MAX:
        return source.problem(place, f"{values} values, roughly; one has at most {VALUES_MAX}")
    try:
        return Document(place, parse_json(content.strip(), depth_max=depth_max))
    except InvalidEvent as error:
        return source.problem(place, error.limit)


def _lines(source: Source) -> Iterator[Piece]:
    offset, number = 0, 0
    while line := source.stream.readline(ITEM_BYTES_MAX + 1):
        number += 1
        place, start = f"line {number}", offset
        offset += len(line)
        if len(line) <= ITEM_BYTES_MAX:
            yield Piece(place, start, line)
            continue
        while line and not line.endswith(b"\n"):
            line = source.stream.readline(ITEM_BYTES_MAX)
            offset += len(line)
        size = offset - start
        yield Piece(place, start, b"", f"{size} bytes; a line has at most {ITEM_BYTES_MAX}")


def _whole(source: Source) -> Iterator[Piece]:
    content = source.stream.read(ITEM_BYTES_MAX + 1)
    if len(content) > ITEM_BYTES_MAX:
        trouble = f"one JSON document of more than {ITEM_BYTES_MAX} bytes; JSON Lines have no limit"
        yield Piece("document", 0, b"", trouble)
    else:
        yield Piece("document", 0, content)
