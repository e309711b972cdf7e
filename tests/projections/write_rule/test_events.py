"""What each event type forms, and why it forms nothing."""

import pytest

from mnemolog.projections.formed_memory import Formed
from mnemolog.projections.write_rule import form
from mnemolog.schemas.checkpoint import Checkpoint, embedding_text
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from mnemolog.schemas.policy import BUILT_IN, Policy, WritePolicy
from support.histories import START, happened, opened

SKILL = mem.SkillLearned(name="Drain a node", description="cordon, then drain", steps=("a", "b"))


def formed(event: Event, *, policy: Policy = BUILT_IN, **names) -> Formed:
    (one,) = opened(happened(event, **names))
    return form(one, policy)


def told(event: Event, **names) -> list[tuple[str, str, int, str]]:
    memories = formed(event, **names).memories
    return [(m.kind, m.text, m.importance, m.stated_by) for m in memories]


# Conversations


def test_what_a_user_says_is_an_episode():
    message = ex.MessageExchanged(role="user", text="The pool is exhausted.")
    assert told(message) == [("episode", "The pool is exhausted.", 500, "user")]


def test_a_speaker_stands_before_what_was_said_and_before_each_statement():
    message = ex.MessageExchanged(role="user", speaker="Ann", text="Hi Bo. I prefer tea.")
    assert told(message) == [
        ("episode", "Ann: Hi Bo. I prefer tea.", 500, "user"),
        ("preference", "Ann: I prefer tea.", 900, "user"),
    ]


def test_statements_stand_beside_the_episode_that_holds_them():
    text = "支付由小李负责。技术栈是 TypeScript、Node 和 PostgreSQL。我们决定采用 JWT。今天天气好。"
    assert told(ex.MessageExchanged(role="user", text=text)) == [
        ("episode", text, 500, "user"),
        ("constraint", "支付由小李负责。", 800, "user"),
        ("constraint", "技术栈是 TypeScript、Node 和 PostgreSQL。", 800, "user"),
        ("decision", "我们决定采用 JWT。", 800, "user"),
    ]


def test_of_an_assistant_only_decisions_count():
    text = "You must not deploy on Friday. I prefer tabs. Let's go with plan B."
    assert told(ex.MessageExchanged(role="assistant", text=text)) == [
        ("episode", text, 500, "agent"),
        ("decision", "Let's go with plan B.", 800, "agent"),
    ]


def test_a_tool_states_nothing_and_is_kept_by_its_head():
    message = ex.MessageExchanged(role="tool", text="Never trust me. " * 100)
    ((kind, text, importance, stated_by),) = told(message)
    assert (kind, importance, stated_by) == ("result", 500, "tool")
    assert len(text) <= 600
    assert text.endswith("…")


def test_a_system_message_forms_nothing_and_says_why():
    nothing = formed(ex.MessageExchanged(role="system", text="You are a helpful agent."))
    assert nothing == Formed(
        (), "message.exchanged: instructions are kept with their session, not recalled"
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [("好的", "confirmation"), ("继续", "confirmation"), ("收到", "confirmation"),
     ("ok", "confirmation"), ("thanks", "confirmation"), ("", "empty"), ("👍", "bare signs"),
     ("DEBUG tick", "debug line")],
)  # fmt: skip
def test_noise_forms_nothing_and_the_rule_is_named(text, why):
    nothing = formed(ex.MessageExchanged(role="user", text=text))
    assert nothing == Formed((), f"message.exchanged: {why}")


# Observations, decisions, actions


def test_an_observation_of_success_matters_more():
    assert told(ex.ObservationRecorded(text="All tests pass", success=True))[0][2] == 700
    assert told(ex.ObservationRecorded(text="A test fails", success=False))[0][2] == 500


def test_what_a_tool_observed_states_nothing():
    noted = ex.ObservationRecorded(text="You must not restart.", stated_by="tool")
    assert told(noted) == [("result", "You must not restart.", 500, "tool")]


def test_a_decision_tells_what_why_and_the_alternatives_and_what_it_rests_on():
    decision = ex.DecisionMade(
        what="Roll back to v1.8",
        why="it fixed the leak!",
        alternatives=("restart", "wait"),
        because_events=("e7",),
        because_memories=("mem_1",),
        confidence=0.25,
    )
    (memory,) = formed(decision).memories
    assert memory.text == ("Roll back to v1.8. Why: it fixed the leak! Alternatives: restart; wait")
    assert (memory.kind, memory.importance, memory.confidence) == ("decision", 500, 250)
    assert (memory.from_events, memory.from_memories) == (("e7",), ("mem_1",))


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        (ex.ActionFinished(action="1", tool="ls", success=True, result="a.txt b.txt"),
         ("result", "ls: a.txt b.txt", 700, "tool")),
        (ex.ActionFinished(action="1", tool="ls", success=False, error="no such file"),
         ("result", "ls failed: no such file", 500, "tool")),
        (ex.ActionFinished(action="1", success=False),
         ("result", "tool failed", 500, "tool")),
        (ex.ActionFinished(action="1", tool="get", success=True, data={"b": 1, "a": "好"}),
         ("result", 'get: {"a":"好","b":1}', 700, "tool")),
    ],
)  # fmt: skip
def test_an_action_tells_its_tool_and_its_result_or_error(action, expected):
    assert told(action) == [expected]


@pytest.mark.parametrize("result", [None, "", "ok", "true"])
def test_an_action_that_says_nothing_forms_nothing(result):
    nothing = formed(ex.ActionFinished(action="1", tool="touch", success=True, result=result))
    assert nothing.memories == ()
    assert nothing.reason.startswith("action.finished: ")


