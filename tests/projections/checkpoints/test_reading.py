"""Asking the checkpoints: order by position, damage named, parents by pointer, actions' states."""

import threading
from datetime import timedelta

import pytest

from contracts.projection_contract import changed, place_in
from mnemolog.projections.checkpoints.projection import CheckpointsProjection
from mnemolog.projections.checkpoints.reading import CheckpointReader
from mnemolog.projections.checkpoints.stored import ActionStatus, with_vector
from mnemolog.schemas.checkpoint import embedding_text
from mnemolog.schemas.errors import Circular, Damaged, NotFound, StoreUnavailable
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    ObservationRecorded,
    SessionEnded,
    TaskAbandoned,
    TaskStarted,
)
from mnemolog.schemas.positions import Position
from support.checkpoints import checkpoint, files, fold, reader, saved
from support.histories import START, agents, batches, happened, recorded


def ids(found):
    return [one.id for one in found]


def spoil(folder, name):
    path = folder / "files" / name
    path.write_bytes(path.read_bytes()[:50])


# The newest


def test_nothing_saved_gives_nothing(tmp_path):
    with reader(tmp_path) as asked:
        assert asked.newest(task="t1").found is None
        assert asked.list() == []
        assert asked.timeline() == ()


def test_no_folder_is_the_worlds_fault(tmp_path):
    with pytest.raises(StoreUnavailable):
        CheckpointReader.open(tmp_path / "none")


def test_the_newest_is_the_last_in_the_log_and_not_the_latest_by_time(tmp_path):
    first = happened(saved("v159").event, at=START + timedelta(milliseconds=3), task="t1")
    second = happened(saved("v160").event, at=START, task="t1")
    with reader(tmp_path, first, second) as asked:
        assert asked.newest(task="t1").found.saved.id == "v160"
        assert ids(asked.list(task="t1")) == ["v160", "v159"]


def test_between_keys_the_later_head_is_the_newer(tmp_path):
    ann, bob = agents(partitions=2)
    events = [
        happened(
            saved("a-late", agent=ann).event, agent=ann, at=START + timedelta(hours=9), task="t1"
        ),
        happened(saved("a-early", agent=ann).event, agent=ann, at=START, task="t1"),
        happened(saved("b", agent=bob).event, agent=bob, at=START + timedelta(hours=1), task="t1"),
    ]
    for partitions in (1, 2):
        with reader(tmp_path / str(partitions), *events, partitions=partitions) as asked:
            assert ids(asked.list(task="t1")) == ["b", "a-early", "a-late"]


def test_task_and_agent_and_time_are_filters(tmp_path):
    with reader(tmp_path, saved("c1"), saved("c2", task="t2"), saved("c3", agent="b")) as asked:
        assert asked.newest(task="t2").found.saved.id == "c2"
        assert asked.newest(agent="b").found.saved.id == "c3"
        assert asked.newest(agent="ops-1", task="t1").found.saved.id == "c1"
        assert asked.newest(before=START + timedelta(minutes=1)).found.saved.id == "c1"
        assert asked.newest(before=START).found is None
        assert asked.newest(known_at={0: 1}).found.saved.id == "c2"
        assert asked.newest(known_at={}).found is None
        assert ids(asked.list(rows_max=2)) == ["c3", "c2"]


def test_the_task_may_be_told_by_the_state_alone(tmp_path):
    event = saved("c1", task=None, task_state={"task_id": "t9"})
    with reader(tmp_path, event) as asked:
        assert asked.newest(task="t9").found.checkpoint.task_state.task_id == "t9"


def test_a_damaged_one_is_named_and_the_one_before_it_is_used(tmp_path):
    folder = fold(tmp_path, saved("c1"), saved("c2"), saved("c3"))
    with reader(tmp_path) as asked:
        for broken in asked.list()[:2]:
            spoil(folder, broken.file)
        newest = asked.newest(task="t1")
        assert newest.found.saved.id == "c1"
        assert [error.what for error in newest.damaged] == ["checkpoint c3", "checkpoint c2"]
        with pytest.raises(Damaged, match="c3"):
            asked.get("c3")


def test_a_file_that_is_gone_counts_as_damaged(tmp_path):
    folder = fold(tmp_path, saved("c1"), saved("c2"))
    with reader(tmp_path) as asked:
        (folder / "files" / asked.list()[0].file).unlink()
        newest = asked.newest()
        assert newest.found.saved.id == "c1"
        assert "can't be read" in newest.damaged[0].reason


