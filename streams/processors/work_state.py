"""What the rule of checkpoints keeps of an agent's events: a view of each task, within bounds.

Frozen: a fold gives a new one. Texts are cut and lists keep their newest, so that a state stays
small however long a history is.
"""

from datetime import datetime
from typing import Final

from pydantic import BaseModel, ConfigDict, TypeAdapter

from mnemolog.schemas.fields import JsonMap, is_blank
from mnemolog.schemas.text import cut, one_line
from mnemolog.schemas.values import json_bytes

TASKS_MAX: Final = 16  # views of one agent; the one that was told of least recently goes
NODES_MAX: Final = 64
OPEN_ACTIONS_MAX: Final = 16
FINISHED_ACTIONS_MAX: Final = 10
RECENT_MAX: Final = 16  # checkpoints whose words are known, to be forgotten again
HANDLES_MAX: Final = 64  # of one event
NOTES_MAX: Final = 10  # observations, decisions and errors that are kept, of each
TEXT_CHARACTERS_MAX: Final = 1_000  # of a goal or a plan
NOTE_CHARACTERS_MAX: Final = 300
ARGUMENTS_BYTES_MAX: Final = 1_000  # what is larger is kept as a head


class _State(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Note(_State):
    """Something that was said; `by` is the identity of the event that said it."""

    text: str
    by: str


class Source(_State):
    """An event of which a view holds words, and the handles by which those are forgotten."""

    by: str
    id: str
    handles: tuple[str, ...] = ()


class Recent(_State):
    """A checkpoint that the processor saved, and the events of which it holds words."""

    identity: str
    sources: tuple[Source, ...] = ()


class Step(_State):
    """A node of the task; `status` is one of a checkpoint's nodes."""

    id: str
    title: str
    by: str
    status: str = "todo"
    reason: str | None = None


class OpenAction(_State):
    """A tool call whose end has not been told."""

    action: str
    tool: str
    by: str
    arguments: JsonMap = {}
    costly: bool = False


class DoneAction(_State):
    """A tool call that ended."""

    action: str
    tool: str
    by: str
    started_by: str | None = None
    arguments: JsonMap = {}
    result: str | None = None
    success: bool = True


class View(_State):
    """Where one task stands, or what an agent did for none; `events` count since the last saved."""

    task: str | None = None
    goal: Note | None = None
    plan: Note | None = None
    phase: str | None = None
    steps: tuple[Step, ...] = ()
    current: str | None = None
    observations: tuple[Note, ...] = ()
    decisions: tuple[Note, ...] = ()
    errors: tuple[Note, ...] = ()
    open: tuple[OpenAction, ...] = ()
    done: tuple[DoneAction, ...] = ()
    actions: int = 0  # started, ever
    used_tokens: int = 0
    limit_tokens: int | None = None
    is_full: bool = False
    repeated: str = ""  # of the last action: what it did
    repeats: int = 0  # how often in a row
    events: int = 0
    since: datetime | None = None  # when the first of them occurred
    latest: datetime | None = None  # the latest that anything occurred
    parent: str | None = None  # the last checkpoint
    sources: tuple[Source, ...] = ()  # of all words that it holds
    recent: tuple[Recent, ...] = ()  # the last that the processor saved
    told: int = 0  # the agent's number of its last event: the greater, the more recent


class AgentState(_State):
    """All views of one agent, and how many events were folded."""

    views: tuple[View, ...] = ()
    events: int = 0

    def view(self, task: str | None) -> View:
        """Return the view of *task*; an empty one where nothing was told of it."""
        return next((view for view in self.views if view.task == task), View(task=task))

    def with_view(self, view: View) -> "AgentState":
        """Return this with *view*, and without the least recent one where there are too many."""
        number = self.events + 1
        told = view.model_copy(update={"told": number})
        views = [*(one for one in self.views if one.task != view.task), told]
        if len(views) > TASKS_MAX:
            views.remove(min(views, key=lambda one: one.told))
        return AgentState(views=tuple(views), events=number)


STATES: Final[TypeAdapter[AgentState]] = TypeAdapter(AgentState)


def text_of(text: str | None, by: str) -> Note | None:
    """Return a goal or a plan, cut; None where there is nothing to see in it."""
    if text is None or is_blank(text):
        return None
    return Note(text=cut(text, characters_max=TEXT_CHARACTERS_MAX), by=by)


def note_of(text: str) -> str:
    """Return *text* as one short line."""
    return cut(one_line(text), characters_max=NOTE_CHARACTERS_MAX)


def noted(notes: tuple[Note, ...], text: str, by: str) -> tuple[Note, ...]:
    """Return *notes* and *text*, the newest ones; blank texts are left out."""
    return notes if is_blank(text) else (*notes, Note(text=note_of(text), by=by))[-NOTES_MAX:]


def arguments_of(arguments: JsonMap) -> JsonMap:
    """Return *arguments*, or the head of what they are as JSON."""
    written = json_bytes(arguments)
    if len(written) <= ARGUMENTS_BYTES_MAX:
        return arguments
    return {"head": cut(written.decode(), characters_max=NOTE_CHARACTERS_MAX)}
