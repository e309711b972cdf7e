"""The texts that stand within an event, in its lists and its JSON: it is forgotten by these too.

Names, ids and words of ours (a node's status) are no texts that anybody said. Pure.
"""

from collections.abc import Iterator
from typing import Any

from mnemolog.schemas.checkpoint import TaskState
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    CheckpointSaved,
    DecisionMade,
    MessageExchanged,
    ObservationRecorded,
    PlanChanged,
)
from mnemolog.schemas.events.memory import SkillLearned


def texts_within(event: Event) -> Iterator[str]:
    """Yield the texts in the lists and the JSON of *event*, those nearest to its top first."""
    match event:
        case PlanChanged() | SkillLearned():
            yield from event.steps
        case DecisionMade():
            yield from event.alternatives
        case ActionStarted():
            yield from texts_in(event.arguments)
        case ActionFinished() | ObservationRecorded():
            yield from texts_in(event.data)
        case MessageExchanged():
            yield from texts_in([part.data for part in event.parts])
        case CheckpointSaved(checkpoint=saved):
            yield from texts_in(saved.intermediate_results)
            if saved.task_state is not None:
                yield from texts_in(_said_by(saved.task_state))
        case _:
            return


def _said_by(state: TaskState) -> list[Any]:
    """Return the parts of a task's state that hold what somebody said."""
    return [
        state.working_memory,
        state.variables,
        {} if state.state is None else state.state.values,
        [node.title for node in state.nodes],
        [node.blocked_reason for node in state.nodes],
        [call.result for call in state.last_tool_calls],
        [call.arguments for call in state.last_tool_calls],
        [action.note for action in state.pending_actions],
        [action.arguments for action in state.pending_actions],
    ]


def texts_in(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON *value*, level by level; its keys are names.

    >>> list(texts_in({"a": ["x", {"b": "y"}], "c": "z", "n": 1}))
    ['z', 'x', 'y']
    """
    level = [value]
    while level:
        yield from (item for item in level if isinstance(item, str))
        level = [inner for item in level for inner in _inside(item)]


def _inside(item: Any) -> list[Any]:
    if isinstance(item, dict):
        return list(item.values())
    return list(item) if isinstance(item, list | tuple) else []
