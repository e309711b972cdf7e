"""A search tree becomes thoughts, calls, branch points with their parents, and ways back."""

import json

import pytest

from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    CheckpointSaved,
    DecisionMade,
    FeedbackGiven,
    MessageExchanged,
    TaskAbandoned,
    TaskCompleted,
    TaskResumed,
    TaskStarted,
)
from support.import_log import ImportLog, json_file
from support.search_trees import call, forked, run, thought


@pytest.fixture
def log() -> ImportLog:
    return ImportLog()


def only(log: ImportLog, model) -> list:
    return [found.recorded.event for found in log.of(model)]


def test_a_tree_is_told_in_the_order_in_which_it_was_walked(log, tmp_path):
    report = log.take(json_file(tmp_path, forked()))
    assert report.problems == []
    assert log.types() == [
        *("session.started", "message.exchanged", "task.started"),
        *("action.started", "action.finished", "checkpoint.saved"),
        *("decision.made", "action.started", "action.finished", "feedback.given"),
        *("task.resumed", "decision.made"),
        *("action.started", "action.finished", "feedback.given"),
        *("task.completed", "session.ended", "feedback.given"),
    ]


def test_the_query_is_said_and_is_the_goal(log, tmp_path):
    log.take(json_file(tmp_path, forked()))
    assert only(log, MessageExchanged)[0].text == "Which trains leave today?"
    assert only(log, TaskStarted)[0].goal == "Which trains leave today?"
    scopes = {(e.envelope.session, e.envelope.task, e.envelope.agent) for e in log.events()}
    ((session, task, agent),) = scopes
    assert session == task
    assert agent == "toolbench"


def test_a_thought_is_a_decision_with_its_reason(log, tmp_path):
    log.take(json_file(tmp_path, forked()))
    decided = only(log, DecisionMade)
    assert [(made.what, made.why) for made in decided] == [
        ("Ask the yard.", None),
        ("Ask the desk.", "It is open."),
    ]


@pytest.mark.parametrize(
    ("given", "arguments", "raw"),
    [
        ('{"day": "today"}', {"day": "today"}, None),
        ("", {}, ""),
        ("{bad", {}, "{bad"),
        ("[1]", {}, "[1]"),
    ],
)
def test_an_action_input_is_the_arguments_of_its_action(log, tmp_path, given, arguments, raw):
    log.take(json_file(tmp_path, run(call("desk", arguments=given))))
    started = only(log, ActionStarted)[0]
    assert (started.tool, started.arguments, started.raw) == ("desk", arguments, raw)


@pytest.mark.parametrize(
    ("observation", "code", "success"),
    [
        ("two trains", 0, True),
        ('{"error": "", "response": "two"}', 0, True),
        ('{"error": "no such function", "response": ""}', 1, False),
        ('{"error": "the yard is shut", "response": ""}', 0, False),
        ("the model gave up", 4, True),
        ("timed out", 5, False),
        ({"trains": 2}, None, True),
    ],
)
def test_an_observation_is_the_answer_and_says_whether_it_is_one(
    log, tmp_path, observation, code, success
):
    log.take(json_file(tmp_path, run(call("desk", observation=observation, code=code))))
    finished = only(log, ActionFinished)[0]
    text = observation if isinstance(observation, str) else json.dumps(observation)
    assert (finished.success, finished.result or finished.error) == (success, text)


def test_a_call_without_an_observation_is_orphaned_for_the_search_went_on(log, tmp_path):
    bare = {"node_type": "Action", "description": "yard", "children": []}
    log.take(json_file(tmp_path, run(call("desk", bare, observation=None))))
    ended = only(log, ActionFinished)
    assert [(made.tool, made.success, made.orphaned) for made in ended] == [
        ("desk", False, True),
        ("yard", False, True),
    ]


def test_causes_lead_from_each_step_back_to_the_query(log, tmp_path):
    log.take(json_file(tmp_path, forked()))
    events = {found.envelope.id: found for found in log.events()}
    finished = log.of(ActionFinished)
    assert all(found.envelope.cause == found.recorded.event.action for found in finished)
    step, steps = finished[-1], []
    while step.envelope.cause:
        step = events[step.envelope.cause]
        steps.append(step.event_type)
    assert steps == [
        *("action.started", "decision.made", "task.resumed", "checkpoint.saved"),
        *("action.finished", "action.started", "task.started"),
        *("message.exchanged", "session.started"),
    ]