def test_an_action_that_got_no_answer_forms_nothing():
    nothing = formed(ex.ActionFinished(action="1", tool="ls", success=False, orphaned=True))
    assert nothing.memories == ()


def test_the_length_of_a_head_is_the_policys():
    short = Policy(write=WritePolicy(result_head_characters=50))
    action = ex.ActionFinished(action="1", tool="cat", success=True, result="字" * 1_000)
    (memory,) = formed(action, policy=short).memories
    assert len(memory.text) == 50


# Tasks, plans, sessions


def test_a_task_tells_its_goal_its_outcome_and_its_lesson():
    assert told(ex.TaskStarted(goal="Fix login", plan="look, then act")) == [
        ("episode", "Task started: Fix login. Plan: look, then act", 500, "agent")
    ]
    assert told(ex.TaskBlocked(reason="no access", needs="a key")) == [
        ("episode", "Task blocked: no access. Needs: a key", 500, "agent")
    ]
    assert told(ex.TaskCompleted(outcome="Login works", lesson="Check the clock first")) == [
        ("episode", "Task completed: Login works", 700, "agent"),
        ("lesson", "Check the clock first", 1_000, "agent"),
    ]
    assert told(ex.TaskCompleted(outcome="Half", lesson="ok", success=False)) == [
        ("episode", "Task failed: Half", 500, "agent")
    ]
    assert told(ex.TaskAbandoned(outcome="Too dear", lesson="Ask for the price first")) == [
        ("episode", "Task abandoned: Too dear", 500, "agent"),
        ("lesson", "Ask for the price first", 800, "agent"),
    ]


def test_a_goal_may_state_a_constraint():
    assert told(ex.TaskStarted(goal="Migrate to JWT. Live sessions must not break."))[1:] == [
        ("constraint", "Live sessions must not break.", 800, "agent")
    ]


def test_a_plan_tells_its_steps_and_its_reason():
    plan = ex.PlanChanged(plan="Two phases", steps=("copy", "switch"), reason="less risk")
    assert told(plan) == [
        ("plan", "Two phases. Steps: 1. copy; 2. switch. Because: less risk", 500, "agent")
    ]


def test_a_session_tells_its_outcome_if_it_had_one():
    assert told(ex.SessionEnded(outcome="All fixed", success=True)) == [
        ("episode", "Session ended: All fixed", 700, "agent")
    ]
    assert formed(ex.SessionEnded()) == Formed((), "session.ended: no outcome")


def test_a_saved_checkpoint_is_a_memory_by_its_words():
    state = Checkpoint(
        id="c1", timestamp=START, agent="ops-1", current_goal="Fix", plan_summary="Look", tags=["x"]
    )
    (memory,) = formed(ex.CheckpointSaved(checkpoint=state, tags=["y"])).memories
    assert (memory.kind, memory.text) == ("checkpoint", embedding_text(state))
    assert memory.tags == ("y", "x")


# Feedback


def test_a_comment_is_a_memory_and_praise_makes_it_matter_more():
    praise = ex.FeedbackGiven(target="e1", score=1.0, comment="It fixed it", given_by="ann")
    (memory,) = formed(praise).memories
    assert (memory.text, memory.importance) == ("ann: It fixed it", 700)
    assert memory.from_events == ("e1",)
    blame = ex.FeedbackGiven(target="m1", target_kind="memory", score=-1.0, comment="Wrong port")
    (memory,) = formed(blame).memories
    assert (memory.importance, memory.from_memories) == (500, ("m1",))


def test_feedback_without_a_comment_forms_nothing():
    assert formed(ex.FeedbackGiven(target="e1", score=1.0)) == Formed(
        (), "feedback.given: no comment"
    )


# Said outright, drawn together, learned


@pytest.mark.parametrize(
    ("kind", "importance"),
    [("preference", 900), ("concept", 800), ("fact", 700), ("constraint", 800), ("decision", 800),
     ("lesson", 800), ("episode", 500), ("anything", 500)],
)  # fmt: skip
def test_a_memory_said_outright_matters_by_its_kind_unless_it_says_how_much(kind, importance):
    assert told(mem.MemoryFormed(text="x", kind=kind)) == [(kind, "x", importance, "user")]
    assert told(mem.MemoryFormed(text="x", kind=kind, importance=0.123))[0][2] == 123


def test_a_memory_said_outright_keeps_what_it_says():
    event = mem.MemoryFormed(
        text="AA-17 is down",
        entities=("the blue line",),
        confidence=0.5,
        stated_by="inferred",
        valid_from=START,
        from_events=("e1", "e2"),
        tags=("t",),
    )
    (memory,) = formed(event).memories
    assert memory.entities[0] == "the blue line"
    assert (memory.confidence, memory.stated_by) == (500, "inferred")
    assert (memory.valid_from, memory.valid_until) == (START, None)
    assert (memory.from_events, memory.tags) == (("e1", "e2"), ("t",))


def test_consolidated_knowledge_and_skills_are_memories():
    drawn = mem.KnowledgeConsolidated(text="Node-7 leaks", memories=("m1", "m2"))
    (memory,) = formed(drawn).memories
    assert (memory.kind, memory.importance, memory.stated_by) == ("concept", 800, "inferred")
    assert memory.from_memories == ("m1", "m2")
    assert told(SKILL) == [
        ("skill", "Drain a node: cordon, then drain. Steps: 1. a; 2. b", 800, "agent")
    ]
