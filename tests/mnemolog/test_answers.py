"""What a memory answers: after a token, with sources, by id, by cause, by task."""

from datetime import UTC, datetime, timedelta

import pytest

from mnemolog.projections.checkpoints.resume import Resumed
from mnemolog.schemas.errors import InvalidSetting, NotFound
from mnemolog.schemas.events.memory import MemoryRecalled
from support.remembering import opened, recorded, texts

NOW = datetime(2030, 6, 1, tzinfo=UTC)


@pytest.fixture
def mem():
    with opened(agent="ops-1") as memory:
        yield memory


# Recall


def test_a_write_is_read_by_its_token_at_once_every_time(mem):
    for number in range(20):
        said = mem.observe(f"reading number{number} of the gauge")
        found = mem.recall(f"number{number}", after=said.token, hits_max=50)
        assert f"reading number{number} of the gauge" in texts(found)


def test_what_was_just_appended_is_in_the_tables(mem):
    for number in range(3):
        mem.observe(f"reading {number}")
        assert mem.sql("SELECT count(*) FROM events").rows == [(number + 1,)]


def test_a_recalled_memory_names_its_event(mem):
    seen = mem.observe("the pool of auth is exhausted")
    (found,) = mem.recall("which pool?", after=seen.token)
    source = found.provenance
    assert (source.event_id, source.event_type) == (seen.id, "observation.recorded")
    assert (source.topic, source.partition, source.offset) == (
        "mnemolog.default.events",
        *seen.position,
    )
    assert mem.get(source.event_id).event.text == found.text


def test_a_recall_sees_what_its_keywords_let_through(mem):
    mem.observe("the pool of auth", user="Ana", project="shop", task="t-1", tags=["db"])
    last = mem.observe("the pool of pay", user="Bo", project="bank", task="t-2", agent="ops-2")
    mem.wait_for(last.token)
    pay, auth = ["the pool of pay"], ["the pool of auth"]
    for where, expected in [
        ({"agent": "ops-2"}, pay),
        ({"user": "Ana"}, auth),
        ({"project": "bank"}, pay),
        ({"task": "t-1"}, auth),
        ({"tags": ["db"]}, auth),
        ({"kinds": ["decision"]}, []),
        ({"importance_min": 0.99}, []),
        ({"occurred_until": "2001-01-01"}, []),
        ({"agent": None}, sorted(auth + pay)),
    ]:
        assert sorted(texts(mem.recall("pool", **where))) == expected, where


def test_a_handle_of_a_user_recalls_that_users_unless_asked_otherwise():
    with opened(agent="ops-1", user="Ana") as mem:
        mem.observe("the pool of auth")
        last = mem.observe("the pool of pay", user="Bo")
        assert texts(mem.recall("pool", after=last.token)) == ["the pool of auth"]
        assert texts(mem.recall("pool", user="Bo")) == ["the pool of pay"]
        assert len(mem.recall("pool", user=None)) == 2


def test_what_is_valid_until_a_time_is_not_recalled_after_it_unless_asked_for(mem):
    kept = mem.remember(
        "the code of the door is 7", occurred_at=NOW - timedelta(days=9), valid_until=NOW
    )
    mem.wait_for(kept.token)
    before, after = NOW - timedelta(seconds=1), NOW
    assert texts(mem.recall("code of the door", at=before)) == [
        kept_text := "the code of the door is 7"
    ]
    assert texts(mem.recall("code of the door", at=after)) == []
    (outdated,) = mem.recall("code of the door", at=after, include_outdated=True)
    assert (outdated.text, outdated.is_outdated) == (kept_text, True)
    assert texts(mem.recall("code of the door", as_of=before)) == [kept_text]


@pytest.mark.parametrize(
    ("name", "keywords"),
    [
        ("hits_max", {"hits_max": 0}),
        ("focus", {"focus": "everything"}),
        ("timeout_seconds", {"timeout_seconds": -1}),
        ("tokens_max", {"tokens_max": 0}),
    ],
)
def test_a_question_out_of_bounds_is_refused_by_name(mem, name, keywords):
    with pytest.raises(InvalidSetting, match=name):
        mem.recall("x", **keywords)


@pytest.mark.bad_input(61)
def test_an_unknown_keyword_of_recall_is_refused_and_named(mem):
    with pytest.raises(TypeError, match="'agnt'"):
        mem.recall("x", agnt="ops-1")


def test_an_empty_memory_answers_with_nothing(mem):
    assert texts(mem.recall("anything?")) == []
    assert list(mem.timeline(agent="ops-1")) == []
    assert list(mem.checkpoints()) == []
    assert mem.end().offsets == {}
    for ask in (mem.get, mem.why, mem.history, mem.resume):
        with pytest.raises(NotFound):
            ask("e-1")


# Recalls are recorded afterwards


def test_a_recall_is_recorded_after_the_answer():
    with opened(agent="ops-1", user="Ana", record_recalls=True) as mem:
        seen = mem.observe("the pool of auth is exhausted")
        (found,) = mem.recall("which pool?", after=seen.token)
        mem._recorder.close()
        last = recorded(mem)[-1]
        assert isinstance(last.event, MemoryRecalled)
        assert last.event.question == "which pool?"
        (line,) = last.event.memories
        assert (line.memory, line.score) == (found.id, found.score)
        assert (last.envelope.agent, last.envelope.user) == ("ops-1", "Ana")
        assert mem.sql("SELECT question FROM recalls").rows == [("which pool?",)]


def test_closing_records_what_waits(tmp_path):
    with opened(tmp_path, record_recalls=True) as mem:
        for number in range(30):
            mem.recall(f"question {number}")
    with opened(tmp_path) as mem:
        asked = [e.event.question for e in recorded(mem)]
    assert asked == [f"question {number}" for number in range(30)]


