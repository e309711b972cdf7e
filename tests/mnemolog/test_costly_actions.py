"""A costly action is preceded by a checkpoint of what was told since the last one."""

import pytest

from mnemolog import Memory
from mnemolog.processors import hosted
from mnemolog.schemas.decoded import Ours
from mnemolog.schemas.errors import LogUnavailable
from mnemolog.schemas.events.governance import PolicyChanged
from mnemolog.schemas.policy import CheckpointPolicy, Policy
from support.log_records import everything
from support.polling import eventually


def opened(folder=":memory:", **more):
    wanted = {"embedder": "hashing", "projects": False, "agent": "ann", "task": "t1", **more}
    return Memory(folder, **wanted)


def told(memory):
    """Return the events on the log, in order."""
    items = [memory.engine.codec.decode(record) for record in everything(memory.engine.log)]
    return [item.recorded for item in items if isinstance(item, Ours)]


def types(memory):
    return [one.event.event_type for one in told(memory)]


def test_the_state_is_saved_first_and_then_the_action_starts():
    with opened() as memory:
        memory.append("task.started", {"goal": "sign the tokens"})
        memory.plan("keys first", steps=["make keys", "sign"])
        with memory.act("deploy", arguments={"to": "prod"}, costly=True) as action:
            assert types(memory)[2:] == ["checkpoint.saved", "action.started"], "both are durable"
        checkpoint = told(memory)[2].event.checkpoint
        assert checkpoint.id == told(memory)[2].id == action.saved.id
        assert (checkpoint.current_goal, checkpoint.current_sub_goal) == (
            "sign the tokens",
            "make keys",
        )
        assert checkpoint.tags == ("automatic", "costly")


def test_with_nothing_new_to_save_it_says_so_and_acts():
    with opened() as memory:
        with memory.act("deploy", costly=True) as first:
            pass
        with memory.act("deploy", costly=True) as second:
            pass
        with memory.act("deploy") as cheap:
            pass
        assert first.saved is None
        assert second.saved is not None, "the first action is something new"
        assert cheap.saved is None
    with opened(agent=None) as memory, memory.act("deploy", costly=True) as action:
        assert action.saved is None


def test_each_checkpoint_has_the_one_before_as_its_parent_whoever_saved_it():
    with opened() as memory:
        memory.observe("one")
        mine = memory.checkpoint("a goal", plan_summary="a plan")
        memory.observe("two")
        with memory.act("deploy", costly=True) as first:
            pass
        with memory.act("deploy", costly=True) as second:
            pass
        saved = {
            one.id: one.event.checkpoint
            for one in told(memory)
            if one.id != mine.id and one.event.event_type == "checkpoint.saved"
        }
        assert saved[first.saved.id].parent == mine.id
        assert saved[first.saved.id].key_observations == ("two",)
        assert saved[second.saved.id].parent == first.saved.id


def test_a_retry_with_its_id_saves_nothing_twice():
    with opened() as memory:
        memory.observe("one")
        for _ in range(2):
            with memory.act("deploy", costly=True, id="call-1"):
                pass
        assert types(memory).count("checkpoint.saved") == 2, "the second tells of the first call"
        ids = [one.id for one in told(memory) if one.event.event_type == "action.started"]
        assert ids == ["call-1"]


@pytest.mark.parametrize("numbers", [{"enabled": False}, {"triggers": ("paused",)}])
def test_the_policy_may_want_none(numbers):
    with opened() as memory:
        policy = Policy(checkpoints=CheckpointPolicy(**numbers))
        memory.append(PolicyChanged, {"revision": 1, "policy": policy}, agent=None, task=None)
        memory.observe("one")
        with memory.act("deploy", costly=True) as action:
            assert action.saved is None


def test_a_log_that_is_away_lets_no_costly_action_start(monkeypatch):
    with opened() as memory:
        memory.observe("one")

        def away(records, **_):
            raise LogUnavailable("the log", "away")

        monkeypatch.setattr(memory.engine.log, "append", away)
        with pytest.raises(LogUnavailable), memory.act("deploy", costly=True):
            raise AssertionError("the block is not entered")


def test_what_a_host_of_the_processor_knows_is_where_it_begins(tmp_path):
    with opened(tmp_path, processors=True) as memory:
        memory.append("task.started", {"goal": "sign the tokens"})
        paused = memory.append("task.paused")
        with hosted(memory.engine):
            eventually(lambda: memory.engine.log.ends() == {0: 3}, what="the pause is saved")
        memory.observe("came after the host")
    with opened(tmp_path) as memory:
        with memory.act("deploy", costly=True):
            pass
        by_processor, *_, before = [
            one for one in told(memory) if one.event.event_type == "checkpoint.saved"
        ]
        assert by_processor.envelope.cause == paused.id
        assert before.event.checkpoint.parent == by_processor.id
        assert before.event.checkpoint.current_goal == "sign the tokens"
        assert before.event.checkpoint.key_observations == ("came after the host",)
