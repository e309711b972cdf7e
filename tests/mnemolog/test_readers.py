"""Readers follow what serves, and a swap takes none away from under who is reading."""

import threading

import pytest

from mnemolog import maintaining
from mnemolog.projections.kinds import VECTORS_FILE
from mnemolog.schemas.errors import NotFound
from support.remembering import opened, texts


def test_there_is_nothing_to_read_before_anything_is_projected(tmp_path):
    with opened(tmp_path, projects=False) as mem:
        readers = mem._readers
        assert readers.memories() is readers.weights() is readers.checkpoints() is None


def test_a_reader_is_opened_once_and_anew_after_a_swap():
    with opened(agent="ops-1") as mem:
        mem.wait_for(mem.observe("the pool").token)
        first = mem._readers.checkpoints()
        assert mem._readers.checkpoints() is first
        mem.rebuild("checkpoints")
        second = mem._readers.checkpoints()
        assert second is not first
        assert len(second.timeline(agent="ops-1")) == len(first.timeline(agent="ops-1")) == 1


def test_answers_go_on_while_everything_is_rebuilt():
    with opened(agent="ops-1") as mem:
        seen = mem.observe("the pool of auth", task="t-1")
        mem.wait_for(seen.token)
        stop, failures, answers = threading.Event(), [], []

        def ask():
            while not stop.is_set():
                try:
                    found = mem.recall("pool")
                    assert (texts(found), found.missing) == (["the pool of auth"], ())
                    assert len(mem.timeline(task="t-1")) == 1
                    assert mem.get(seen.memory_id).weight is not None
                    assert mem.resume("t-1").events
                    answers.append(found)
                except BaseException as error:  # noqa: BLE001 - shown by the test
                    failures.append(error)
                    return

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            mem.rebuild("memories", "weights", "checkpoints")
        stop.set()
        for thread in threads:
            thread.join(60)
        assert failures == []
        assert answers


def test_a_rebuild_that_is_interrupted_while_it_compares_leaves_nothing_behind(monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with opened(agent="ops-1") as mem:
        seen = mem.observe("the pool")
        generations = mem.engine.shelf.generations("weights")
        with monkeypatch.context() as patch:
            patch.setattr(maintaining, "_compared", interrupted)
            with pytest.raises(KeyboardInterrupt):
                mem.rebuild("weights")
        assert generations.names() == ["000001"]
        assert texts(mem.recall("pool", after=seen.token)) == ["the pool"]


def test_a_saved_checkpoint_comes_with_the_vector_that_the_cache_has():
    with opened(agent="ops-1") as mem:
        saved = mem.checkpoint("keep auth up", plan_summary="watch the pool", task="auth")
        mem.wait_for(saved.token, vectors=True)
        found = mem.saved(saved)
        assert found.checkpoint.current_goal == "keep auth up"
        assert found.checkpoint.embedding is None
        assert len(found.embedding) == mem.engine.embedder().dimensions
        (mem.engine.folder / VECTORS_FILE).unlink()
        assert mem.saved(saved).embedding is None
        with pytest.raises(NotFound):
            mem.saved("c-unknown")
