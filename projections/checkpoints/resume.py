"""Taking a task up again: the newest sound checkpoint, what came after it, and what is open.

The time of asking is handed in. A task that saved no checkpoint resumes from its events.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from mnemolog.projections.checkpoints.reading import CheckpointReader
from mnemolog.projections.checkpoints.resume_words import CHINESE, ENGLISH, Words, lasted
from mnemolog.projections.checkpoints.stored import (
    Action,
    SavedCheckpoint,
    StoredCheckpoint,
    TimelineEntry,
)
from mnemolog.schemas.checkpoint import AUTOMATIC, TaskState, prompt_summary
from mnemolog.schemas.errors import Damaged, NotFound
from mnemolog.schemas.positions import Position
from mnemolog.schemas.text import cut, one_line

EVENTS_MAX: Final = 100  # after the checkpoint, the last ones
EVENTS_SHOWN_MAX: Final = 20  # in the prompt's text
ACTIONS_SHOWN_MAX: Final = 20
LINE_CHARACTERS_MAX: Final = 160
TASK_STARTED: Final = "task.started"

_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_OTHER_WORD = re.compile(r"[^\W\d_\u3400-\u9fff\uf900-\ufaff]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """Where a task stands.

    `checkpoint` is None where no sound one is known; `damaged` names those that were passed over.
    `events` are the task's last ones after the checkpoint, the oldest first, and `events_left_out`
    is how many more there are. `ago` is how long before `at` the checkpoint was saved or, without
    one, the last event happened; never negative. `text` is ready for a prompt.
    """

    task: str
    at: datetime
    checkpoint: StoredCheckpoint | None
    damaged: tuple[Damaged, ...]
    events: tuple[TimelineEntry, ...]
    events_left_out: int
    pending: tuple[Action, ...]
    orphaned: tuple[Action, ...]
    ago: timedelta
    text: str


def resume(reader: CheckpointReader, task: str, *, at: datetime) -> Resumed:
    """Return where *task* stands, asked *at* that time. Raises NotFound for an unknown task."""
    newest = reader.newest(task=task)
    found, left_out = newest.found, 0
    if found is None:
        events = tuple(reader.timeline(task=task, rows_max=EVENTS_MAX))
    else:
        after = reader.events_after(_covered(reader, found.saved), task=task, rows_max=EVENTS_MAX)
        itself, left_out = found.saved.event.position, after.left_out
        events = tuple(event for event in after.events if event.position != itself)
    if found is None and not events:
        raise NotFound("task", task)
    since = found.saved.event.occurred_at if found else events[-1].occurred_at
    resumed = Resumed(
        task=task,
        at=at,
        checkpoint=found,
        damaged=newest.damaged,
        events=events,
        events_left_out=left_out,
        pending=tuple(reader.pending_actions(task)),
        orphaned=tuple(reader.orphaned_actions(task)),
        ago=max(at - since, timedelta(0)),
        text="",
    )
    goal = found.checkpoint.current_goal if found else _goal(reader, task)
    return replace(resumed, text="\n".join(_lines(resumed, goal or "")))


def _covered(reader: CheckpointReader, saved: SavedCheckpoint) -> Position:
    """Return the last place of its key that *saved* tells of: its own, or that of its cause.

    A processor saves what it saw up to the event that made it do so, and saves it later.
    """
    event = saved.event
    if AUTOMATIC not in saved.tags or event.cause is None:
        return event.position
    places = [one.position for one in reader.of_event(event.cause) if one.key == event.key]
    return max((one for one in places if one < event.position), default=event.position)


def is_mostly_chinese(text: str) -> bool:
    """Say whether *text* has at least as many Chinese characters as words in other letters.

    >>> is_mostly_chinese("修复 session-token 超时"), is_mostly_chinese("add 认证 to the gateway")
    (True, False)
    """
    chinese = len(_CHINESE.findall(text))
    return chinese > 0 and chinese >= len(_OTHER_WORD.findall(text))


def _goal(reader: CheckpointReader, task: str) -> str | None:
    started = reader.timeline(task=task, types=[TASK_STARTED], rows_max=1)
    return started[0].text if started else None


def _lines(resumed: Resumed, goal: str) -> Iterator[str]:
    words = CHINESE if is_mostly_chinese(goal) else ENGLISH
    yield words.title.format(task=one_line(resumed.task), ago=lasted(resumed.ago, words))
    if resumed.checkpoint is None:
        yield words.no_checkpoint
        if goal:
            yield words.goal + _line(goal)
    else:
        checkpoint = resumed.checkpoint.checkpoint
        yield words.checkpoint + prompt_summary(checkpoint, labels=words.labels)
        yield from _state(checkpoint.task_state, words)
    if resumed.damaged:
        yield words.damaged.format(count=len(resumed.damaged))
    shown = resumed.events[-EVENTS_SHOWN_MAX:]
    yield from _listed(words.events, [_event(entry, words) for entry in shown])
    yield from _listed(words.pending, _actions(resumed.pending, words))
    yield from _listed(words.orphaned, _actions(resumed.orphaned, words))


def _state(state: TaskState | None, words: Words) -> Iterator[str]:
    if state is None:
        return
    titles = {node.id: node.title for node in state.nodes}
    if state.current_node is not None:
        yield words.current + _line(titles[state.current_node])
    for node in state.nodes:
        if node.status == "blocked":
            yield words.blocked + _line(f"{node.title}: {node.blocked_reason}")
    for action in state.pending_actions:
        yield words.planned + _line(f"{action.tool} {action.note or ''}")


def _listed(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield title
        yield from (f"- {line}" for line in lines)


def _event(entry: TimelineEntry, words: Words) -> str:
    said = words.forgotten if entry.text is None else entry.text
    line = f"{entry.occurred_at:%Y-%m-%d %H:%M} {entry.type}"
    return _line(f"{line}: {said}" if said else line)


def _actions(actions: Sequence[Action], words: Words) -> list[str]:
    return [
        _line(action.started.text or words.forgotten) + words.costly * action.costly
        for action in actions[-ACTIONS_SHOWN_MAX:]
    ]


def _line(text: str) -> str:
    return cut(one_line(text), characters_max=LINE_CHARACTERS_MAX)
