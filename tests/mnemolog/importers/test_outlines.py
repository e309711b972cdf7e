"""The shape of a file is seen from its beginning."""

import json

import pytest

from mnemolog.importers.outlines import outlines


def first(head: bytes) -> set[str]:
    return set(next(iter(outlines(head))))


@pytest.mark.parametrize(
    ("head", "keys"),
    [
        (b'{"a": {"b": 1}, "c": [{"d": 2}]}', {"a", "c"}),
        (b'\n[\n[{"a": 1}, {"b": 2}]', {"a"}),
        (b'{"text": "\\"fake\\": {1", "real": 2}', {"text", "real"}),
        (b'{"a": 1, "cut in the midd', {"a"}),
        (b'{"a": "a string {that is: cut, ', {"a"}),
        (b"no json at all: {", set()),
        (b"", set()),
    ],
)
def test_the_keys_of_the_first_object_are_found_as_far_as_the_head_reaches(head, keys):
    assert first(head) == keys


def test_a_damaged_first_line_does_not_hide_the_next():
    head = b'{"role": "user", "content": "cut\n' + json.dumps({"x": 1, "y": 2}).encode()
    assert frozenset({"x", "y"}) in list(outlines(head))
