"""A checkpoint: an agent's or a task's saved state, from which work resumes.

The embedding is never in the event: `embedding` is null there, and readers fill it from the
vector cache. The state of a kind of task is typed by name and version and lifted by migrators.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, StrictInt, model_validator

from mnemolog.schemas.fields import (
    Count,
    Flag,
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
    is_blank,
)
from mnemolog.schemas.limits import LIST_ITEMS_MAX
from mnemolog.schemas.text import cut, one_line

# Tag of a checkpoint that a rule filled. Where its event has a cause, it covers the key's events
# up to that one, whenever it was saved.
AUTOMATIC = "automatic"
FROM_EVENTS = "from_events"  # among its intermediate results: ids of the events whose words it has
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
    success: Flag | None = None


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
        rooted: set[str] = set()
        for node in self.nodes:
            rooted |= _path_to_root(node.id, parents, rooted)
        named = {*self.completed, *self.blocked, *filter(None, [self.current_node])}
        if unknown := sorted(named - parents.keys()):
            raise ValueError(f"no node {unknown[0]!r} in the tree")
        return self


def _path_to_root(node: str, parents: dict[str, str | None], rooted: set[str]) -> set[str]:
    """Return the nodes from *node* up to its root, or up to one that is *rooted* already."""
    path: set[str] = set()
    step: str | None = node
    while step is not None and step not in rooted:
        if step not in parents:
            raise ValueError(f"no node {step!r} in the tree")
        if step in path:
            raise ValueError(f"nodes form a cycle through {step!r}")
        path.add(step)
        step = parents[step]
    return path


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


def embedding_parts(checkpoint: Checkpoint) -> tuple[tuple[str, str], ...]:
    """Return what a checkpoint says in words, each part with its label; empty ones left out."""
    parts = (
        ("Agent", checkpoint.agent),
        ("Overall goal", checkpoint.current_goal),
        ("Current plan", checkpoint.plan_summary),
        ("Sub-goal", checkpoint.current_sub_goal),
        ("Key observations", "; ".join(filter(_says, checkpoint.key_observations))),
        ("Decision rationale", checkpoint.decision_rationale),
        ("Self-reflection", checkpoint.self_reflection),
        ("Tags", ", ".join(checkpoint.tags)),
    )
    return tuple((label, text) for label, text in parts if text and _says(text))


def embedding_text(checkpoint: Checkpoint) -> str:
    """Return the words by which a checkpoint is found: labelled parts, empty ones left out.

    The label is part of the vector's content: to change one is to change every vector.
    """
    return ". ".join(f"{label}: {text}" for label, text in embedding_parts(checkpoint))


def is_automatic(checkpoint: Checkpoint) -> bool:
    """Say whether a rule filled *checkpoint*."""
    return AUTOMATIC in checkpoint.tags


def drawn_from(checkpoint: Checkpoint) -> tuple[str, ...]:
    """Return the ids of its agent's events whose words a rule put into *checkpoint*."""
    ids = checkpoint.intermediate_results.get(FROM_EVENTS)
    if not is_automatic(checkpoint) or not isinstance(ids, list):
        return ()
    return tuple(one for one in ids[:LIST_ITEMS_MAX] if isinstance(one, str))


def prompt_summary(
    checkpoint: Checkpoint, *, labels: tuple[str, str, str] = ("goal: ", "plan: ", "reflection: ")
) -> str:
    """Return one line for a prompt: the minute, the goal, the plan and the reflection, each cut.

    *labels* stand before the last three; a reflection that is empty is left out.
    """
    said = (
        (checkpoint.current_goal, GOAL_CHARACTERS_MAX),
        (checkpoint.plan_summary, PLAN_CHARACTERS_MAX),
        (checkpoint.self_reflection or "", REFLECTION_CHARACTERS_MAX),
    )
    parts = [
        label + cut(one_line(text), characters_max=most)
        for label, (text, most) in zip(labels, said, strict=True)
        if _says(text)
    ]
    return " | ".join([checkpoint.timestamp.strftime("%Y-%m-%d %H:%M"), *parts])


def _says(text: str) -> bool:
    return not is_blank(text)
