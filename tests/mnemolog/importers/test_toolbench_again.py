"""Search trees that come twice, have grown, lie beside one another, or are bad."""

import json

import pytest

from mnemolog.importers.toolbench import ToolBench
from mnemolog.schemas.events.experience import ActionStarted, TaskStarted
from support.import_log import ImportLog, json_file, lines_file
from support.search_trees import call, forked, run


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def started(log: ImportLog) -> list:
    return [found.recorded.event for found in log.of(ActionStarted)]


# Again, grown, and beside one another


def test_importing_twice_adds_nothing_under_another_name_too(log, tmp_path):
    first = log.take(json_file(tmp_path, forked(), name="G1_"))
    again = log.take(lines_file(tmp_path, forked(), name="b.jsonl"))
    assert (again.added, again.already_there) == (0, first.added)


def test_a_tree_that_has_grown_adds_its_new_branch(log, tmp_path):
    log.take(json_file(tmp_path, run(call("yard", call("a"), call("b")), win=None)))
    grown = run(call("yard", call("a"), call("b"), call("c")), win=None)
    report = log.take(json_file(tmp_path, grown))
    assert report.added == 3  # back to the branch point, the call, its answer


def test_equal_siblings_are_two(log, tmp_path):
    log.take(json_file(tmp_path, run(call("yard"), call("yard"))))
    assert len(started(log)) == 2


def test_two_queries_are_two_tasks(log, tmp_path):
    path = lines_file(tmp_path, forked(), forked(query="Is the yard open?"))
    assert log.take(path).problems == []
    assert len({found.envelope.task for found in log.events()}) == 2


def test_deep_trees_may_stand_a_line_each_whatever_the_file_is_called(log, tmp_path):
    deep = call("last")
    for number in reversed(range(20)):
        deep = call(f"step {number}", deep)
    path = lines_file(tmp_path, run(deep), forked(query="Open?"), name="answers.json")
    assert log.take(path).problems == []
    assert len(log.of(TaskStarted)) == 2


# What is bad


@pytest.mark.parametrize(
    ("node", "place"),
    [
        (None, "line 1, node 3"),
        ("text", "line 1, node 3"),
        ({"node_type": "Wish", "children": []}, "line 1, node 3"),
        ({"node_type": "Action", "description": " ", "children": []}, "line 1, node 3"),
        ({"node_type": "Action Input", "description": "{}", "children": []}, "line 1, node 3"),
    ],
)
def test_a_bad_node_is_named_and_its_neighbours_come(log, tmp_path, node, place):
    report = log.take(json_file(tmp_path, run(call("yard"), node, call("desk"))))
    assert [problem.place for problem in report.problems] == [place]
    assert [made.tool for made in started(log)] == ["yard", "desk"]


def test_a_run_without_a_query_is_named_and_told_all_the_same(log, tmp_path):
    report = log.take(json_file(tmp_path, run(call("yard"), query=None)))
    assert [problem.place for problem in report.problems] == ["line 1, answer_generation"]
    assert len(started(log)) == 1


@pytest.mark.parametrize("bad", [3, [], {"tree": 3}, {"tree": {"tree": []}}, {}])
def test_what_holds_no_tree_is_named_and_its_neighbours_come(log, tmp_path, bad):
    report = log.take(json_file(tmp_path, [forked(), bad, forked()]), format="toolbench")
    assert [problem.place for problem in report.problems] == ["item 2"]
    assert len(log.of(TaskStarted)) == 1


def test_a_tree_is_recognised_by_its_answer_or_by_how_it_begins():
    whole = json.dumps(forked()).encode()
    assert ToolBench().recognises("G1_", whole)
    assert ToolBench().recognises("x", json.dumps(forked(), indent=2).encode()[:600])
    assert not ToolBench().recognises("x", b'{"tree": {"oak": 1}, "leaves": []}')
