"""Taking a task up again: what is known, what is open, how long ago, and the words for a prompt."""

from datetime import timedelta

import pytest

from mnemolog.projections.checkpoints.resume import is_mostly_chinese, resume
from mnemolog.schemas.errors import NotFound
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    ObservationRecorded,
    SessionEnded,
    TaskStarted,
)
from mnemolog.schemas.events.memory import MemoryForgotten
from support.checkpoints import fold, reader, saved
from support.histories import START, happened

LATER = START + timedelta(days=3)


def noted(text, **names):
    return happened(ObservationRecorded(text=text), task="t1", **names)


def test_a_task_resumes_from_its_newest_checkpoint_and_what_came_after(tmp_path):
    events = (
        happened(TaskStarted(goal="go"), task="t1"),
        saved("c1"),
        saved("c2"),
        noted("after"),
        happened(ObservationRecorded(text="of another task"), task="t2"),
    )
    with reader(tmp_path, *events) as asked:
        resumed = resume(asked, "t1", at=LATER)
    assert resumed.checkpoint.saved.id == "c2"
    assert resumed.checkpoint.checkpoint.current_goal == "go"
    assert [one.text for one in resumed.events] == ["after"]
    assert resumed.ago == timedelta(days=3) - timedelta(minutes=2)
    assert (resumed.damaged, resumed.events_left_out) == ((), 0)


def test_damaged_checkpoints_are_passed_over_and_named(tmp_path):
    folder = fold(tmp_path, saved("c1"), noted("between"), saved("c2"))
    with reader(tmp_path) as asked:
        (folder / "files" / asked.list()[0].file).write_bytes(b"")
        resumed = resume(asked, "t1", at=LATER)
    assert resumed.checkpoint.saved.id == "c1"
    assert [error.what for error in resumed.damaged] == ["checkpoint c2"]
    assert [one.type for one in resumed.events] == ["observation.recorded", "checkpoint.saved"]
    assert "1 newer checkpoint(s) are damaged" in resumed.text


def test_a_task_without_a_checkpoint_resumes_from_its_events(tmp_path):
    events = (happened(TaskStarted(goal="Fix the pool"), task="t1"), noted("seen"))
    with reader(tmp_path, *events) as asked:
        resumed = resume(asked, "t1", at=LATER)
    assert resumed.checkpoint is None
    assert [one.text for one in resumed.events] == ["Fix the pool", "seen"]
    assert resumed.ago == timedelta(days=3) - timedelta(minutes=1)
    assert "No checkpoint was saved" in resumed.text
    assert "Goal: Fix the pool" in resumed.text


def test_an_unknown_task_is_not_found(tmp_path):
    with reader(tmp_path, saved("c1")) as asked, pytest.raises(NotFound, match="t9"):
        resume(asked, "t9", at=LATER)


def test_what_was_saved_in_the_future_was_saved_just_now(tmp_path):
    with reader(tmp_path, saved("c1")) as asked:
        resumed = resume(asked, "t1", at=START - timedelta(days=9))
    assert resumed.ago == timedelta(0)
    assert "just now" in resumed.text


def test_open_and_orphaned_actions_are_told_also_those_from_before_the_checkpoint(tmp_path):
    events = (
        happened(ActionStarted(action="a0", tool="deploy", costly=True), task="t1", session="s1"),
        happened(ActionStarted(action="a1", tool="bash"), task="t1", session="s0"),
        happened(ActionStarted(action="a2", tool="done"), task="t1", session="s1"),
        happened(ActionFinished(action="a2", success=True), task="t1", session="s1"),
        saved("c1"),
        happened(SessionEnded(), session="s0"),
    )
    with reader(tmp_path, *events) as asked:
        resumed = resume(asked, "t1", at=LATER)
    assert [one.action for one in resumed.pending] == ["a0"]
    assert [one.action for one in resumed.orphaned] == ["a1"]


def test_many_events_are_bounded_and_the_rest_is_counted(tmp_path):
    with reader(tmp_path, saved("c1"), *(noted(str(n)) for n in range(130))) as asked:
        resumed = resume(asked, "t1", at=LATER)
    assert (len(resumed.events), resumed.events_left_out) == (100, 30)
    assert resumed.events[-1].text == "129"
    assert resumed.text.count("\n") < 30


def test_the_whole_text_in_english(tmp_path):
    nodes = [
        {"id": "n1", "title": "Write the schema", "status": "running"},
        {"id": "n2", "title": "Rotate keys", "status": "blocked", "blocked_reason": "no access"},
    ]
    state = {
        "task_id": "t1",
        "nodes": nodes,
        "current_node": "n1",
        "pending_actions": [{"action": "p1", "tool": "pytest", "note": "run all"}],
    }
    events = (
        saved("c1", current_goal="Build auth", plan_summary="schema first", task_state=state),
        happened(ActionStarted(action="a1", tool="deploy", costly=True), task="t1"),
        noted("secret"),
        MemoryForgotten(texts=["secret"]),
    )
    with reader(tmp_path, *events) as asked:
        resumed = resume(asked, "t1", at=START + timedelta(hours=5))
    assert resumed.text.splitlines() == [
        "Task t1, last saved or seen 5 h ago.",
        "Checkpoint: 2030-01-01 00:00 | goal: Build auth | plan: schema first",
        "Current step: Write the schema",
        "Blocked: Rotate keys: no access",
        "Planned: pytest run all",
        "Since then:",
        "- 2030-01-01 00:01 action.started: deploy {}",
        "- 2030-01-01 00:02 observation.recorded: (forgotten)",
        "Actions without a result yet (they may have taken effect):",
        "- deploy {} [costly: check before repeating]",
    ]


def test_the_whole_text_in_chinese(tmp_path):
    events = (
        saved(
            "c1",
            current_goal="实现 JWT 认证模块",
            plan_summary="先写令牌",
            self_reflection="小心会话",
        ),
        happened(ActionStarted(action="a1", tool="部署"), task="t1"),
    )
    with reader(tmp_path, *events) as asked:
        resumed = resume(asked, "t1", at=START + timedelta(days=55))
    assert resumed.text.splitlines() == [
        "任务 t1，上次保存或活动：55 天前。",
        "检查点：2030-01-01 00:00 | 目标：实现 JWT 认证模块 | 计划：先写令牌 | 反思：小心会话",
        "此后发生：",
        "- 2030-01-01 00:01 action.started: 部署 {}",
        "尚无结果的操作（可能已经生效）：",
        "- 部署 {}",
    ]


@pytest.mark.parametrize(
    ("text", "chinese"),
    [
        ("实现 JWT 认证模块", True),
        ("修复 session-token 超时", True),
        ("Fix the 登录 page for all users", False),
        ("", False),
        ("1234", False),
        ("ログイン", False),
    ],
)
def test_the_language_of_the_labels_is_that_of_the_goal(text, chinese):
    assert is_mostly_chinese(text) is chinese
