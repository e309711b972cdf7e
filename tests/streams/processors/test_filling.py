"""What a checkpoint says of the events since the last one, and how large its state may grow."""

from mnemolog.schemas.checkpoint import prompt_summary
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.policy import CheckpointPolicy
from mnemolog.streams.processing import output_id
from mnemolog.streams.processors.checkpoints import folded
from mnemolog.streams.processors.work_state import STATES, TASKS_MAX
from support.checkpoints import checkpoint as by_hand
from support.histories import START, happened, identity, opened
from support.triggering import TASK, checkpoints

WORK = (
    ex.TaskStarted(goal="实现 JWT 认证模块"),
    ex.PlanChanged(plan="tokens first", steps=("make keys", "sign", "rotate")),
    ex.TaskProgressed(note="keys are made", node="make keys", done=1.0),
    ex.TaskProgressed(note="signing", node="step-2", done=0.4),
    ex.DecisionMade(what="RS256", why="keys rotate"),
    ex.ActionStarted(action="a1", tool="pytest", arguments={"k": "sign"}),
    ex.ActionFinished(action="a1", success=True, result="3 passed"),
    ex.ActionStarted(action="a2", tool="deploy", arguments={"to": "staging"}, costly=True),
    ex.ObservationRecorded(text="staging is slow"),
    ex.ContextMeasured(used_tokens=10, limit_tokens=100),
    ex.TaskPhaseChanged(to_phase="test"),
    ex.TaskBlocked(reason="no staging keys", needs="operations"),
)


def test_it_tells_goal_plan_steps_decisions_actions_phase_and_what_comes_next():
    told = checkpoints(*WORK)["e10"]
    assert (told.current_goal, told.plan_summary) == ("实现 JWT 认证模块", "tokens first")
    assert told.current_sub_goal == "sign"
    assert told.key_observations == ("signing", "staging is slow")
    assert told.decision_rationale == "RS256: keys rotate"
    assert told.tags == ("automatic", "phase-changed")
    state = told.task_state
    assert state.task_id == TASK
    assert [(n.id, n.status) for n in state.nodes] == [
        ("step-1", "done"),
        ("step-2", "running"),
        ("step-3", "todo"),
    ]
    assert (state.current_node, state.completed) == ("step-2", ("step-1",))
    assert [(one.tool, one.arguments) for one in state.pending_actions] == [
        ("deploy", {"to": "staging"})
    ]
    assert [(one.tool, one.arguments, one.result) for one in state.last_tool_calls] == [
        ("pytest", {"k": "sign"}, "3 passed")
    ]
    assert state.variables == {"phase": "test"}
    assert (state.tokens.used, state.tokens.limit, state.iterations) == (10, 100, 2)
    assert "实现 JWT 认证模块" in prompt_summary(told)


def test_it_stands_under_the_id_of_its_event_and_its_parent_is_the_one_before():
    saved = checkpoints(*WORK)
    ids = [output_id("checkpoints", identity(event)) for event in saved]
    assert [one.id for one in saved.values()] == ids
    assert [one.parent for one in saved.values()] == [None, *ids[:-1]]


def test_a_block_marks_the_node_and_a_resumption_frees_it():
    blocked = checkpoints(*WORK)["e11"].task_state
    assert blocked.blocked == ("step-2",)
    assert blocked.nodes[1].blocked_reason == "no staging keys"
    freed = checkpoints(*WORK, ex.TaskResumed(), ex.TaskPaused())["e13"].task_state
    assert (freed.blocked, freed.nodes[1].status) == ((), "running")


def test_what_was_told_before_the_last_one_is_not_told_again_but_goal_and_plan_are():
    told = checkpoints(*WORK)["e11"]
    assert told.key_observations == ("no staging keys", "operations")
    assert told.decision_rationale is None
    assert (told.current_goal, told.plan_summary) == ("实现 JWT 认证模块", "tokens first")
    assert told.intermediate_results["events"] == 1


def test_a_checkpoint_that_the_agent_saved_is_the_parent_and_tells_goal_and_plan():
    mine = by_hand("mine", current_goal="another goal", plan_summary="another plan")
    told = checkpoints(WORK[0], ex.CheckpointSaved(checkpoint=mine), WORK[8], ex.TaskPaused())
    (after,) = told.values()
    assert after.parent == "mine"
    assert (after.current_goal, after.plan_summary) == ("another goal", "another plan")
    assert after.key_observations == ("staging is slow",)


def test_a_new_plan_keeps_what_is_done():
    replanned = ex.PlanChanged(plan="again", steps=("make keys", "audit"))
    state = checkpoints(*WORK[:3], replanned)["e3"].task_state
    assert [(n.title, n.status) for n in state.nodes] == [("make keys", "done"), ("audit", "todo")]


def test_work_of_no_task_tells_its_open_actions_too():
    told = checkpoints(*(happened(event) for event in WORK))["e10"]
    assert told.task_state is None
    assert [one["action"] for one in told.intermediate_results["open_actions"]] == ["a2"]


def test_without_a_goal_or_a_plan_it_says_that_none_was_told():
    (told,) = checkpoints(ex.ObservationRecorded(text=" \u200b"), ex.TaskPaused()).values()
    assert (told.current_goal, told.plan_summary) == ("No goal was told.", "No plan was told.")


def test_a_state_stays_small_however_long_the_history_is():
    large, state, sizes = "x" * 2_000, None, []
    one = [
        ex.ObservationRecorded(text=large),
        ex.PlanChanged(plan=large, steps=(large,) * 400),
        ex.TaskProgressed(note=large, node="n"),
        ex.DecisionMade(what=large, why=large),
        ex.ActionStarted(action="a", tool=large, arguments={"a": large}),
        ex.ActionFinished(action="b", success=False, error=large),
    ]
    told = [happened(event, task=f"t{n}", at=START) for n in range(2 * TASKS_MAX) for event in one]
    for recorded in opened(*told):
        state = folded(state, recorded, CheckpointPolicy(enabled=False)).state
        sizes.append(len(STATES.dump_json(state)))
    assert len(state.views) == TASKS_MAX
    assert max(sizes) < TASKS_MAX * 64_000
