"""An array's items are cut out without the array being held."""

import io
import json
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.importers import array_items as module
from mnemolog.importers.array_items import array_items

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def cut(content: bytes, *, bytes_max: int = 1_000) -> list[tuple[str, bytes, str | None]]:
    stream = io.BufferedReader(io.BytesIO(content))
    return [
        (p.place, p.content.strip(), p.trouble) for p in array_items(stream, bytes_max=bytes_max)
    ]


@given(items=st.lists(JSON, max_size=6), indent=st.sampled_from([None, 1]), chunk=st.integers(1, 9))
def test_the_items_are_those_that_a_parser_finds_however_the_bytes_come(items, indent, chunk):
    content = json.dumps(items, indent=indent, ensure_ascii=False).encode()
    with patch.object(module, "_CHUNK_BYTES", chunk):
        found = cut(content, bytes_max=10_000)
    assert [json.loads(item) for _, item, _ in found] == items
    assert [place for place, _, _ in found] == [f"item {n + 1}" for n in range(len(items))]


def test_an_item_that_is_no_json_is_cut_out_like_any_other():
    assert [item for _, item, _ in cut(b'[1, {"a": nonsense}, 3]')] == [
        b"1",
        b'{"a": nonsense}',
        b"3",
    ]


def test_an_item_beyond_the_bound_is_named_and_the_next_one_comes():
    found = cut(b'[1, "' + b"x" * 50 + b'", 3]', bytes_max=20)
    assert found[1] == ("item 2", b"", "53 bytes; an item has at most 20")
    assert found[2] == ("item 3", b"3", None)


def test_an_array_that_does_not_end_gives_what_is_there_and_says_so():
    assert cut(b'[1, {"a": 2}') == [
        ("item 1", b"1", None),
        ("item 2", b'{"a": 2}', "the file ends within the array"),
    ]


def test_bytes_behind_the_end_are_told():
    assert cut(b"[1]\n")[1:] == []
    assert cut(b"[1] x")[1:] == [("end", b"", "2 bytes behind the array's end")]


@pytest.mark.parametrize("content", [b"[]", b" [ \n ] ", b""])
def test_an_empty_array_has_no_items(content):
    assert cut(content) == []
