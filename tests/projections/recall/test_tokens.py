"""A text's length for a model is a stated estimate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.recall.tokens import tokens_of


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        (" \n\t", 0),
        ("word", 1),
        ("words", 2),
        ("two words", 3),
        ("权威事实", 4),
        ("，。", 2),
        ("修复了 token", 5),
        ("память", 3),
        ("👩‍👩‍👧", 5),
        ("caf\udce9", 2),
    ],
)
def test_characters_of_spaceless_scripts_count_one_and_other_words_a_quarter_of_their_bytes(
    text, tokens
):
    assert tokens_of(text) == tokens


@given(st.lists(st.text()))
def test_the_count_of_lines_is_the_sum_of_their_counts(lines):
    assert tokens_of("\n".join(lines)) == sum(map(tokens_of, lines))
