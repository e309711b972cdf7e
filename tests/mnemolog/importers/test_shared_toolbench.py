"""The sample search tree comes in whole: counts are worked out from its JSON alone."""

import json
from collections import Counter

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    CheckpointSaved,
    FeedbackGiven,
    TaskResumed,
)
from support.import_log import ImportLog
from support.sources import ROOT

DATA = ROOT.parent / "shared" / "data" / "toolbench"


def nodes(tree: dict) -> list[dict]:
    """Return all nodes of a tree, each before those below it."""
    found, waiting = [], [tree]
    while waiting:
        found.append(waiting.pop())
        waiting += reversed(found[-1]["children"])
    return found


@pytest.fixture(scope="module")
def told() -> tuple[list[dict], ImportLog]:
    paths = [path for path in sorted(DATA.glob("*")) if path.read_bytes()[:1] == b"{"]
    if not paths:
        pytest.skip(f"no tree in {DATA}: the samples are not beside this checkout")
    trees = [json.loads(path.read_bytes())["tree"]["tree"] for path in paths]
    log = ImportLog()
    report = log.take(DATA)
    assert (report.problems, report.files) == ([], len(paths))
    return trees, log


def test_every_thought_call_and_branch_is_there(told):
    trees, log = told
    every = [node for tree in trees for node in nodes(tree)]
    kinds = Counter(node["node_type"] for node in every)
    calls = kinds["Action Input"] - len(trees)  # the root is an empty one
    branches = [len(node["children"]) for node in every if len(node["children"]) > 1]
    judged = sum(node["pruned"] or node["finished"] for node in every)
    assert kinds["Action"] == calls
    assert Counter(log.types()) == {
        "session.started": len(trees),
        "message.exchanged": len(trees),
        "task.started": len(trees),
        "decision.made": kinds["Thought"],
        "action.started": calls,
        "action.finished": calls,
        "checkpoint.saved": len(branches),
        "task.resumed": sum(branches) - len(branches),
        "feedback.given": judged + len(trees),
        "task.abandoned": len(trees),  # `win` is false in all of them
        "session.ended": len(trees),
    }


def test_every_answer_is_its_calls(told):
    trees, log = told
    expected = [
        (above["description"], node["observation"])
        for tree in trees
        for above in nodes(tree)
        if above["node_type"] == "Action"
        for node in above["children"]
    ]
    tools = {made.envelope.id: made.recorded.event.tool for made in log.of(ActionStarted)}
    finished = [(made.envelope.cause, made.recorded.event) for made in log.of(ActionFinished)]
    assert [(tools[cause], event.result or event.error) for cause, event in finished] == expected


def test_each_branch_point_leads_to_the_one_above_it(told):
    trees, log = told
    saved = {made.recorded.event.checkpoint.id: made for made in log.of(CheckpointSaved)}
    depths = []
    for made in saved.values():
        step, depth = made.recorded.event.checkpoint, 0
        while step.parent:
            step, depth = saved[step.parent].recorded.event.checkpoint, depth + 1
        depths.append(depth)
    expected, waiting = [], [(tree, 0) for tree in trees]
    while waiting:
        node, above = waiting.pop()
        is_branch = len(node["children"]) > 1
        expected += [above] * is_branch
        waiting += [(child, above + is_branch) for child in reversed(node["children"])]
    assert depths == expected
    assert {made.recorded.event.checkpoint for made in log.of(TaskResumed)} == set(saved)


def test_every_judgement_is_of_an_event_that_is_there(told):
    _, log = told
    ids = {found.envelope.id for found in log.events()}
    judged = [made.recorded.event for made in log.of(FeedbackGiven)]
    assert {made.target for made in judged} <= ids
    assert {made.score for made in judged} == {-1.0}


def test_a_second_import_adds_nothing(told):
    _, log = told
    there = log.size()
    report = log.take(DATA)
    assert (report.added, report.already_there, log.size()) == (0, there, there)