def test_ids_that_would_collide_when_joined_are_kept_apart(tmp_path):
    one = saved("c", agent="a&run_id=b", task="c")
    other = saved("c", agent="a", task="b&run_id=c")
    with reader(tmp_path, one, other) as asked:
        assert asked.get("c", agent="a").saved.task == "b&run_id=c"
        assert asked.get("c", agent="a&run_id=b").saved.task == "c"
        assert asked.newest(agent="a", task="c").found is None


def test_a_long_name_is_found_whole(tmp_path):
    session, task = "会议" * 40, "任务" * 42
    event = happened(saved("会议" * 40).event, task=task, session=session)
    with reader(tmp_path, event) as asked:
        assert asked.newest(task=task).found.saved.id == "会议" * 40
        assert len(asked.timeline(session=session)) == 1


def test_an_unknown_id_is_not_found(tmp_path):
    with reader(tmp_path) as asked:
        with pytest.raises(NotFound, match="c9"):
            asked.get("c9")
        with pytest.raises(NotFound, match="c9"):
            asked.ancestry("c9")


# Ancestry


def test_ancestry_follows_the_pointer_whatever_the_ids_order(tmp_path):
    older = saved("z-older", intermediate_results={"x": 1})
    with reader(tmp_path, older, saved("a-younger", parent="z-older")) as asked:
        line = asked.ancestry("a-younger")
        assert ids(line.saved) == ["a-younger", "z-older"]
        assert line.missing is None
        results = [asked.load(one).intermediate_results for one in line.saved]
        assert results == [{}, {"x": 1}]


def test_a_cycle_is_an_error_that_names_its_ids(tmp_path):
    events = (saved("c0", parent="c1"), saved("c1", parent="c2"), saved("c2", parent="c1"))
    with reader(tmp_path, *events) as asked:
        with pytest.raises(Circular) as caught:
            asked.ancestry("c0")
        assert caught.value.ids == ("c1", "c2", "c1")
        with pytest.raises(Circular):
            asked.ancestry("c1")


def test_a_checkpoint_that_is_its_own_parent_is_a_cycle(tmp_path):
    with reader(tmp_path, saved("c1", parent="c1")) as asked, pytest.raises(Circular):
        asked.ancestry("c1")


def test_a_missing_parent_is_named(tmp_path):
    with reader(tmp_path, saved("c2", parent="c1"), saved("c3", parent="c2")) as asked:
        line = asked.ancestry("c3")
        assert (ids(line.saved), line.missing) == (["c3", "c2"], "c1")


def test_a_parent_is_looked_for_with_its_own_agent_first(tmp_path):
    events = (
        saved("base", agent="a", plan_summary="mine"),
        saved("base", agent="b", plan_summary="theirs"),
        saved("child", agent="a", parent="base"),
        saved("lent", agent="c", parent="base"),
    )
    with reader(tmp_path, *events) as asked:
        assert [one.agent for one in asked.ancestry("child").saved] == ["a", "a"]
        assert [one.agent for one in asked.ancestry("lent").saved] == ["c", "b"]


# Vectors


def test_a_vector_comes_from_the_cache_by_the_checkpoints_words(tmp_path):
    asked = []

    def vector_of(text):
        asked.append(text)
        return [0.5, 1.5]

    found = with_vector(checkpoint(), vector_of=vector_of)
    assert found.embedding == (0.5, 1.5)
    assert found.checkpoint.embedding is None
    assert asked == [found.text] == [embedding_text(checkpoint())]
    assert with_vector(checkpoint(), vector_of=lambda _: None).embedding is None


# The timeline


def test_the_timeline_has_everybodys_events_and_its_filters(tmp_path):
    events = (
        happened(TaskStarted(goal="go"), task="t1", project="p", user="u", session="s1"),
        happened(ObservationRecorded(text="seen"), task="t1", session="s2", cause="e0"),
        happened(ObservationRecorded(text="elsewhere"), agent="b", project="p"),
    )
    with reader(tmp_path, *events) as asked:
        assert [one.event_id for one in asked.timeline()] == ["e0", "e1", "e2"]
        assert [one.event_id for one in asked.timeline(task="t1")] == ["e0", "e1"]
        assert [one.event_id for one in asked.timeline(project="p")] == ["e0", "e2"]
        assert [one.event_id for one in asked.timeline(session="s2")] == ["e1"]
        assert [one.event_id for one in asked.timeline(agent="b")] == ["e2"]
        assert [one.event_id for one in asked.timeline(types=["task.started"])] == ["e0"]
        assert [one.event_id for one in asked.timeline(rows_max=2)] == ["e1", "e2"]
        assert [one.event_id for one in asked.timeline(before=START)] == []
        second = asked.timeline(session="s2")[0]
    assert (second.text, second.cause, second.position) == ("seen", "e0", (0, 1))
    assert second.occurred_at == START + timedelta(minutes=1)
    assert second.recorded_at == START + timedelta(minutes=1, seconds=1)