def test_recalls_are_not_recorded_when_that_is_off_or_nothing_may_be_written(tmp_path):
    with opened(tmp_path, record_recalls=False) as mem:
        mem.wait_for(mem.observe("x").token)
        mem.recall("x")
    with opened(tmp_path, record_recalls=True, read_only=True) as mem:
        mem.recall("x")
    with opened(tmp_path) as mem:
        assert [e.event.event_type for e in recorded(mem)] == ["observation.recorded"]


# By id and by cause


def test_get_gives_a_memory_with_its_weight_and_an_event_whole(mem):
    seen = mem.observe("pool exhausted", data={"max": 50})
    mem.wait_for(seen.token)
    known = mem.get(seen.memory_id)
    assert (known.id, known.text) == (seen.memory_id, "pool exhausted")
    assert known.weight.weight > 0
    event = mem.get(seen)
    assert (event.id, event.event.data, event.position) == (seen.id, {"max": 50}, seen.position)


def test_the_history_of_a_memory_is_what_formed_and_changed_it(mem):
    seen = mem.observe("pool exhausted")
    mem.used(seen.memory_id, id="used-1")
    mem.feedback(seen.memory_id, 1, id="praised-1")
    pinned = mem.pin(seen.memory_id, id="pinned-1")
    mem.used("mem_" + "0" * 32, id="anothers")
    mem.wait_for(mem.end())
    ids = [event.id for event in mem.history(seen.memory_id)]
    assert ids[0] == seen.id
    assert set(ids) == {seen.id, "used-1", "praised-1", pinned.id}


def test_a_history_is_in_the_logs_order_though_a_clock_went_back(mem):
    seen = mem.observe("pool exhausted", occurred_at="2030-01-01T10:00:00Z")
    names = ["second", "third"]
    for name, moment in zip(names, ("2030-01-01T09:59:00Z", "2030-01-01T09:58:00Z"), strict=True):
        mem.used(seen.memory_id, id=name, occurred_at=moment)
    history = mem.history(seen.memory_id, after=mem.end())
    assert [event.id for event in history] == [seen.id, *names]


def test_why_leads_from_a_decision_to_the_events_it_rests_on(mem):
    asked = mem.message("why is login down?")
    seen = mem.observe("pool exhausted", caused_by=asked)
    decided = mem.decide("raise it", because=[seen.memory_id], caused_by=asked)
    mem.wait_for(decided.token)
    tree = mem.why(decided)
    assert (tree.id, tree.event_type, tree.position) == (
        decided.id,
        "decision.made",
        decided.position,
    )
    by_role = {node.role: node for node in tree.causes}
    assert by_role["caused by"].id == asked.id
    memory = by_role["because of"]
    assert (memory.kind, memory.id) == ("memory", seen.memory_id)
    (formed_by,) = memory.causes
    assert (formed_by.id, formed_by.role) == (seen.id, "formed by")


# By task


def test_resume_gives_the_checkpoint_what_came_after_and_what_is_open(mem):
    mem.observe("before", task="auth", occurred_at=NOW)
    saved = mem.checkpoint("keep auth up", plan_summary="raise it", task="auth", occurred_at=NOW)
    after = mem.observe("after it", task="auth", occurred_at=NOW)
    call = mem.act("restart", task="auth", occurred_at=NOW)
    running = call.__enter__()
    other = mem.observe("elsewhere", task="jwt", occurred_at=NOW)
    mem.wait_for(other.token)
    found = mem.resume("auth", at=NOW + timedelta(hours=2))
    assert isinstance(found, Resumed)
    assert found.checkpoint.saved.id == saved.id
    assert found.checkpoint.checkpoint.current_goal == "keep auth up"
    assert [event.event_id for event in found.events] == [after.id, running.id]
    assert [action.action for action in found.pending] == [running.action]
    assert found.ago == timedelta(hours=2)
    assert "keep auth up" in found.text
    assert "after it" in found.text
    assert "elsewhere" not in found.text
    call.__exit__(None, None, None)
    mem.wait_for(mem.end())
    assert mem.resume("auth").pending == ()


def test_an_action_that_its_task_ended_without_is_orphaned(mem):
    call = mem.act("restart", task="auth")
    running = call.__enter__()
    ended = mem.append("task.completed", {"outcome": "up again"}, task="auth")
    mem.wait_for(ended.token)
    found = mem.resume("auth")
    assert [action.action for action in found.orphaned] == [running.action]
    assert found.checkpoint is None
    call.__exit__(None, None, None)


def test_the_timeline_and_the_checkpoints_of_a_task(mem):
    first = mem.checkpoint("go", plan_summary="a", task="auth")
    mem.observe("x", task="jwt")
    second = mem.checkpoint("on", plan_summary="b", task="auth", parent=first.id)
    mem.wait_for(second.token)
    assert [entry.event_id for entry in mem.timeline(task="auth")] == [first.id, second.id]
    saved = mem.checkpoints(task="auth")
    assert [one.id for one in saved] == [second.id, first.id]
    assert [one.parent for one in saved] == [first.id, None]
    assert len(mem.timeline(agent="ops-1", rows_max=2)) == 2


def test_a_pinned_memory_fades_no_more_and_an_unpinned_one_does(mem):
    old = mem.remember("ancient rule of the house", occurred_at="1950-01-01")
    mem.wait_for(old.token)
    faded = mem.get(old.memory_id).weight.weight
    mem.wait_for(mem.pin(old.memory_id).token)
    pinned = mem.get(old.memory_id).weight
    assert pinned.pinned
    assert pinned.weight > faded
    mem.wait_for(mem.pin(old.memory_id, pinned=False).token)
    assert mem.get(old.memory_id).weight.weight == pytest.approx(faded)
