"""Cutting text breaks no character, and never makes it longer than it may be."""

import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.text import ELLIPSIS, cut, cut_bytes, normalised, one_line

FAMILY = "👩‍👩‍👧‍👦"
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=80) | st.lists(
    st.sampled_from([FAMILY, "好", "e\u0301", "a", " ", "🇨🇳", "\r\n"]), max_size=40
).map("".join)


def characters(text):
    return regex.findall(r"\X", text)


@given(texts, st.integers(1, 30))
def test_a_cut_has_at_most_so_many_characters_and_is_a_start_of_the_text(text, most):
    short = cut(text, characters_max=most)
    short.encode()
    if short != text:
        assert short.endswith(ELLIPSIS)
        assert text.startswith(short.removesuffix(ELLIPSIS))
        assert len(characters(text)) > most
    assert len(characters(short)) <= most


@given(
    st.text(
        st.sampled_from("ab \n\x00,好、「」！あ") | st.sampled_from("\r\u0301\u200d\uff9e\u302a")
    ),
    st.integers(2, 8),
)
def test_a_cut_of_plain_characters_is_the_cut_of_characters(text, most):
    whole = characters(text)
    kept = text if len(whole) <= most else "".join(whole[: most - 1]).rstrip() + ELLIPSIS
    assert cut(text, characters_max=most) == kept


@pytest.mark.bad_input(3)
@given(texts, st.integers(0, 60))
def test_a_cut_by_bytes_fits_and_ends_on_a_character(text, most):
    short = cut_bytes(text, bytes_max=most)
    assert len(short.encode()) <= most
    assert text.startswith(short)
    assert characters(short) == characters(text)[: len(characters(short))]
    rest = characters(text)[len(characters(short)) :]
    assert not rest or len((short + rest[0]).encode()) > most


@pytest.mark.bad_input(3)
def test_a_preview_of_300_bytes_drops_a_family_that_does_not_fit():
    text = "好" * 99 + FAMILY
    assert cut_bytes(text, bytes_max=300) == "好" * 99
    assert cut_bytes(text, bytes_max=400) == text


@pytest.mark.parametrize(
    ("text", "most", "short"),
    [
        ("hello", 5, "hello"),
        ("hello!", 5, "hell…"),
        ("hello", 1, "…"),
        ("", 1, ""),
        (FAMILY * 3, 3, FAMILY * 3),
        (FAMILY * 4, 3, FAMILY * 2 + "…"),
        ("ab cdef", 4, "ab…"),
    ],
)
def test_cuts_by_example(text, most, short):
    assert cut(text, characters_max=most) == short


def test_white_space_of_any_kind_becomes_one_space():
    assert one_line(" a\t\n b\u3000c\u2028d ") == "a b c d"


@given(texts)
def test_normal_form_is_composed_on_one_line_and_stays_itself(text):
    found = normalised(text)
    assert unicodedata.is_normalized("NFC", found)
    assert normalised(found) == found
    assert "\n" not in found
