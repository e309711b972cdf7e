"""What crashes, damage and forgetting do to texts beside the log: told, harmless, out of reach."""

import asyncio

import pytest

from mnemolog.async_memory import AsyncMemory
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.blobs import digest_of
from mnemolog.schemas.errors import (
    BlobDamaged,
    BlobMissing,
    LogUnavailable,
    NotFound,
    StoreUnavailable,
)
from support.large import LOGS, OUTPUT, blob_file, lose, memory_on
from support.remembering import QUICK, opened, recorded, texts


@pytest.fixture(params=LOGS)
def mem(request, tmp_path):
    with memory_on(request, tmp_path) as memory:
        yield memory


# Crashes and damage


def test_a_crash_between_the_blob_and_the_event_leaves_a_blob_and_no_event(mem, monkeypatch):
    def die(*_, **__):
        raise LogUnavailable("the log", "the machine stopped")

    with monkeypatch.context() as crashing:
        crashing.setattr(mem.engine.log, "append", die)
        with pytest.raises(LogUnavailable):
            mem.observe(OUTPUT, id="e-1")
    assert recorded(mem) == []
    assert [blob.bytes for blob in mem.engine.blobs.stored()] == [len(OUTPUT)]
    said = mem.observe(OUTPUT, id="e-1")
    assert mem.get(said, after=said.token).event.text == OUTPUT
    assert len(list(mem.engine.blobs.stored())) == 1


def test_a_blob_that_can_not_be_put_lets_no_event_in(mem, monkeypatch):
    def full(_):
        raise StoreUnavailable("blobs", "No space left on device")

    monkeypatch.setattr(mem.engine.blobs, "put", full)
    with pytest.raises(StoreUnavailable, match="No space left"):
        mem.observe(OUTPUT)
    assert recorded(mem) == []


def test_a_missing_blob_is_named_and_what_stands_beside_it_is_given(mem):
    said = mem.observe(OUTPUT, data={"n": 1})
    lose(mem, digest_of(OUTPUT.encode()))
    with pytest.raises(BlobMissing, match=digest_of(OUTPUT.encode())) as raised:
        mem.get(said, after=said.token)
    assert f"/text of event {said.id}" in str(raised.value)
    assert "blobs_folder" in raised.value.hint
    assert mem.get(said, whole=False).event.data == {"n": 1}
    assert mem.get(said.memory_id).text.startswith("line 0:")
    assert [event.id for event in mem.history(said.memory_id)] == [said.id]
    assert said.id in str(mem.why(said))
    assert mem.timeline(agent="ops-1")[0].event_id == said.id


def test_a_damaged_blob_is_named(tmp_path):
    with opened(tmp_path, agent="ops-1") as mem:
        said = mem.observe(OUTPUT)
        path = blob_file(mem, digest_of(OUTPUT.encode()))
        path.write_bytes(path.read_bytes()[:-1] + b"X")
        with pytest.raises(BlobDamaged, match=f"/text of event {said.id}"):
            mem.get(said, after=said.token)
        mem.observe(OUTPUT)  # the same text again repairs it
        assert mem.get(said).event.text == OUTPUT


# Read models


def test_the_read_models_have_heads_and_need_no_blob_to_be_rebuilt(tmp_path):
    with opened(tmp_path, agent="ops-1") as mem:
        said = mem.observe(OUTPUT, task="t-1")
        mem.checkpoint("find it", plan_summary=OUTPUT, task_state={"task_id": "t-1"}, task="t-1")
        before = dict(mem.digests())
        for blob in list(mem.engine.blobs.stored()):
            lose(mem, blob.sha256)
        mem.rebuild()
        assert dict(mem.digests()) == before
        assert all(one.is_equal for one in mem.verify())
        with pytest.raises(BlobMissing):
            mem.get(said)


def test_a_checkpoint_is_given_whole_or_its_blob_is_named(mem):
    first = mem.checkpoint("find it", plan_summary="short", task="t-1")
    state = {"task_id": "t-1", "working_memory": {"output": OUTPUT}}
    second = mem.checkpoint("find it", plan_summary="long", task_state=state, task="t-1")
    found = mem.saved(second, after=second.token)
    assert found.checkpoint.task_state.working_memory == {"output": OUTPUT}
    resumed = mem.resume("t-1")
    assert resumed.checkpoint.checkpoint == found.checkpoint
    lose(mem, digest_of(OUTPUT.encode()))
    with pytest.raises(BlobMissing, match="/checkpoint/task_state/working_memory/output"):
        mem.saved(second)
    resumed = mem.resume("t-1")
    assert resumed.checkpoint.saved.id == first.id
    assert [error.sha256 for error in resumed.damaged] == [digest_of(OUTPUT.encode())]


def test_the_async_memory_gives_it_whole_too(tmp_path):
    async def ask():
        async with await AsyncMemory.open(tmp_path, agent="a", **QUICK) as memory:
            said = await memory.observe(OUTPUT)
            whole = await memory.get(said, after=said.token)
            heads = await memory.get(said, whole=False)
            return whole.event.text, heads.event.text

    whole, head = asyncio.run(ask())
    assert whole == OUTPUT
    assert len(head.encode()) <= 8_192


# Forgetting

SECRET = "the PIN of the safe is 4711. "
LONG_SECRET = SECRET + OUTPUT


@pytest.mark.bad_input(87)
@pytest.mark.parametrize(
    "forget",
    [
        lambda m, said: m.forget(said),
        lambda m, said: m.forget(said.memory_id),
        lambda m, said: m.forget(text=LONG_SECRET),
    ],
    ids=["the event", "its memory", "its text"],
)
def test_a_forgotten_events_blob_is_out_of_every_reads_reach(mem, forget):
    said = mem.observe(LONG_SECRET, task="t-1")
    other = mem.observe(LONG_SECRET + "!", task="t-1")  # shares the head
    mem.wait_for(other.token)
    mem.wait_for(forget(mem, said).token, projections=NAMES)
    for name in (said.id, said.memory_id):
        with pytest.raises(NotFound):
            mem.get(name)
    assert SECRET.strip() not in str(mem.why(said.id))
    assert mem.get(other).event.text == LONG_SECRET + "!"
    assert len(texts(mem.recall("the PIN of the safe", kinds=["episode"]))) == 1
    assert mem.sql("SELECT count(*) FROM events WHERE data::VARCHAR LIKE '%4711%'").rows == [(1,)]


def test_a_text_is_forgotten_whether_it_stands_in_its_event_or_beside_the_log(tmp_path):
    long = SECRET * 12_000  # fits an event, and is more than a smaller setting takes
    with opened(tmp_path, agent="a", blobs=False) as mem:
        whole = mem.observe(long)
    with opened(tmp_path, agent="a") as mem:
        cut = mem.observe(long)
        mem.wait_for(mem.forget(text=long).token, projections=NAMES)
        for said in (whole, cut):
            with pytest.raises(NotFound):
                mem.get(said)
        mem.rebuild()
        assert texts(mem.recall("the PIN of the safe")) == []
