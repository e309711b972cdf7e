"""What is forgotten is gone from every surface of a memory, and no rebuild brings it back."""

import pytest

from mnemolog import asking
from mnemolog.projections.kinds import NAMES
from mnemolog.schemas.errors import InvalidSetting, NotFound, TimedOut
from support.remembering import opened, texts, the_event

SECRET = "the PIN of the safe is 4711"
WORDS = "is 4711"  # of the secret; no id, a text of hexadecimal digits, has them by chance
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
    assert tables_with(mem, WORDS) == []
    for name in (*event_ids, *memory_ids):
        with pytest.raises(NotFound):
            mem.get(name)
    for name in memory_ids:
        with pytest.raises(NotFound):
            mem.history(name)
    for name in event_ids:
        assert WORDS not in str(mem.why(name))


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
        assert tables_with(mem, WORDS)
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


@pytest.mark.bad_input(87)
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


# Two agents' events of one id: an event is its key, source and id.


def both_said(mem):
    """Let ann and bob say something under one id, and return both once the read models know."""
    ann = mem.checkpoint("open the safe", plan_summary=SECRET, agent="ann", id="1", task="t-1")
    bob = mem.checkpoint("find the safe", plan_summary=HARMLESS, agent="bob", id="1", task="t-1")
    mem.wait_for(ann.token)
    mem.wait_for(bob.token)
    return ann, bob


def assert_only_bobs_is_left(mem, ann, bob):
    assert HARMLESS in mem.memory(bob.memory_id).text
    with pytest.raises(NotFound):
        mem.memory(ann.memory_id)
    assert mem.memory(bob.memory_id).weight is not None  # and so weights know it
    assert [entry.text for entry in mem.timeline(agent="ann")] == [None]
    assert [HARMLESS in entry.text for entry in mem.timeline(agent="bob")] == [True]
    assert [saved.agent for saved in mem.checkpoints()] == ["bob"]
    asked = "SELECT agent, plan, forgotten FROM checkpoints ORDER BY agent"
    assert mem.sql(asked).rows == [("ann", None, True), ("bob", HARMLESS, False)]
    kept = mem.sql("SELECT memory FROM memories WHERE event_type = 'checkpoint.saved'").rows
    assert kept == [(bob.memory_id,)]


WHICH = {
    "what the append returned": lambda _, ann: ann,
    "the memory's id": lambda _, ann: ann.memory_id,
    "the memory": lambda m, ann: m.memory(ann.memory_id),
    "the memory's row": lambda m, ann: m.memory(ann.memory_id).row,
    "the event": the_event,
    "the timeline's entry": lambda m, _: m.timeline(agent="ann")[0],
    "the saved checkpoint": lambda m, _: m.checkpoints(agent="ann")[0],
}


@pytest.mark.parametrize("which", WHICH)
def test_another_agents_event_of_the_same_id_stays(which):
    with opened() as mem:
        ann, bob = both_said(mem)
        gone = mem.forget(WHICH[which](mem, ann), agent="eve")
        mem.wait_for(gone.token)
        assert_only_bobs_is_left(mem, ann, bob)


def test_another_agents_event_of_the_same_id_stays_after_a_rebuild(tmp_path):
    with opened(tmp_path) as mem:
        ann, bob = both_said(mem)
        mem.wait_for(mem.forget(ann, agent="eve").token)
        before = mem.digests()
        assert all(one.comparison.is_equal for one in mem.rebuild())
        assert mem.digests() == before
        assert_only_bobs_is_left(mem, ann, bob)


def test_an_id_that_several_events_have_is_refused_and_nothing_is_forgotten():
    with opened() as mem:
        both_said(mem)
        before = mem.end()
        with pytest.raises(InvalidSetting, match="2 events have this id; pass what append"):
            mem.forget("1")
        assert mem.end() == before


def test_an_id_that_no_event_has_is_refused():
    with opened(agent="ops-1") as mem, pytest.raises(NotFound, match="'e-1'"):
        mem.forget("e-1")


@pytest.mark.parametrize("name", ["id", "memory_id"])
def test_a_bare_id_is_known_as_soon_as_its_event_was_appended(name):
    with opened(agent="ops-1") as mem:
        for _ in range(20):  # the read models lag behind most of them
            said = mem.observe(SECRET, task="t-1")
            forgotten = mem.forget(getattr(said, name))
        mem.wait_for(forgotten.token)
        assert_gone(mem, event_ids=[said.id], memory_ids=[said.memory_id])


def test_where_the_read_models_stay_behind_nobody_says_that_an_id_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(asking, "WAIT_SECONDS", 0.0)
    with opened(tmp_path, agent="ops-1", projects=False) as mem:
        with pytest.raises(NotFound):
            mem.forget("e-1")  # of an empty log all is known
        said = mem.observe(SECRET)
        with pytest.raises(TimedOut):
            mem.forget(said.id)
        assert mem.end() == said.token


def test_what_an_agent_forgot_is_not_told_by_another_agents_event_of_the_same_id():
    with opened() as mem:
        ann, _ = both_said(mem)
        decided = mem.decide("open it", because=[ann], agent="ann")
        mem.wait_for(mem.forget(ann, agent="ann").token)
        mem.wait_for(decided.token)
        (cause,) = mem.why(decided).causes
        assert (cause.title, cause.position) == ("(forgotten)", ann.position)


def test_of_two_events_of_one_id_get_and_why_tell_the_one_that_is_meant():
    with opened() as mem:
        ann, bob = both_said(mem)
        assert [mem.get(one).envelope.agent for one in (ann, bob)] == ["ann", "bob"]
        assert [mem.why(one).position for one in (ann, bob)] == [ann.position, bob.position]
        mem.wait_for(mem.forget(ann, agent="ann").token)
        with pytest.raises(NotFound):
            mem.get(ann)
        assert (mem.why(ann).title, mem.why(ann).position) == ("(forgotten)", ann.position)
