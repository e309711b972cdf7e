"""Asking the checkpoints: order by position, damage named, parents by pointer, actions' states."""

import threading
from datetime import timedelta

import pytest

from contracts.projection_contract import place_in
from mnemolog.projections.checkpoints.projection import CheckpointsProjection
from mnemolog.projections.checkpoints.reading import CheckpointReader
from mnemolog.projections.checkpoints.stored import with_vector
from mnemolog.schemas.checkpoint import embedding_text
from mnemolog.schemas.errors import Circular, Damaged, NotFound, StoreUnavailable
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


@pytest.mark.bad_input(79)
def test_ids_that_would_collide_when_joined_are_kept_apart(tmp_path):
    one = saved("c", agent="a&run_id=b", task="c")
    other = saved("c", agent="a", task="b&run_id=c")
    with reader(tmp_path, one, other) as asked:
        assert asked.get("c", agent="a").saved.task == "b&run_id=c"
        assert asked.get("c", agent="a&run_id=b").saved.task == "c"
        assert asked.newest(agent="a", task="c").found is None


@pytest.mark.bad_input(83)
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


@pytest.mark.bad_input(35)
def test_ancestry_follows_the_pointer_whatever_the_ids_order(tmp_path):
    older = saved("z-older", intermediate_results={"x": 1})
    with reader(tmp_path, older, saved("a-younger", parent="z-older")) as asked:
        line = asked.ancestry("a-younger")
        assert ids(line.saved) == ["a-younger", "z-older"]
        assert line.missing is None
        results = [asked.load(one).checkpoint.intermediate_results for one in line.saved]
        assert results == [{}, {"x": 1}]


@pytest.mark.bad_input(33)
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

    with reader(tmp_path, saved()) as checkpoints:
        stored = checkpoints.get("c1")
    found = with_vector(stored, vector_of=vector_of)
    assert found.embedding == (0.5, 1.5)
    assert found.checkpoint.embedding is None
    assert asked == [found.text] == [embedding_text(checkpoint())]
    assert with_vector(stored, vector_of=lambda _: None).embedding is None


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


@pytest.mark.bad_input(33)
def test_a_deep_ancestry_is_walked_to_its_root(tmp_path):
    line = [saved("c0"), *(saved(f"c{n}", parent=f"c{n - 1}") for n in range(1, 200))]
    with reader(tmp_path, *line) as asked:
        assert ids(asked.ancestry("c199").saved)[::199] == ["c199", "c0"]
