"""What a branch point of a search saves: the steps that led there, the last thought and calls."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.text import cut, one_line
from mnemolog.schemas.values import check_depth, json_text

CALLS_KEPT_MAX: Final = 5  # the last ones of a branch
ARGUMENTS_CHARACTERS_MAX: Final = 10_000  # of a call's; longer ones stand in its event alone
HEAD_CHARACTERS_MAX: Final = 300  # of a thought, and of what a call returned
TITLE_CHARACTERS_MAX: Final = 80
PLAN_AT_THE_START: Final = "Nothing was tried yet"


@dataclass(frozen=True, slots=True)
class Step:
    """A thought or a call on the way from the root; its event has its id."""

    id: str
    depth: int
    before: "Step | None"
    thought: str | None = None
    call: dict[str, Any] | None = None

    @classmethod
    def after(
        cls,
        before: "Step | None",
        *,
        id: str,  # noqa: A002 - the word of nodes
        thought: str | None = None,
        call: dict[str, Any] | None = None,
    ) -> "Step":
        """Return the step that follows *before*."""
        depth = 1 if before is None else before.depth + 1
        return cls(id, depth, before, thought, call)

    def back(self) -> Iterator["Step"]:
        """Yield this step and those before it, the first one last."""
        step: Step | None = self
        while step is not None:
            yield step
            step = step.before

    @property
    def title(self) -> str:
        """What was thought or called, in a few words."""
        said = str(self.call["tool"]) if self.call else self.thought or ""
        return cut(one_line(said), characters_max=TITLE_CHARACTERS_MAX)


def head_of(text: str) -> str:
    """Return the beginning of *text* in one line."""
    return cut(one_line(text), characters_max=HEAD_CHARACTERS_MAX)


def brief_call(
    action: str, tool: str, arguments: dict[str, Any], *, answer: str | None, success: bool
) -> dict[str, Any]:
    """Return a call as a checkpoint keeps it: the head of its answer, no endless arguments."""
    try:
        check_depth([[[[[arguments]]]]], field="arguments")  # where a checkpoint holds them
        kept = len(json_text(arguments)) <= ARGUMENTS_CHARACTERS_MAX
    except InvalidEvent:
        kept = False
    result = head_of(answer) if answer else None
    brief = {"action": action, "tool": tool, "arguments": arguments if kept else {}}
    return {**brief, "result": result, "success": success}


def state_of(last: Step | None, *, task: str) -> dict[str, Any]:
    """Return the fields of a checkpoint that the steps up to *last* fill."""
    path = [] if last is None else [*last.back()]
    calls = [*islice((step.call for step in path if step.call), CALLS_KEPT_MAX)][::-1]
    return {
        "plan_summary": _plan(path),
        "key_observations": [call["result"] for call in calls if call["result"]],
        "task_state": {
            "task_id": task,
            "nodes": [_node(step) for step in reversed(path)],
            "current_node": last.id if last else None,
            "completed": [step.id for step in reversed(path)],
            "last_tool_calls": calls,
            "iterations": len(path),
        },
    }


def _plan(path: list[Step]) -> str:
    """Return the last thought, or where there is none the calls, the last one last."""
    thought = next((step.thought for step in path if step.thought), None)
    if thought is not None:
        return head_of(thought)
    return head_of(" > ".join(step.title for step in reversed(path))) or PLAN_AT_THE_START


def _node(step: Step) -> dict[str, Any]:
    before = step.before.id if step.before else None
    return {"id": step.id, "title": step.title, "status": "done", "parent": before}
