"""Chains that lead back to themselves, and ids whose order says nothing of who came first."""

import itertools
import tracemalloc

import pytest

from mnemolog.schemas.errors import Circular, InvalidEvent
from support.remembering import opened, texts

BYTES_MAX = 8_388_608


@pytest.fixture(scope="module")
def mem():
    with opened(agent="ops-1") as memory:
        yield memory


def saved(mem, name, parent, **state):
    return mem.checkpoint(
        f"goal of {name}", plan_summary="on", id=name, parent=parent, intermediate_results=state
    )


def ancestry(mem, name):
    return mem._readers.checkpoints().ancestry(name)


def bounded(walk):
    """Return what *walk* gives, once it ended and took little memory."""
    tracemalloc.start()
    try:
        return walk()
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < BYTES_MAX


@pytest.mark.bad_input(33)
@pytest.mark.parametrize("length", [1, 2, 3, 60])
@pytest.mark.parametrize("leading", [0, 1, 40])
def test_a_circle_of_checkpoints_is_an_error_that_names_its_ids(mem, length, leading):
    ring = [f"ring-{length}-{leading}-{n}" for n in range(length)]
    line = [f"line-{length}-{leading}-{n}" for n in range(leading)]
    for name, parent in itertools.pairwise([*line, *ring, ring[0]]):
        last = saved(mem, name, parent)
    mem.wait_for(last.token)
    for start in {[*line, *ring][0], ring[-1]}:
        with pytest.raises(Circular) as circle:
            bounded(lambda start=start: ancestry(mem, start))
        assert circle.value.ids[0] == circle.value.ids[-1]
        assert set(circle.value.ids) == set(ring)
        assert ring[0][:20] in str(circle.value)


@pytest.mark.bad_input(33)
def test_what_is_in_a_circle_is_restored_by_itself(mem):
    saved(mem, "c1", "c2", x=1)
    last = saved(mem, "c2", "c1", x=2)
    mem.wait_for(last.token)
    assert mem.saved("c1").checkpoint.intermediate_results == {"x": 1}
    assert mem.saved("c2").checkpoint.intermediate_results == {"x": 2}


@pytest.mark.bad_input(33)
@pytest.mark.parametrize("length", [1, 2, 300])
def test_causes_that_lead_back_end_where_they_close(mem, length):
    ring = [f"cause-{length}-{n}" for n in range(length)]
    for name, cause in itertools.pairwise([*ring, ring[0]]):
        last = mem.observe(f"seen {name}", id=name, caused_by=cause)
    mem.wait_for(last.token)
    tree = bounded(lambda: str(mem.why(ring[0])))
    assert len(tree.splitlines()) <= 200
    assert ("(shown above)" in tree) or ("(not followed further)" in tree)


@pytest.mark.bad_input(33)
@pytest.mark.parametrize("length", [1, 2, 50])
def test_memories_that_replace_or_link_one_another_in_a_circle_are_answered(mem, length):
    ring = [
        mem.remember(f"ring of {length}: lamp {n}", session=f"r{length}") for n in range(length)
    ]
    for one, other in itertools.pairwise([*ring, ring[0]]):
        for event, fields in {
            "memory.superseded": {"memory": one.memory_id, "superseded_by": other.memory_id},
            "memory.linked": {
                "from_memory": one.memory_id,
                "to_memory": other.memory_id,
                "kind": "causes",
            },
        }.items():
            last = mem.append(event, fields)
    mem.wait_for(last.token)
    found = bounded(
        lambda: mem.recall("lamp", include_outdated=True, session=f"r{length}", hits_max=50)
    )
    assert (len(found), found.missing) == (length, ())
    bounded(lambda: mem.why(ring[0].memory_id))
    bounded(lambda: mem.history(ring[0].memory_id))


@pytest.mark.bad_input(33)
@pytest.mark.parametrize("parents", [["n1"], ["n2", "n1"], ["n2", "n3", "n2"], [None, "n9"]])
def test_a_tree_of_a_task_that_is_none_is_refused_with_the_node(mem, parents):
    nodes = [
        {"id": f"n{n}", "title": "x", "parent": parent} for n, parent in enumerate(parents, start=1)
    ]
    with pytest.raises(InvalidEvent, match=r"(cycle through|no node) 'n\d'"):
        mem.checkpoint("go", plan_summary="on", task_state={"task_id": "t", "nodes": nodes})


ORDERS = list(itertools.permutations(["z-older", "m-middle", "a-younger"]))


@pytest.mark.bad_input(35)
@pytest.mark.parametrize("names", ORDERS, ids="-".join)
@pytest.mark.parametrize("turn", ["oldest first", "youngest first"])
def test_ancestors_follow_the_pointer_whatever_ids_and_order_say(mem, names, turn):
    mine = [f"{turn} {'|'.join(names)} {name}" for name in names]
    links = list(zip(mine, [None, *mine], strict=False))
    for number, (name, parent) in enumerate(links if turn == "oldest first" else links[::-1]):
        last = saved(mem, name, parent, x=number)
    mem.wait_for(last.token)
    assert [one.id for one in ancestry(mem, mine[-1]).saved] == mine[::-1]
    for name, parent in links:
        assert mem.saved(name).checkpoint.parent == parent


@pytest.mark.bad_input(35)
def test_the_newest_is_the_last_that_was_saved_whatever_its_id(mem):
    for names in (["z", "a"], ["a", "z"], ["9", "10"], ["Z", "a"], ["é", "e\u0301"]):
        task = "|".join(names)
        for name in names:
            last = mem.checkpoint("go", plan_summary=name, id=f"{task}/{name}", task=task)
        mem.wait_for(last.token)
        assert mem.resume(task).checkpoint.saved.id == f"{task}/{names[-1]}"
        assert [one.id for one in mem.checkpoints(task=task)] == [
            f"{task}/{name}" for name in names[::-1]
        ]
    assert texts(mem.recall("go", task="z|a", hits_max=1))
