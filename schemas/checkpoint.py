"""A checkpoint: an agent's or a task's saved state, from which work resumes.

The embedding is never in the event: `embedding` is null there, and readers fill it from the
vector cache. The state of a kind of task is typed by name and version and lifted by migrators.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, StrictInt, model_validator

from mnemolog.schemas.events.base import (
    Count,
    Id,
    Ids,
    Instant,
    JsonMap,
    Name,
    Part,
    Said,
    Tags,
    Text,
    Texts,
)
from mnemolog.schemas.text import cut, one_line

GOAL_CHARACTERS_MAX = 50
PLAN_CHARACTERS_MAX = 70
REFLECTION_CHARACTERS_MAX = 100


class Node(Part):
    """A piece of a task; the tree is told by `parent`. Only a blocked node has a reason."""

    id: Id
    title: Said
    status: Literal["todo", "running", "done", "blocked", "abandoned"] = "todo"
    blocked_reason: Text | None = None
    parent: Id | None = None

    @model_validator(mode="after")
    def _reason_fits(self) -> Self:
        if (self.status == "blocked") != (self.blocked_reason is not None):
            raise ValueError("a blocked node has a reason, and no other has one")
        return self


class PendingAction(Part):
    """What the agent was about to do, or waits for."""

    action: Id
    tool: Said
    arguments: JsonMap = {}
    note: Text | None = None


class ToolCall(Part):
    """A tool call that was made, with the head of its answer."""

    action: Id
    tool: Said
    arguments: JsonMap = {}
    result: Text | None = None
    success: bool | None = None


class TokenUse(Part):
    """Tokens spent so far, and the window's size."""

    used: Count = 0
    limit: Count | None = None


class TypedState(Part):
    """The state of one kind of task: `state_schema` names it, `state_version` its version."""

    state_schema: Name
    state_version: Annotated[StrictInt, Field(ge=1)] = 1
    values: JsonMap = {}


class TaskState(Part):
    """Where a task stands."""

    task_id: Name
    nodes: Annotated[tuple[Node, ...], Field(max_length=4_096)] = ()
    current_node: Id | None = None
    completed: Ids = ()
    blocked: Ids = ()
    variables: JsonMap = {}
    pending_actions: tuple[PendingAction, ...] = ()
    last_tool_calls: tuple[ToolCall, ...] = ()
    working_memory: JsonMap = {}
    tokens: TokenUse = TokenUse()
    iterations: Count = 0
    state: TypedState | None = None

    @model_validator(mode="after")
    def _is_a_tree(self) -> Self:
        parents = {node.id: node.parent for node in self.nodes}
        if len(parents) != len(self.nodes):
            raise ValueError("two nodes have one id")
        for node in self.nodes:
            _check_ancestry(node.id, parents)
        named = {*self.completed, *self.blocked, *filter(None, [self.current_node])}
        if unknown := sorted(named - parents.keys()):
            raise ValueError(f"no node {unknown[0]!r} in the tree")
        return self


def _check_ancestry(node: str, parents: dict[str, str | None]) -> None:
    seen = {node}
    while (parent := parents[node]) is not None:
        if parent not in parents:
            raise ValueError(f"no node {parent!r} in the tree")
        if parent in seen:
            raise ValueError(f"nodes form a cycle through {parent!r}")
        seen.add(parent)
        node = parent


class Checkpoint(Part):
    """An agent's saved state, whole."""

    id: Id
    timestamp: Instant
    agent: Name
    current_goal: Said
    plan_summary: Said
    current_sub_goal: Text | None = None
    key_observations: Texts = ()
    decision_rationale: Text | None = None
    intermediate_results: JsonMap = {}
    self_reflection: Text | None = None
    parent: Id | None = None
    tags: Tags = ()
    task_state: TaskState | None = None
    embedding: None = None


def embedding_text(checkpoint: Checkpoint) -> str:
    """Return the words by which a checkpoint is found: labelled parts, empty ones left out.

    The label is part of the vector's content: to change one is to change every vector.
    """
    parts = (
        ("Agent", checkpoint.agent),
        ("Overall goal", checkpoint.current_goal),
        ("Current plan", checkpoint.plan_summary),
        ("Sub-goal", checkpoint.current_sub_goal),
        ("Key observations", "; ".join(checkpoint.key_observations)),
        ("Decision rationale", checkpoint.decision_rationale),
        ("Self-reflection", checkpoint.self_reflection),
        ("Tags", ", ".join(checkpoint.tags)),
    )
    return ". ".join(f"{label}: {value}" for label, value in parts if value and value.strip())


def prompt_summary(checkpoint: Checkpoint) -> str:
    """Return one line for a prompt: the minute, the goal, the plan and the reflection, each cut."""
    parts = (
        checkpoint.timestamp.strftime("%Y-%m-%d %H:%M"),
        f"goal: {cut(one_line(checkpoint.current_goal), characters_max=GOAL_CHARACTERS_MAX)}",
        f"plan: {cut(one_line(checkpoint.plan_summary), characters_max=PLAN_CHARACTERS_MAX)}",
        _reflection(checkpoint.self_reflection),
    )
    return " | ".join(part for part in parts if part)


def _reflection(text: str | None) -> str:
    if not text or not text.strip():
        return ""
    return f"reflection: {cut(one_line(text), characters_max=REFLECTION_CHARACTERS_MAX)}"
