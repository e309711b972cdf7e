import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemolog.projections.write_rule.noise import NOISE_CHARACTERS_MAX, noise


@pytest.mark.parametrize(
    "text",
    [
        "好的", "继续", "收到", "ok", "OK!", "Ok, thanks.", "thanks", "Thank you so much!", "嗯嗯",
        "好的，收到，继续。", "sounds good 👍", "yes please", "Okay great thanks", "ｏｋ",
        "没问题！", "Got it.\nContinue", "You’re welcome",
    ],
)  # fmt: skip
def test_a_confirmation_says_nothing(text):
    assert noise(text) == "confirmation"


@pytest.mark.parametrize("text", ["", " \n\t", "\u3000", "\u200b"])
def test_an_empty_turn_says_nothing(text):
    assert noise(text) in {"empty", "bare signs"}


@pytest.mark.parametrize("text", ["👍", "...", "—— ——", "？？？", "✅✅"])
def test_bare_signs_say_nothing(text):
    assert noise(text) == "bare signs"


@pytest.mark.parametrize(
    "text",
    [
        "DEBUG pool: size=4",
        "[DEBUG] a\n[TRACE] b",
        "2026-03-01T10:00:00Z DEBUG tick\n\n2026-03-01 10:00:01,123 DEBUG tock",
    ],
)
def test_debug_lines_say_nothing(text):
    assert noise(text) == "debug line"


@pytest.mark.parametrize(
    "text",
    [
        "ok, but use port 8443", "好的，用方案二", "DEBUG x\nERROR pool exhausted", "no", "不行",
        "thanks to the index it is fast", "the debug flag is on", "continue with step 3", "7",
    ],
)  # fmt: skip
def test_what_may_say_something_is_no_noise(text):
    assert noise(text) is None


def test_a_long_text_is_no_confirmation():
    assert noise("ok " * NOISE_CHARACTERS_MAX) is None


@given(st.text())
def test_noise_is_judged_of_any_text(text):
    assert noise(text) in {None, "empty", "bare signs", "debug line", "confirmation"}
