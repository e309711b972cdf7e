"""Names that look like delimiters, paths or novels: kept apart, never a path, found in full."""

import pytest

from mnemolog.schemas.errors import InvalidEvent
from support.remembering import opened, recorded, texts

LONG = "会议" * 64  # 384 bytes: longer than any file's name may be
CONFUSABLE = [("a&run_id=b", "c"), ("a", "b&run_id=c"), ("a:b", "c"), ("a", "b:c")]
IDS = ["../../pwn", "/etc/x", "C:\\x", "a/b", "x" * 256, "。" * 85]


def files_below(folder):
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.bad_input(79)
def test_names_with_delimiters_never_meet(tmp_path):
    with opened(tmp_path) as mem:
        for agent, session in CONFUSABLE:
            scope = {"agent": agent, "session": session, "task": f"{agent}/{session}"}
            mem.observe(f"seen by {agent} in {session}", **scope)
            mem.checkpoint(f"goal of {agent} in {session}", plan_summary="go", **scope)
        mem.wait_for(mem.end())
        for agent, session in CONFUSABLE:
            found = texts(mem.recall("seen", agent=agent, session=session, kinds=["episode"]))
            assert found == [f"seen by {agent} in {session}"]
            resumed = mem.resume(f"{agent}/{session}")
            assert resumed.checkpoint.checkpoint.current_goal == f"goal of {agent} in {session}"
            assert len(mem.timeline(agent=agent, session=session)) == 2


@pytest.mark.bad_input(81)
@pytest.mark.parametrize(
    "name", ["../../tmp/pwn", "/etc/x", "..\\..\\x", "C:\\x", "a/../../b", "."]
)
@pytest.mark.parametrize("word", ["agent", "user", "project", "session", "task"])
def test_a_name_that_is_a_path_is_refused_and_makes_no_file(tmp_path, name, word):
    data = tmp_path / "deep" / "down" / "data"
    with opened(data, projects=False) as mem:
        with pytest.raises(InvalidEvent, match=word):
            mem.observe("x", **{word: name})
        with pytest.raises(InvalidEvent, match=word):
            mem.recall("x", **{word: name})
        assert recorded(mem) == []
    outside = {path for path in files_below(tmp_path) if data not in path.parents}
    assert outside == set()


@pytest.mark.bad_input(81)
@pytest.mark.parametrize("event_id", IDS, ids=range(len(IDS)))
def test_an_id_may_be_anything_and_is_never_a_path(tmp_path, event_id):
    data = tmp_path / "deep" / "down" / "data"
    with opened(data, agent="ops-1") as mem:
        saved = mem.checkpoint("go on", plan_summary="somehow", id=event_id, task="t-1")
        mem.wait_for(saved.token)
        assert mem.resume("t-1").checkpoint.saved.id == event_id
        assert mem.get(event_id).id == event_id
        mem.sql("SELECT 1")
    outside = {path for path in files_below(tmp_path) if data not in path.parents}
    assert outside == set()


@pytest.mark.bad_input(83)
@pytest.mark.parametrize("word", ["agent", "session", "task"])
def test_a_long_name_is_kept_and_found_in_full(tmp_path, word):
    with opened(tmp_path) as mem:
        scope = {"agent": "ops-1", "task": "t-1", word: LONG}
        saved = mem.checkpoint("go on", plan_summary="somehow", **scope)
        mem.wait_for(mem.observe("seen", **scope).token)
        assert mem.resume(scope["task"]).checkpoint.saved.id == saved.id
        assert texts(mem.recall("seen", **{word: LONG}, kinds=["episode"])) == ["seen"]
        assert mem.recall("seen", **{word: LONG[:-1]}).memories == ()


def test_a_name_that_is_too_long_is_refused_in_bytes():
    with opened(projects=False) as mem, pytest.raises(InvalidEvent, match=r"1026 bytes.*1 to 1024"):
        mem.observe("x", session="会" * 342)
