"""Tokens say up to where, and come back from their text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.schemas.positions import Position, Token

tokens = st.dictionaries(st.integers(0, 50), st.integers(0, 2**63 - 1), max_size=6).map(Token)


@given(tokens)
def test_a_token_comes_back_from_its_text(token):
    assert Token.parse(str(token)) == token


@given(tokens, tokens)
def test_two_tokens_together_cover_both(one, other):
    both = (one | other).offsets
    assert one.is_covered_by(both)
    assert other.is_covered_by(both)
    assert set(both.items()) <= {*one.offsets.items(), *other.offsets.items()}


def test_a_token_keeps_the_last_offset_of_each_partition():
    positions = [Position(1, 5), Position(0, 3), Position(1, 2)]
    assert Token.of(positions).offsets == {1: 5, 0: 3}
    assert str(Token.of(positions)) == "0@3,1@5"
    assert str(Position(1, 5)) == "1@5"


def test_an_empty_token_is_covered_by_nothing_at_all():
    assert Token.of([]).is_covered_by({})
    assert str(Token.of([])) == ""
    assert not Token({0: 0}).is_covered_by({})
    assert Token({0: 0}).is_covered_by({0: 0})
    assert not Token({0: 1}).is_covered_by({0: 0, 1: 9})


@pytest.mark.parametrize("text", ["x", "0@", "@1", "0@1@2", "a@b"])
def test_a_text_that_is_no_token_is_refused(text):
    with pytest.raises(ValueError, match=r"invalid literal|unpack"):
        Token.parse(text)