def test_a_long_timeline_is_read_in_pages_and_stays_in_order(tmp_path):
    events = [
        happened(ObservationRecorded(text=str(n)), agent="ab"[n % 2], event_id=f"{n:03}")
        for n in range(300)
    ]
    with reader(tmp_path, *events) as asked:
        assert [int(one.text) for one in asked.timeline(rows_max=290)] == list(range(10, 300))


def test_names_with_quotes_are_values_and_never_sql(tmp_path):
    evil = "x' OR '1'='1"
    with reader(tmp_path, saved("c1"), saved("o'brien", task=evil)) as asked:
        assert ids(asked.list(task=evil)) == ["o'brien"]
        assert asked.get("o'brien").saved.task == evil
        assert len(asked.timeline(task=evil, types=[evil, "checkpoint.saved"])) == 1


def test_an_event_is_found_at_its_places(tmp_path):
    events = (
        happened(ObservationRecorded(text="a"), event_id="same"),
        happened(ObservationRecorded(text="b"), event_id="same", agent="b"),
    )
    with reader(tmp_path, *events) as asked:
        assert sorted(asked.places("same")) == [(0, 0), (0, 1)]
        assert asked.places("other") == []


def test_what_follows_is_later_by_position_within_the_key_and_by_time_elsewhere(tmp_path):
    def noted(text, agent, minutes, task="t1"):
        return happened(
            ObservationRecorded(text=text),
            agent=agent,
            at=START + timedelta(minutes=minutes),
            task=task,
            event_id=text,
        )

    events = (
        noted("other-later", "b", 20),
        noted("own-before", "a", 90),
        happened(
            saved("c1", agent="a").event, agent="a", at=START + timedelta(minutes=10), task="t1"
        ),
        noted("own-after-though-earlier", "a", 5),
        noted("other-earlier", "b", 9),
        noted("other-task", "a", 30, task="t2"),
    )
    for partitions in (1, 2):
        with reader(tmp_path / str(partitions), *events, partitions=partitions) as asked:
            position = asked.list()[0].event.position
            after = asked.events_after(position, task="t1")
            assert {one.event_id for one in after.events} == {
                "other-later",
                "own-after-though-earlier",
            }
            assert after.left_out == 0
            shorter = asked.events_after(position, task="t1", rows_max=1)
            assert (len(shorter.events), shorter.left_out) == (1, 1)
            own = asked.events_after(position)
            assert [one.event_id for one in own.events] == [
                "own-after-though-earlier",
                "other-task",
            ]


def test_what_follows_nothing_is_not_found(tmp_path):
    with reader(tmp_path, saved("c1")) as asked, pytest.raises(NotFound, match="0@7"):
        asked.events_after(Position(0, 7), task="t1")


# Actions


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


# Beside a writer


def test_readers_in_threads_see_whole_batches_while_the_owner_writes(tmp_path):
    projection = CheckpointsProjection.open(place_in(tmp_path))
    asked = CheckpointReader.open(place_in(tmp_path).folder)
    wrong, done = [], threading.Event()

    def read():
        while not done.is_set():
            newest = asked.newest(task="t1")
            if newest.damaged or len(asked.list(rows_max=100)) % 2:
                wrong.append(newest)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    records = recorded(*(saved(f"c{n}") for n in range(40)))
    for batch in batches(records, records_max=2):
        projection.apply(batch)
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert asked.newest().found.saved.id == "c39"
    assert len(files(place_in(tmp_path).folder)) == 40
    asked.close()
    projection.close()


def test_closing_twice_is_harmless(tmp_path):
    asked = CheckpointReader.open(fold(tmp_path))
    asked.close()
    asked.close()


def test_a_deep_ancestry_is_walked_to_its_root(tmp_path):
    line = [saved("c0"), *(saved(f"c{n}", parent=f"c{n - 1}") for n in range(1, 200))]
    with reader(tmp_path, *line) as asked:
        assert ids(asked.ancestry("c199").saved)[::199] == ["c199", "c0"]
