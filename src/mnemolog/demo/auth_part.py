"""The first part of the show: an agent chooses because of what it recalls, and is cut off."""

from datetime import datetime
from typing import TYPE_CHECKING, Final

from mnemolog import Memory
from mnemolog.demo.auth import (
    AGENT,
    AUTH,
    FAULT,
    KINDS,
    PROJECT,
    QUESTION,
    SCHEMA,
    TASK,
    WINDOW,
)
from mnemolog.demo.stage import RECALL_SECONDS, Stage, events_of
from mnemolog.demo.telling import tell
from mnemolog.demo.tokens import trial
from mnemolog.schemas.events.experience import ActionStarted

if TYPE_CHECKING:
    from mnemolog.projections.recall.answer import Recalled
    from mnemolog.streams.publishing import Appended

GOAL: Final = "登录改用 JWT"
CLAIMS: Final = (
    "JWT for 15 minutes with sub, role and session_version; 60 s of leeway when checking"
)


def play_auth(stage: Stage) -> None:
    """Tell two months of work, recall, decide, act, be judged, save, and be cut off."""
    stage.screen.title("An agent builds an authentication module")
    with stage.memory(agent=AGENT, project=PROJECT) as memory:
        _tell(memory, stage)
        recalled = ask_auth(memory, now=stage.now)
        decision = _decide(memory, stage, recalled)
        _act(memory, stage, decision)
        _save_and_be_cut_off(memory, stage, decision)


def ask_auth(memory: Memory, *, now: datetime, question: str = QUESTION) -> "Recalled":
    """Return what the agent recalls before it chooses: the last 90 days, as decided and learned."""
    return memory.recall(
        question,
        at=now,
        occurred_from=now - WINDOW,
        kinds=KINDS,
        focus="past-decisions",
        hits_max=5,
        timeout_seconds=RECALL_SECONDS,
    )


def resume_auth(stage: Stage) -> None:
    """Take the task up again in a process that knows nothing but its name."""
    stage.screen.step(f"Another process takes up the task {TASK!r}: memory.resume({TASK!r})")
    with stage.memory() as memory:
        resumed = memory.resume(TASK, at=stage.now)
    stage.screen.say(resumed.text)
    saved = resumed.checkpoint
    is_whole = saved is not None and saved.checkpoint.current_goal == GOAL
    open_actions = [action.tool for action in resumed.pending]
    stage.screen.prove("the checkpoint came back whole", holds=is_whole)
    stage.screen.prove("the call that was cut off is known", holds=open_actions == ["deploy"])


def _tell(memory: Memory, stage: Stage) -> None:
    stage.screen.step(f"Two months of work are appended as {len(AUTH.events)} events")
    with stage.screen.busy("appending, folding, embedding ..."):
        tell(memory, AUTH, start=stage.now)
    formed = memory.sql("SELECT count(*), count(DISTINCT event_id) FROM memories").rows[0]
    stage.screen.say(f'{formed[1]} of them formed {formed[0]} memories; "好的" or "ok" formed none')


def _decide(memory: Memory, stage: Stage, recalled: "Recalled") -> "Appended":
    stage.screen.step("It has to choose how to do JWT, and recalls the last 90 days")
    stage.screen.say(f"? {QUESTION}", style="cyan")
    stage.hits(recalled)
    first = set(events_of(recalled[:2]))
    stage.expect(
        memory,
        "the user schema (60 days ago) and the session-token fault (55) come first",
        holds=first == {SCHEMA, FAULT},
    )
    stage.screen.step("It decides, because of these two, and the log knows why")
    why = "session_version 能让旧令牌一起失效；时钟不一致曾让刚登录的人被踢出"
    decision = memory.decide(CLAIMS, why=why, because=recalled[:2], task=TASK)
    memory.wait_for(decision.token)
    stage.tree(memory.why(decision))
    return decision


def _act(memory: Memory, stage: Stage, decision: "Appended") -> None:
    stage.screen.step("It acts on the decision, and is judged")
    with memory.act("token-trial", task=TASK, caused_by=decision) as action:
        action.result = trial(at=int(stage.now.timestamp()), key=b"only for this trial")
    stage.screen.say(f"token-trial: {action.result}")
    memory.feedback(decision, 0.9, given_by="赵敏", comment="方案可以，按这个上", task=TASK)
    stage.screen.say("赵敏, +0.9: 方案可以，按这个上")


def _save_and_be_cut_off(memory: Memory, stage: Stage, decision: "Appended") -> None:
    stage.screen.step("It saves a checkpoint, starts a deployment, and its process ends there")
    nodes = [
        {"id": "choose", "title": "Choose the claims", "status": "done"},
        {"id": "deploy", "title": "Deploy to staging", "status": "running"},
        {"id": "switch", "title": "Switch the mobile client"},
    ]
    memory.checkpoint(
        GOAL,
        plan_summary="Choose, try, deploy to staging, then switch the mobile client",
        current_sub_goal="Deploy to staging",
        key_observations=["The mobile client keeps no cookies", "时钟相差 40 秒也能通过校验"],
        decision_rationale=CLAIMS,
        intermediate_results={"decision": decision.id},
        self_reflection="先查以前的决定和教训，再动手，省了一次返工",
        task_state={
            "task_id": TASK,
            "nodes": nodes,
            "current_node": "deploy",
            "completed": ["choose"],
        },
        tags=["auth", "jwt"],
        task=TASK,
    )
    started = {"action": "deploy-1", "tool": "deploy", "arguments": {"to": "staging"}}
    memory.append(ActionStarted, {**started, "costly": True}, task=TASK)
    stage.screen.say(f"saved: {GOAL}; then: deploy to staging ... (no result will ever come)")
