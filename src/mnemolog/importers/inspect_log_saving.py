"""A sample's state and store as they become, each a checkpoint when it has changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.base import Here, Placed
from mnemolog.importers.inspect_log_context import Within
from mnemolog.importers.inspect_log_state import Followed
from mnemolog.importers.shapes import mapping
from mnemolog.importers.story import Story
from mnemolog.schemas.events.experience import CheckpointSaved

STATE: Final = "inspect.state"
STORE: Final = "inspect.store"


@dataclass(frozen=True, slots=True)
class Aim:
    """What a sample is about: its task, its goal, and the solvers that are to reach it."""

    task: str
    goal: str
    plan: str


class Saving:
    """Follows what a sample's log says of its state."""

    def __init__(self, story: Story, aim: Aim) -> None:
        self._story = story
        self._aim = aim
        self._followed = {STATE: Followed({}), STORE: Followed({})}
        self._parent: str | None = None

    def begin(self, state: Any) -> None:
        """Take the state with which a sample begins; it is no checkpoint: nothing was done yet."""
        begun = mapping(state)
        self._followed = {
            STATE: Followed(begun),
            STORE: Followed(dict(mapping(begun.get("store")))),
        }

    def change(
        self, which: str, changes: Any, here: Here, *, within: Within | None, name: str, cause: str
    ) -> Iterator[Placed]:
        """Apply changes, and tell the state if they made another one of it. Raises Unreadable."""
        followed = self._followed[which]
        if not followed.change(changes):
            return
        names = ("checkpoint", name)
        saved = self._story.telling.id_of(*names)
        checkpoint = {
            "id": saved,
            "timestamp": here.at,
            "agent": self._story.telling.scope.agent,
            "current_goal": self._aim.goal,
            "plan_summary": self._aim.plan,
            "current_sub_goal": f"{within.kind} {within.name}" if within else None,
            "parent": self._parent,
            "task_state": {
                "task_id": self._aim.task,
                "state": {"state_schema": which, "values": followed.kept()},
            },
        }
        self._parent = saved
        how: dict[str, Any] = {"name": names, "cause": cause}
        yield from self._story.aside(CheckpointSaved, {"checkpoint": checkpoint}, here, **how)
