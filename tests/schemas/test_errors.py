"""Errors form one tree; each has a code, a hint, and a message that any stream can take."""

import pytest

from mnemolog.schemas import errors
from mnemolog.schemas.errors import InvalidEvent, MnemologError, shown

ALL = [
    one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, MnemologError)
]


def test_every_error_stands_in_the_tree_at_the_top_and_has_its_own_code():
    assert all(f" {one.__name__} " in errors.__doc__ for one in ALL if one is not MnemologError)
    codes = [one.code for one in ALL if "code" in vars(one)]
    assert len(codes) == len(set(codes)) == len(ALL)
    assert all(one.hint.endswith(".") for one in ALL)


@pytest.mark.parametrize("value", ["x" * 1_000, "caf\udce9", "a\0\n", {"deep": ["x"] * 99}, None])
def test_a_value_in_a_message_is_short_on_one_line_and_encodable(value):
    text = str(InvalidEvent("field", value, "limit"))
    assert text.startswith("field = ")
    assert text.endswith(": limit")
    text.encode()
    assert "\n" not in text
    assert len(shown(value)) <= errors.VALUE_SHOWN_CHARS_MAX
