"""What is forgotten is gone from every surface of a memory, and no rebuild brings it back."""

import pytest

from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import NotFound
from support.remembering import opened, texts

SECRET = "the PIN of the safe is 4711"
HARMLESS = "the safe stands in the hall"


def tables_with(mem, word):
    """Return the published tables that hold *word* anywhere, JSON included."""
    names = [name for (name,) in mem.sql("SELECT table_name FROM duckdb_tables()").rows]
    each = (f"SELECT '{name}' FROM {name} t WHERE t::VARCHAR LIKE '%{word}%'" for name in names)
    return mem.sql(" UNION ALL ".join(each), fresh=False).rows


def assert_gone(mem, *, event_ids=(), memory_ids=()):
    assert SECRET not in texts(mem.recall("what is the PIN of the safe?", include_outdated=True))
    assert all(SECRET not in (entry.text or "") for entry in mem.timeline(agent="ops-1"))
    assert SECRET not in mem.resume("t-1").text
    assert tables_with(mem, "4711") == []
    for name in (*event_ids, *memory_ids):
        with pytest.raises(NotFound):
            mem.get(name)
    for name in memory_ids:
        with pytest.raises(NotFound):
            mem.history(name)
    for name in event_ids:
        assert "4711" not in str(mem.why(name))


FORGETTING = {
    "by what the append returned": lambda m, said: m.forget(said),
    "by the event's id": lambda m, said: m.forget(said.id),
    "by the memory's id": lambda m, said: m.forget(said.memory_id),
    "by the recalled memory": lambda m, said: m.forget(m.recall("PIN of the safe", hits_max=1)[0]),
    "by its text": lambda m, said: m.forget(text=SECRET),
}


@pytest.mark.parametrize(
    ("verb", "how"),
    [
        *(("observe", how) for how in FORGETTING),
        ("message", "by its text"),
        ("remember", "by the memory's id"),
    ],
)
def test_what_is_forgotten_is_gone_everywhere(verb, how):
    with opened(agent="ops-1") as mem:
        said = getattr(mem, verb)(SECRET, task="t-1")
        other = mem.observe(HARMLESS, task="t-1")
        mem.wait_for(other.token)
        assert SECRET in texts(mem.recall("what is the PIN of the safe?"))
        assert tables_with(mem, "4711")
        mem.wait_for(FORGETTING[how](mem, said).token)
        assert_gone(mem, event_ids=[said.id], memory_ids=[said.memory_id])
        assert HARMLESS in texts(mem.recall("where is the safe?"))
        assert mem.get(other).event.text == HARMLESS


def test_a_decision_that_rests_on_it_still_says_that_something_was_there():
    with opened(agent="ops-1") as mem:
        said = mem.observe(SECRET, task="t-1")
        decided = mem.decide("open it", because=[said, said.memory_id])
        mem.wait_for(decided.token)
        mem.wait_for(mem.forget(said).token)
        tree = mem.why(decided)
        assert [(node.id, node.title) for node in tree.causes] == [(said.id, "(forgotten)")]
        assert tree.causes[0].position == said.position


def test_it_comes_back_by_no_rebuild_of_any_projection(tmp_path):
    with opened(tmp_path, agent="ops-1") as mem:
        first, second = mem.observe(SECRET, task="t-1"), mem.observe(SECRET, task="t-1")
        mem.remember(HARMLESS)
        mem.wait_for(mem.forget(text=SECRET).token)
        before = mem.digests()
        rebuilt = mem.rebuild()
        assert [one.projection for one in rebuilt] == list(NAMES)
        assert all(one.comparison.is_equal for one in rebuilt)
        assert mem.digests() == before
        gone = {"event_ids": [first.id, second.id]}
        assert_gone(mem, **gone, memory_ids=[first.memory_id, second.memory_id])


def test_a_text_that_is_said_again_after_it_was_forgotten_stays_forgotten():
    with opened(agent="ops-1") as mem:
        mem.observe(SECRET, task="t-1")
        mem.forget(text=SECRET)
        again = mem.observe(SECRET, task="t-1", agent="ops-1")
        mem.wait_for(again.token)
        assert_gone(mem, event_ids=[again.id], memory_ids=[again.memory_id])


def test_only_what_is_known_can_be_forgotten_by_a_memorys_id():
    with opened(agent="ops-1") as mem, pytest.raises(NotFound):
        mem.forget("mem_" + "0" * 32)


def test_a_forgotten_checkpoint_is_not_resumed_from():
    with opened(agent="ops-1") as mem:
        older = mem.checkpoint("open the safe", plan_summary="try keys", task="t-1")
        newer = mem.checkpoint("open the safe", plan_summary=SECRET, task="t-1")
        mem.wait_for(newer.token)
        assert SECRET in mem.resume("t-1").text
        mem.wait_for(mem.forget(newer).token)
        assert mem.resume("t-1").checkpoint.saved.id == older.id
        assert [saved.id for saved in mem.checkpoints(task="t-1")] == [older.id]
        assert_gone(mem, event_ids=[newer.id])
