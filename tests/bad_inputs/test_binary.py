"""Pictures and other binary content inside texts: kept apart, neither embedded nor counted."""

import base64
import random

import pytest

from mnemolog.projections.memories.hashing_embedder import HashingModel
from support.large import size_on_log
from support.remembering import opened

MEGABYTE = 1_048_576
WORDS = "why is the login button grey?"


def encoded(size):
    return base64.b64encode(random.Random(7).randbytes(size)).decode()


LARGE = {
    "a PNG": "data:image/png;base64," + encoded(3 * MEGABYTE),
    "a PDF": "data:application/pdf;base64," + encoded(MEGABYTE),
    "with parameters": "data:image/svg+xml;charset=utf-8;base64," + encoded(100_000),
    "in capitals": "DATA:IMAGE/JPEG;BASE64," + encoded(300_000),
    "without a type": "data:;base64," + encoded(300_000),
    "bare": encoded(MEGABYTE),
    "for the web": encoded(MEGABYTE).replace("+", "-").replace("/", "_").rstrip("="),
}
SAYING = {
    "a text": lambda m, big: m.observe(f"{WORDS} {big}"),
    "a message": lambda m, big: m.message(f"{WORDS} {big} Thanks!"),
    "a part of a message": lambda m, big: m.append(
        "message.exchanged",
        {
            "role": "user",
            "text": WORDS,
            "parts": [{"kind": "image_url", "data": {"image_url": {"url": big}}}],
        },
    ),
    "data": lambda m, big: m.observe(WORDS, data={"deep": [{"file": big}]}),
    "a result": lambda m, big: m.append(
        "action.finished", {"action": "a", "success": True, "result": f"{WORDS} {big}"}
    ),
    "a checkpoint": lambda m, big: m.checkpoint(
        WORDS, plan_summary="on", intermediate_results={"screen": big}
    ),
}


@pytest.fixture
def shown(monkeypatch):
    """Note what the model is shown."""
    noted, truth = [], HashingModel.vectors

    def vectors(model, said, *, role):
        noted.extend(said)
        return truth(model, said, role=role)

    monkeypatch.setattr(HashingModel, "vectors", vectors)
    return noted


@pytest.mark.bad_input(89)
@pytest.mark.parametrize("kind", LARGE)
def test_binary_content_stands_apart_wherever_it_was_said(shown, kind):
    big = LARGE[kind]
    inside = big[len(big) // 2 :][:40]
    with opened() as mem:
        for number, say in enumerate(SAYING.values()):
            mem._defaults = {"agent": f"ops-{number}"}
            said = say(mem, big)
            assert size_on_log(mem, said) < 65_536
            found = mem.get(said, after=said.token)
            assert big in str(found.event)  # whole, though it stands elsewhere
            answer = mem.recall("grey login button", agent=f"ops-{number}")
            assert WORDS in answer[0].text
            assert inside not in answer.text
            assert answer.tokens < 1_000
        mem.wait_for(mem.end(), vectors=True)
        assert shown
        assert not any(inside in text for text in shown)
        stored = [blob.bytes for blob in mem.engine.blobs.stored()]
        assert len(stored) <= len(SAYING)  # what is the same is kept once
        assert sum(stored) <= len(SAYING) * (len(big) + 100)
        assert all(built.comparison.is_equal for built in mem.rebuild())


@pytest.mark.bad_input(89)
def test_a_thread_of_many_pictures_goes_on():
    with opened(agent="ops-1") as mem:
        for number in range(20):
            picture = "data:image/png;base64," + encoded(200_000 + number)
            last = mem.message(f"picture {number}: {picture}", session="s")
        mem.wait_for(last.token)
        answer = mem.recall("picture", session="s", hits_max=50, tokens_max=600)
        assert len(answer) + answer.left_out == 20
        assert len(answer) > 15
        assert answer.tokens <= 600
        assert len(mem.timeline(session="s")) == 20
