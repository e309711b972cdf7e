"""Models that give no numbers, none at all, or other ones than before."""

import numpy as np
import pytest

from mnemolog.doctor import examine
from mnemolog.projections.memories import embedders
from mnemolog.projections.memories.embedding import CheckedEmbedder
from mnemolog.projections.memories.hashing_embedder import HashingModel
from mnemolog.schemas.errors import InvalidSetting
from support.remembering import opened, texts

BAD = {
    "NaN": lambda v: np.full_like(v, np.nan),
    "one NaN": lambda v: np.where(np.arange(v.size) == 3, np.nan, v).astype(v.dtype),
    "Inf": lambda v: np.full_like(v, np.inf),
    "-Inf": lambda v: np.full_like(v, -np.inf),
    "zero": np.zeros_like,
    "all but zero": lambda v: np.full_like(v, 1e-30),
    "short": lambda v: v[:-1],
    "long": lambda v: np.append(v, 0).astype(v.dtype),
    "two-dimensional": lambda v: np.stack([v, v]),
    "empty": lambda v: v[:0],
}


def spoiling(monkeypatch, spoil):
    """Let the model spoil its vector of each text that has "bad" in it."""
    truth = HashingModel.vectors

    def vectors(model, said, *, role):
        made = truth(model, said, role=role)
        return [
            spoil(np.asarray(vector)) if "bad" in text else vector
            for text, vector in zip(said, made, strict=True)
        ]

    monkeypatch.setattr(HashingModel, "vectors", vectors)


@pytest.mark.bad_input(63)
@pytest.mark.parametrize("fault", BAD)
def test_one_bad_vector_of_ten_costs_itself_alone_and_is_reported(monkeypatch, fault):
    spoiling(monkeypatch, BAD[fault])
    with opened(agent="ops-1") as mem:
        for number in range(10):
            mem.observe(f"lamp {number}" if number != 4 else "a bad lamp")
        mem.wait_for(mem.end(), vectors=True)  # nothing waits for it
        counts = mem._readers.memories().counts()
        assert (counts["memories"], counts["vectors"], counts["unembeddable"]) == (10, 9, 1)
        assert mem.sql("SELECT count(*) FROM memories").rows == [(10,)]
        found = mem.recall("lamp", hits_max=50)
        assert (len(found), found.missing) == (10, ())
        assert "a bad lamp" in texts(mem.recall("which lamp is bad?"))
        (finding,) = (f for f in examine(mem.engine) if "no vector" in f.detail)
        assert (finding.check, finding.state) == ("vectors", "look")
        assert finding.detail.endswith(": 1")
        last = mem.observe("lamp 11")
        mem.wait_for(last.token, vectors=True)
        assert mem._readers.memories().counts()["vectors"] == 10


@pytest.mark.bad_input(63)
@pytest.mark.parametrize("fault", ["NaN", "zero", "short"])
def test_a_question_whose_vector_is_bad_is_answered_by_its_words(monkeypatch, fault):
    with opened(agent="ops-1") as mem:
        mem.wait_for(mem.observe("the lamp of room 3 is on").token, vectors=True)
        spoiling(monkeypatch, BAD[fault])
        found = mem.recall("is the lamp bad?")
        assert texts(found) == ["the lamp of room 3 is on"]
        assert any("dense" in missing for missing in found.missing)


@pytest.mark.bad_input(63)
def test_a_model_that_raises_for_one_text_loses_that_one_alone(monkeypatch):
    def refuse(_vector):
        raise FloatingPointError("overflow")

    spoiling(monkeypatch, refuse)
    with opened(agent="ops-1") as mem:
        for number in range(10):
            mem.observe(f"lamp {number}" if number != 4 else "a bad lamp")
        mem.wait_for(mem.end(), vectors=True)
        assert mem._readers.memories().counts()["vectors"] == 9
        assert any("overflow" in finding.detail for finding in examine(mem.engine))


class Small(HashingModel):
    """A model with as many numbers as one asks for, and a name that says so."""

    def __init__(self, dimensions):
        super().__init__()
        self._few = dimensions

    @property
    def model_id(self):
        return f"small/{self._few}"

    @property
    def dimensions(self):
        return self._few

    def vectors(self, said, *, role):
        return [np.asarray(v)[: self._few] + 1 for v in super().vectors(said, role=role)]


@pytest.fixture
def small(monkeypatch):
    """Let embedders be named small/4 and small/8."""
    made = {f"small/{few}": CheckedEmbedder(Small(few)) for few in (4, 8)}
    for name in ("embedder_named", "embedder_of_model"):
        monkeypatch.setattr(embedders, name, made.__getitem__)


@pytest.mark.bad_input(65)
def test_another_dimension_is_a_clear_error_until_a_rebuild_and_answers_go_on(tmp_path, small):
    with opened(tmp_path, agent="ops-1", embedder="small/4") as mem:
        for number in range(100):
            last = mem.observe(f"lamp {number}")
        mem.wait_for(last.token, vectors=True)
    with pytest.raises(InvalidSetting, match=r"(?s)small/4.*rebuild"):
        opened(tmp_path, agent="ops-1", embedder="small/8")
    with opened(tmp_path, agent="ops-1", embedder="small/4") as mem:
        assert len(mem.recall("lamp", hits_max=50)) == 50
    with opened(tmp_path, agent="ops-1", embedder="small/8", rebuilding=["memories"]) as mem:
        added = mem.observe("lamp 100")
        with opened(tmp_path, read_only=True) as beside:
            assert len(beside.recall("lamp", hits_max=50)) == 50  # of what still serves
        mem.rebuild("memories")
        mem.wait_for(added.token, vectors=True)
        assert mem._readers.memories().counts()["vectors"] == 101
        assert texts(mem.recall("lamp 100"))[0] == "lamp 100"
        assert mem._readers.memories().model_id == "small/8"


@pytest.mark.bad_input(65)
def test_vectors_of_a_former_model_in_the_cache_are_not_taken_for_the_new_ones(tmp_path, small):
    with opened(tmp_path, agent="ops-1", embedder="small/4") as mem:
        mem.wait_for(mem.observe("the lamp is on").token, vectors=True)
    with opened(tmp_path, embedder="small/8", rebuilding=["memories"]) as mem:
        mem.rebuild("memories")
        mem.wait_for(mem.end(), vectors=True)
        (found,) = mem.recall("the lamp is on")
        assert found.scores["dense"] > 0
