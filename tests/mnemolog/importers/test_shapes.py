"""What has not the shape that is asked for is as if it were not there."""

import pytest

from mnemolog.importers.shapes import (
    id_or_none,
    listed,
    mapping,
    name_or_none,
    text_at,
    text_or_none,
)

ANYTHING = [None, True, 7, 0.5, "", "lift", [], ["lift"], {}, {"text": "lift"}]


@pytest.mark.parametrize("value", ANYTHING, ids=repr)
def test_only_what_has_the_shape_comes_through(value):
    assert mapping(value) == (value if isinstance(value, dict) else {})
    assert listed(value) == (value if isinstance(value, list) else [])
    assert text_or_none(value) == ("lift" if value == "lift" else None)
    assert text_at(value, "text") == ("lift" if value == {"text": "lift"} else "")
    assert text_at({"text": value}, "text") == (value if isinstance(value, str) else "")


@pytest.mark.parametrize(
    "value", ["/etc/lift", "..", " ", "a\x00b", "\ud800", "x" * 1_025, 7, None]
)
def test_what_may_not_be_a_name_is_none(value):
    assert name_or_none(value) is None
    assert name_or_none("lift 7") == "lift 7"


@pytest.mark.parametrize("value", ["", "a\x00b", "\ud800", "x" * 257, 7, None])
def test_what_may_not_be_an_id_is_none(value):
    assert id_or_none(value) is None
    assert id_or_none("/lift/7") == "/lift/7"