# Branch points


def test_a_branch_point_is_a_checkpoint_and_its_parent_the_one_above(log, tmp_path):
    inner = call("yard", call("left"), call("right"))
    log.take(json_file(tmp_path, run(call("desk", inner, call("far")))))
    outer, within = [saved.checkpoint for saved in only(log, CheckpointSaved)]
    assert (outer.parent, within.parent) == (None, outer.id)
    back = [resumed.checkpoint for resumed in only(log, TaskResumed)]
    assert back == [within.id, outer.id]


def test_a_checkpoint_holds_the_steps_that_led_to_it(log, tmp_path):
    deeper = thought("Try the desk.", call("desk", call("a"), call("b"), observation="shut"))
    log.take(json_file(tmp_path, run(call("yard", deeper))))
    saved = only(log, CheckpointSaved)[0].checkpoint
    state = saved.task_state
    assert [(node.title, node.status) for node in state.nodes] == [
        ("yard", "done"),
        ("Try the desk.", "done"),
        ("desk", "done"),
    ]
    assert [node.parent for node in state.nodes] == [None, *(n.id for n in state.nodes[:-1])]
    assert state.current_node == state.nodes[-1].id
    assert [(made.tool, made.result) for made in state.last_tool_calls] == [
        ("yard", "fine"),
        ("desk", "shut"),
    ]
    assert saved.plan_summary == "Try the desk."
    assert saved.key_observations == ("fine", "shut")


def test_what_a_checkpoint_can_not_hold_stands_in_the_call_alone(log, tmp_path):
    long = json.dumps({"text": "x" * 20_000})
    report = log.take(json_file(tmp_path, run(call("desk", call("a"), call("b"), arguments=long))))
    assert report.problems == []
    assert only(log, CheckpointSaved)[0].checkpoint.task_state.last_tool_calls[0].arguments == {}
    assert len(only(log, ActionStarted)[0].arguments["text"]) == 20_000


@pytest.mark.parametrize("depth", [31, 200])
def test_a_tree_deeper_than_an_event_may_be_comes_in_whole(log, tmp_path, depth):
    tree = call("last")
    for number in reversed(range(depth // 2)):
        tree = call(f"step {number}", tree)
    report = log.take(json_file(tmp_path, run(tree)))
    assert report.problems == []
    assert [made.tool for made in only(log, ActionStarted)] == [
        *(f"step {number}" for number in range(depth // 2)),
        "last",
    ]


def test_a_tree_beyond_all_bounds_is_named(log, tmp_path):
    tree = call("last")
    for _ in range(200):
        tree = call("step", tree)
    report = log.take(json_file(tmp_path, run(tree)), format="toolbench")
    assert [problem.place for problem in report.problems] == ["document"]
    assert "nesting depth" in report.problems[0].reason


# Judgements


def test_what_was_pruned_and_what_finished_is_judged(log, tmp_path):
    log.take(json_file(tmp_path, forked()))
    finished = [found.envelope.id for found in log.of(ActionFinished)]
    judged = only(log, FeedbackGiven)
    assert [(made.target, made.score, made.label) for made in judged[:2]] == [
        (finished[1], -1.0, "pruned"),
        (finished[2], 1.0, "finished"),
    ]


def test_a_search_that_won_completes_its_task_with_the_answer(log, tmp_path):
    log.take(json_file(tmp_path, forked()))
    (completed,) = log.of(TaskCompleted)
    assert completed.recorded.event.outcome == "Two trains."
    judged = only(log, FeedbackGiven)[-1]
    assert (judged.target, judged.score) == (completed.envelope.id, 1.0)
    assert judged.label == "win (give_answer)"


def test_a_search_that_lost_abandons_it(log, tmp_path):
    log.take(json_file(tmp_path, forked(win=False, final="")))
    assert "without an answer" in only(log, TaskAbandoned)[0].outcome
    assert only(log, FeedbackGiven)[-1].score == -1.0


def test_without_a_verdict_nothing_is_said_of_the_end(log, tmp_path):
    log.take(json_file(tmp_path, forked(win=None)))
    assert log.types()[-1] == "feedback.given"
    assert only(log, TaskCompleted) == []
