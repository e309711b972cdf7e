"""A head is short and sound, tells that it is one, and has no packed bytes in it."""

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.heads import data_uris, head_of

PNG = "data:image/png;base64,"
PACKED = "iVBORw0KGgoAAAANSUhEUg" * 100

texts = st.text(st.characters(exclude_categories=()), max_size=300) | st.text(
    "ab好👩\u200d\u0301\0 \n"
)


@given(texts, st.integers(8, 200))
def test_a_head_fits_is_valid_and_is_a_start_of_the_text(text, bytes_max):
    head = head_of(text, bytes_max=bytes_max)
    assert len(head.encode("utf-8")) <= bytes_max
    assert "\0" not in head
    repaired = "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)
    if head != repaired and head:
        assert head.endswith("…")
        assert repaired.startswith(head.removesuffix("…"))


@given(st.text("ab好👩\u200d👧\u0301\u0302🇦🇹", min_size=60))
def test_a_head_ends_between_two_characters(text):
    start = head_of(text, bytes_max=40).removesuffix("…")
    ends = {match.end() for match in regex.finditer(r"\X", text)}
    assert len(start) in ends | {0}


def test_a_chinese_text_is_cut_between_two_characters():
    head = head_of("权威事实" * 100_000, bytes_max=8_192)
    assert len(head.encode()) in range(8_187, 8_193)
    assert head.rstrip("…") in "权威事实" * 1_000


@pytest.mark.parametrize("blank", ["", " " * 300_000, "\u3000\u200b\n" * 99])
def test_nothing_is_left_of_a_blank_text(blank):
    assert head_of(blank, bytes_max=100) == ""


@pytest.mark.parametrize(
    ("uri", "head"),
    [
        (PNG + PACKED, PNG + "…"),
        ("DATA:image/png;BASE64," + PACKED, "DATA:image/png;BASE64,…"),
        ("data:text/plain;charset=utf-8,hello%20" + "x" * 999, "data:text/plain;charset=utf-8,…"),
        ("data:;base64," + PACKED, "data:;base64,…"),
    ],
)
def test_of_a_data_uri_the_kind_is_left(uri, head):
    assert head_of(uri, bytes_max=100) == head
    assert list(data_uris(uri)) == [uri]


def test_words_around_a_picture_stay_as_long_as_they_fit():
    told = f"what is wrong here? ![a chart]({PNG}{PACKED}) It is the newest of {PNG}{PACKED}!"
    left = f"what is wrong here? ![a chart]({PNG}…) It is the newest of {PNG}…!"
    assert head_of(told, bytes_max=200) == left
    assert head_of(told, bytes_max=30) == "what is wrong here? ![a cha…"
    assert head_of("well, " * 100 + told, bytes_max=30, whole=2_000) == "well, " * 100 + left
    assert list(data_uris(told)) == [PNG + PACKED] * 2


@pytest.mark.parametrize(
    "text", ["data: 3 rows, then 4", "data:3 rows, then", "metadata:a,b", "data:,", f"{PNG}iVBOR"]
)
def test_what_is_no_data_uri_of_any_size_is_told_as_it_is(text):
    assert head_of(text, bytes_max=100) in {text, PNG + "…"}


@pytest.mark.parametrize("evil", ["data:" * 60_000, "data:a;base64" * 30_000, "data:a/b" * 40_000])
def test_a_text_that_is_nearly_full_of_uris_takes_no_time(evil):
    assert len(head_of(evil, bytes_max=100).encode()) <= 100
    assert list(data_uris(evil)) == []
