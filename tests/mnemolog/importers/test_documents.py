"""JSON values one at a time; what is damaged is named and harms nothing beside it."""

import io
import json
from unittest.mock import patch

import pytest

from mnemolog.importers import documents as module
from mnemolog.importers.base import HEAD_BYTES, Problem, Source
from mnemolog.importers.documents import Document, documents


def read(content: bytes, *, name: str = "in.json") -> list[Document | Problem]:
    stream = io.BufferedReader(io.BytesIO(content))
    return list(documents(Source(name, content[:HEAD_BYTES], stream)))


def values(found: list[Document | Problem]) -> list:
    return [document.value for document in found if isinstance(document, Document)]


def problems(found: list[Document | Problem]) -> list[tuple[str, str]]:
    return [(p.place, p.reason) for p in found if isinstance(p, Problem)]


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'[{"a": 1}, {"b": 2}]', [{"a": 1}, {"b": 2}]),
        (b'[\n{"a": 1},\n{"b": 2}\n]\n', [{"a": 1}, {"b": 2}]),
        (b'{"a": 1}\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
        (b'{"a": 1}\n{"b": 2}', [{"a": 1}, {"b": 2}]),
        (b'[{"a": 1}]\n[{"b": 2}]\n', [[{"a": 1}], [{"b": 2}]]),
        (b'{\n "a": {},\n "b": 2\n}\n', [{"a": {}, "b": 2}]),
        (b'{"a": 1}', [{"a": 1}]),
        (b'\n\n{"a": 1}\n\n{"b": 2}\n', [{"a": 1}, {"b": 2}]),
    ],
)
def test_the_shape_is_seen_from_the_beginning(content, found):
    assert values(read(content)) == found
    assert problems(read(content)) == []


@pytest.mark.bad_input(25)
def test_a_line_cut_in_a_string_is_named_and_the_others_come():
    lines = [json.dumps({"n": n, "text": "words"}).encode() for n in range(1, 6)]
    lines[2] = lines[2][:-4]
    found = read(b"\n".join(lines) + b"\n")
    assert [value["n"] for value in values(found)] == [1, 2, 4, 5]
    assert [place for place, _ in problems(found)] == ["line 3"]
    assert "Unterminated string" in problems(found)[0][1]


def test_a_first_line_that_is_cut_does_not_hide_the_rest():
    assert values(read(b'{"a": "cut\n{"b": 2}\n')) == [{"b": 2}]


@pytest.mark.bad_input(27)
@pytest.mark.parametrize("between", [b"\n" + b"\0" * 512, b"\0" * 512, b"\0" * 512 + b"\n"])
def test_nul_padding_is_named_with_its_place_and_both_neighbours_come(between):
    found = read(b'{"a": 1}' + between + b'{"b": 2}\n', name="in.jsonl")
    assert values(found) == [{"a": 1}, {"b": 2}]
    ((place, reason),) = problems(found)
    assert place.endswith(f"byte {8 + between.index(0)}")
    assert reason == "512 NUL bytes, passed over"


def test_nul_padding_between_the_items_of_an_array_is_named():
    found = read(b"[1,\0\0 2]")
    assert values(found) == [1, 2]
    assert problems(found) == [("item 2, byte 3", "2 NUL bytes, passed over")]


def test_only_a_line_feed_ends_a_line():
    text = "a\u2028b\x85c\u2029d"
    line = json.dumps({"text": text}, ensure_ascii=False).encode()
    assert values(read(line + b"\r\n" + line + b"\n")) == [{"text": text}] * 2


def test_a_line_beyond_the_bound_is_named_and_the_next_one_comes():
    content = b'{"a": 1}\n"' + b"x" * 50 + b'"\n{"b": 2}\n'
    with patch.object(module, "ITEM_BYTES_MAX", 20):
        found = read(content, name="in.jsonl")
    assert values(found) == [{"a": 1}, {"b": 2}]
    assert problems(found) == [("line 2, byte 9", "53 bytes; a line has at most 20")]


def test_a_document_beyond_the_bound_is_refused_by_name():
    with patch.object(module, "ITEM_BYTES_MAX", 20):
        found = read(b'{\n"a": "' + b"x" * 50 + b'"}')
    assert values(found) == []
    assert "more than 20 bytes" in problems(found)[0][1]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"a": NaN}', "NaN"),
        (b'{"a": 1, "a": 2}', "'a' stands twice"),
        (b"[" * 1_500 + b"]" * 1_500, "nesting depth"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b"\xff\xfe{\x00}\x00", "not"),
    ],
)
def test_json_that_is_not_strict_is_a_problem_of_its_line(line, reason):
    found = read(b'{"ok": 1}\n' + line + b'\n{"ok": 2}\n', name="in.jsonl")
    assert values(found) == [{"ok": 1}, {"ok": 2}]
    assert any(reason in why for _, why in problems(found))


@pytest.mark.parametrize(("before", "after"), [(b"[", b"]"), (b"", b"")])
def test_the_first_value_comes_before_the_file_is_read(before, after):
    separator = b",\n" if before else b"\n"
    content = before + separator.join([b'{"a": 1, "text": "' + b"x" * 100 + b'"}'] * 20_000) + after
    raw = io.BytesIO(content)
    found = documents(Source("in", content[:HEAD_BYTES], io.BufferedReader(raw)))
    assert next(found) == Document("item 1" if before else "line 1", {"a": 1, "text": "x" * 100})
    assert raw.tell() < len(content) / 5
    assert sum(1 for _ in found) == 19_999
