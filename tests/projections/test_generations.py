"""One generation serves, and which one changes from one moment to the next."""

import pytest

from mnemolog.projections.generations import CURRENT, Description, Generations, described
from mnemolog.schemas.errors import Damaged

DESCRIPTION = Description("weights", 1, "mnemolog.tests.events", 4, {"embedder": "hashing"})


@pytest.fixture
def generations(tmp_path):
    return Generations(tmp_path / "weights")


def test_none_serves_at_first(generations):
    assert generations.serving() is None
    assert generations.names() == []


def test_a_new_generation_serves_only_when_told(generations):
    made = generations.create(DESCRIPTION)
    assert generations.serving() is None
    generations.serve(made)
    assert generations.serving() == made
    assert described(made) == DESCRIPTION


def test_names_grow_and_are_not_used_again_while_a_later_one_stands(generations):
    first, second = generations.create(DESCRIPTION), generations.create(DESCRIPTION)
    generations.discard(first)
    assert generations.create(DESCRIPTION).name > second.name


def test_a_deleted_folder_no_longer_serves(generations):
    made = generations.create(DESCRIPTION)
    generations.serve(made)
    (made / "generation.json").unlink()
    made.rmdir()
    assert generations.serving() is None


@pytest.mark.parametrize("content", ["", "../../etc", "000001/../x", "1"])
def test_a_pointer_that_names_no_generation_is_none(generations, content):
    generations.create(DESCRIPTION)
    (generations.folder / CURRENT).write_text(content)
    assert generations.serving() is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"projection": 1}'])
def test_a_damaged_description_is_named(generations, content):
    made = generations.create(DESCRIPTION)
    (made / "generation.json").write_bytes(content)
    with pytest.raises(Damaged, match=r"generation\.json"):
        described(made)
