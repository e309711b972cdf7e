"""What a reference means, and which keywords there are."""

import pytest

from mnemolog.scope import Names, Scope, check_keywords, is_memory, ref_id

MEMORY = "mem_" + "0123456789abcdef" * 2


class Thing:
    id = MEMORY


def test_a_reference_is_an_id_or_has_one():
    assert ref_id("e-1") == "e-1"
    assert ref_id(Thing()) == MEMORY


@pytest.mark.parametrize(
    ("ref", "expected"),
    [
        (MEMORY, True),
        (Thing(), True),
        ("e-1", False),
        ("mem_", False),
        ("mem_1", False),
        (MEMORY.upper(), False),
        (MEMORY + "0", False),
        (MEMORY + "\n", False),
    ],
)
def test_only_what_has_a_memorys_form_means_one(ref, expected):
    assert is_memory(ref) is expected


def test_known_keywords_pass_and_others_are_named():
    check_keywords({"agent": "a", "tags": []}, of=Scope, where="this verb")
    with pytest.raises(TypeError, match="'tags' is no keyword of Memory"):
        check_keywords({"agent": "a", "tags": []}, of=Names, where="Memory")
