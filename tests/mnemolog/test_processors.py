"""Who runs the processors of a folder, who does not, and what becomes of what they save."""

from dataclasses import replace

import pytest

from mnemolog import Memory
from mnemolog.processors import hosted
from mnemolog.schemas.errors import InvalidSetting
from mnemolog.schemas.events import experience as ex
from mnemolog.settings import KNOWN, Settings
from support.polling import eventually

TASK = "t1"


def opened(folder, **more):
    wanted = {"embedder": "hashing", "processors": True, "agent": "ann", "task": TASK, **more}
    return Memory(folder, **wanted)


def saved(memory):
    return memory.checkpoints(task=TASK)


def work(memory):
    """Tell a few steps of a task; the phase that changes saves its state."""
    memory.append("task.started", {"goal": "sign the tokens"})
    memory.plan("keys first", steps=["make keys", "sign"])
    memory.observe("the key store is slow")
    return memory.append("task.phase-changed", {"to_phase": "test"})


def test_a_memory_that_projects_runs_them_unless_it_is_told_not_to(tmp_path):
    assert KNOWN["processors"][1] == "yes"
    with opened(tmp_path) as memory:
        last = work(memory)
        eventually(lambda: len(saved(memory)) == 2, what="both checkpoints are saved")
        newest = saved(memory)[0]
        assert (newest.event.cause, newest.tags) == (last.id, ("automatic", "phase-changed"))


@pytest.mark.parametrize("more", [{"processors": False}, {"projects": False}])
def test_others_append_what_they_are_told_alone(tmp_path, more):
    with opened(tmp_path, **more) as memory:
        work(memory)
        assert memory.engine.host is None
        assert sum(memory.engine.log.ends().values()) == 4


def test_only_a_yes_or_a_no_is_a_setting():
    with pytest.raises(InvalidSetting, match="yes or no"):
        Settings.resolve(processors="perhaps")


def test_what_came_while_nobody_ran_them_is_made_up_for_once(tmp_path):
    with opened(tmp_path, processors=False) as memory:
        work(memory)
    for _ in range(2):
        with opened(tmp_path) as memory:
            eventually(lambda m=memory: len(saved(m)) == 2, what="both checkpoints are saved")
            ends = memory.engine.log.ends()
    assert ends == {0: 6}


def test_one_handle_of_a_folder_runs_them_and_another_takes_over(tmp_path):
    with opened(tmp_path) as first:
        second = opened(tmp_path)
        assert (first.engine.host is None, second.engine.host is None) == (False, True)
    with second:
        last = work(second)
        second.wait_for(last.token)
        assert second.engine.host is not None
        eventually(lambda: len(saved(second)) == 2, what="the second handle's processors")


def test_a_worker_hosts_them_for_as_long_as_it_owns_the_tenant(tmp_path):
    with opened(tmp_path, projects=False) as memory:
        work(memory)
        with hosted(memory.engine) as host:
            eventually(lambda: memory.engine.log.ends() == {0: 6}, what="both are saved")
            assert host.failures == {}
        memory.append(ex.TaskPaused)
        assert memory.engine.log.ends() == {0: 7}, "nobody is at work any more"


def test_a_task_resumes_from_what_a_processor_saved_and_misses_nothing_that_came_meanwhile(
    tmp_path,
):
    with opened(tmp_path, projects=False) as memory:
        work(memory)
        memory.observe("came before the checkpoint was saved")
        with hosted(memory.engine):
            eventually(lambda: memory.engine.log.ends() == {0: 7}, what="both are saved")
        last = memory.observe("came after it")
    with opened(tmp_path, processors=False) as memory:
        memory.wait_for(last.token)
        resumed = memory.resume(TASK)
        assert resumed.checkpoint.checkpoint.current_goal == "sign the tokens"
        assert resumed.checkpoint.checkpoint.task_state.variables == {"phase": "test"}
        assert [event.text for event in resumed.events if event.type == "observation.recorded"] == [
            "came before the checkpoint was saved",
            "came after it",
        ]
        assert "keys first" in resumed.text
        assert resumed.checkpoint.saved.event.position not in {e.position for e in resumed.events}


def test_what_keeps_them_from_starting_keeps_nothing_else(tmp_path):
    with opened(tmp_path, processors=False) as memory:
        work(memory)
        folder = memory.engine.folder
    (folder / "processors").write_text("in the way")
    with opened(tmp_path) as memory:
        assert memory.engine.host is None
        seen = memory.observe("the pool is full")
        assert memory.recall("which pool?", after=seen.token).memories


@pytest.mark.parametrize("saved_when", ["before it is forgotten", "after it was"])
def test_what_is_forgotten_is_forgotten_in_what_a_processor_saved_too(tmp_path, saved_when):
    with opened(tmp_path, processors=False) as memory:
        memory.append("task.started", {"goal": "sign the tokens"})
        secret = memory.observe("the password of the key store is hunter2")
        memory.append("task.paused")
        if saved_when == "before it is forgotten":
            with hosted_here(memory):
                eventually(lambda: len(saved(memory)) == 1, what="the pause is saved")
        forgot = memory.forget(secret)
        if saved_when == "after it was":
            with hosted_here(memory):
                eventually(lambda: memory.engine.log.ends() == {0: 6}, what="saved, and forgotten")
        memory.wait_for(memory.end())
        assert saved(memory) == []
        assert "hunter2" not in memory.recall("what is the password?", after=forgot.token).text


def hosted_here(memory):
    """Run the processors of a folder whose settings want none."""
    found = dict(memory.engine.settings.found)
    found["processors"] = replace(found["processors"], value="yes")
    memory.engine.settings = replace(memory.engine.settings, found=found)
    return hosted(memory.engine)
