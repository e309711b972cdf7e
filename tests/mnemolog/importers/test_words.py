"""A thought is split without losing or doubling a word; a goal is one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.importers.words import (
    DECISION_CHARACTERS_MAX,
    GOAL_CHARACTERS_MAX,
    decision_of,
    goal_of,
)
from mnemolog.schemas.fields import is_blank


@given(st.text(max_size=2_000).filter(lambda text: not is_blank(text)))
def test_every_word_of_a_thought_goes_in_once(thought):
    decision = decision_of(thought)
    both = decision["what"] + " " + (decision["why"] or "")
    assert "".join(both.split()).strip("\u200b") != ""
    kept, given_ = ("".join(c for c in text if c.isalnum()) for text in (both, thought))
    assert kept == given_
    assert len(decision["what"]) <= DECISION_CHARACTERS_MAX
    assert not is_blank(decision["what"])
    assert decision["why"] is None or not is_blank(decision["why"])


def test_a_long_line_ends_at_a_space_and_goes_on_as_the_reason():
    decision = decision_of("word " * 100)
    assert decision["what"].endswith("word")
    assert decision["why"].startswith("word")


@pytest.mark.parametrize("silent", ["", "\n\n", "...", "\u200b"])
def test_a_goal_that_says_nothing_is_another(silent):
    assert goal_of(silent, otherwise="task 7") == "task 7"


def test_a_goal_is_one_line_and_cut():
    goal = goal_of("Mend\n\tthe lift. " * 100, otherwise="x")
    assert goal.startswith("Mend the lift.")
    assert len(goal) == GOAL_CHARACTERS_MAX
