"""Digests and comparisons stand at one place of the log, whoever appends meanwhile."""

from contextlib import suppress

import pytest

from mnemolog import Memory, maintaining
from mnemolog.maintaining import digests, verify
from mnemolog.projections.digests import ContentDigest
from mnemolog.projections.kinds import NAMES
from mnemolog.replay import comparing
from mnemolog.replay.rebuilding import fold
from mnemolog.schemas.errors import TimedOut
from mnemolog.streams.projecting import Projector
from support.polling import eventually
from support.remembering import opened

STEPS = 3


def said(mem, number):
    return mem.observe(f"The pool of room {number} is exhausted at {number} sockets.")


class Appending(ContentDigest):
    """Works a digest out after somebody appended, and the projections had time to see it."""

    memory: Memory
    count = 0

    @classmethod
    def of(cls, rows):
        said(cls.memory, cls.count)
        cls.count += 1
        if cls.count == 1:
            with suppress(TimedOut):
                cls.memory.wait_for(cls.memory.end(), timeout_seconds=0.2)
        return ContentDigest.of(rows)


@pytest.fixture
def mem(tmp_path, monkeypatch):
    with opened(tmp_path, agent="ops-1", processors=False) as memory:
        memory.wait_for([said(memory, number) for number in range(3)][-1].token)
        monkeypatch.setattr(Appending, "memory", memory, raising=False)
        monkeypatch.setattr(Appending, "count", 0)
        yield memory


def test_digests_are_of_one_place_while_somebody_appends(mem, monkeypatch):
    before = digests(mem.engine)
    monkeypatch.setattr(maintaining, "ContentDigest", Appending)
    found = digests(mem.engine)
    assert found == before
    assert Appending.count == len(NAMES)
    monkeypatch.setattr(maintaining, "ContentDigest", ContentDigest)
    assert set(digests(mem.engine).items()).isdisjoint(before.items())


def test_what_is_compared_stands_at_one_place_while_somebody_appends(mem, monkeypatch):
    monkeypatch.setattr(comparing, "ContentDigest", Appending)
    (compared,) = verify(mem.engine, ["weights"], tell=lambda _: None)
    assert compared.is_equal, compared


def test_digests_beside_running_processors_are_those_of_a_fold_up_to_their_place(
    tmp_path, monkeypatch
):
    """Each phase makes a processor append a checkpoint at some moment of its own."""
    places, caught_up = [], Projector.catch_up
    monkeypatch.setattr(
        Projector, "catch_up", lambda self, to: (places.append(to), caught_up(self, to))
    )
    found = []
    with opened(tmp_path, agent="ops-1", task="t1", processors=True) as mem:
        mem.append("task.started", {"goal": "sign the tokens"})
        for number in range(STEPS):
            mem.append("task.phase-changed", {"to_phase": f"p{number}"})
            found.append(digests(mem.engine))
        eventually(lambda: len(mem.checkpoints(task="t1")) >= STEPS, what="the checkpoints")
        found.append(digests(mem.engine))
        assert len(found) == len(places)
        for name in NAMES:
            folder = mem.engine.shelf.create(kind := mem.engine.kinds()[name])
            fresh = kind.open(mem.engine.shelf.place(folder, epoch=99))
            for place, digest in zip(places, found, strict=True):
                fold(
                    fresh,
                    log=mem.engine.log,
                    codec=mem.engine.codec,
                    until=place,
                    tell=lambda _: None,
                )
                assert ContentDigest.of(fresh.content()).hex == digest[name]
            fresh.close()
