"""Actions are pending, finished or orphaned, whatever the order of their events."""

from contracts.projection_contract import changed, place_in
from mnemolog.projections.checkpoints.projection import CheckpointsProjection
from mnemolog.projections.checkpoints.stored import ActionStatus
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    SessionEnded,
    TaskAbandoned,
)
from support.checkpoints import reader
from support.histories import START, batches, happened, recorded


def started(action, **names):
    return happened(ActionStarted(action=action, tool="bash"), **names)


def finished(action, **names):
    return happened(ActionFinished(action=action, success=True), **names)


def statuses(asked, task=None):
    return {(one.started.key, one.action): one.status.value for one in asked.actions(task)}


def test_an_action_is_pending_until_it_is_finished_in_any_order(tmp_path):
    with reader(
        tmp_path, started("a1"), started("a2"), finished("a3"), finished("a1"), started("a3")
    ) as asked:
        assert {action: state for (_, action), state in statuses(asked).items()} == {
            "a1": "finished",
            "a2": "pending",
            "a3": "finished",
        }


def test_actions_of_one_id_belong_to_their_own_key(tmp_path):
    with reader(tmp_path, started("a1", agent="a"), finished("a1", agent="b")) as asked:
        assert statuses(asked) == {("a", "a1"): "pending"}


def test_an_id_used_again_is_another_action(tmp_path):
    with reader(tmp_path, started("a1"), finished("a1"), started("a1", event_id="again")) as asked:
        assert [one.status for one in asked.actions()] == [
            ActionStatus.FINISHED,
            ActionStatus.PENDING,
        ]


def test_an_action_is_orphaned_once_it_is_said_and_finished_if_it_ends_all_the_same(tmp_path):
    lost = [
        happened(ActionFinished(action=name, success=False, orphaned=True), event_id=f"lost-{name}")
        for name in ("a1", "a2")
    ]
    with reader(tmp_path, started("a1"), started("a2"), *lost, finished("a2")) as asked:
        assert statuses(asked) == {("ops-1", "a1"): "orphaned", ("ops-1", "a2"): "finished"}


def test_an_action_whose_session_ended_is_orphaned(tmp_path):
    events = (
        started("a1", session="s1"),
        started("a2", session="s2"),
        happened(SessionEnded(), session="s1"),
        started("a3", session="s1"),
    )
    with reader(tmp_path, *events) as asked:
        assert [one.action for one in asked.orphaned_actions()] == ["a1"]
        assert [one.action for one in asked.pending_actions()] == ["a2", "a3"]


def test_an_action_whose_task_ended_is_orphaned_also_when_another_agent_ended_it(tmp_path):
    events = (
        started("a1", agent="a", task="t1"),
        started("a2", agent="a", task="t2"),
        happened(TaskAbandoned(outcome="no"), agent="boss", task="t1"),
    )
    for number, order in enumerate((events, (events[2], *events[:2]))):
        placed = [
            happened(e.event, agent=e.agent, task=e.names["task"], at=START, event_id=f"x{i}")
            for i, e in enumerate(order)
        ]
        with reader(tmp_path / str(number), *placed) as asked:
            assert [one.action for one in asked.orphaned_actions("t1")] == ["a1"]
            assert [one.action for one in asked.pending_actions("t1")] == []
            assert [one.action for one in asked.pending_actions()] == ["a2"]


def test_a_guest_ends_no_task(tmp_path):
    records = recorded(started("a1", task="t1"), happened(TaskAbandoned(outcome="no"), task="t1"))
    records[1] = changed(records[1], lambda document: document.update(type="task.abandoned"))
    projection = CheckpointsProjection.open(place_in(tmp_path))
    for batch in batches(records):
        projection.apply(batch)
    projection.close()
    with reader(tmp_path) as asked:
        assert [one.action for one in asked.pending_actions("t1")] == ["a1"]
        assert [one.guest for one in asked.timeline()] == [False, True]
