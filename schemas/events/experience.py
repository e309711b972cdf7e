"""What agents live through: sessions, tasks, messages, decisions, actions, feedback."""

from typing import ClassVar, Literal

from mnemolog.schemas.checkpoint import Checkpoint
from mnemolog.schemas.events.base import (
    Amount,
    Count,
    Event,
    Flag,
    Id,
    Ids,
    JsonMap,
    Name,
    Part,
    Said,
    Score,
    Share,
    Text,
    Texts,
)


class SessionStarted(Event):
    """A conversation or a run of an agent began; its instructions are kept once, here."""

    event_type: ClassVar[str] = "session.started"
    title: Text | None = None
    instructions: Text | None = None


class SessionEnded(Event):
    """A session ended, well or not."""

    event_type: ClassVar[str] = "session.ended"
    outcome: Text | None = None
    success: Flag | None = None


class TaskStarted(Event):
    """An agent took up a task."""

    event_type: ClassVar[str] = "task.started"
    goal: Said
    parent_task: Name | None = None
    plan: Text | None = None


class TaskProgressed(Event):
    """A task came forward; `done` is the share that is done."""

    event_type: ClassVar[str] = "task.progressed"
    note: Said
    done: Share | None = None
    node: Id | None = None


class TaskPhaseChanged(Event):
    """A task entered another phase, such as planning or testing."""

    event_type: ClassVar[str] = "task.phase-changed"
    to_phase: Name
    from_phase: Name | None = None


class TaskBlocked(Event):
    """A task can't go on."""

    event_type: ClassVar[str] = "task.blocked"
    reason: Said
    needs: Text | None = None


class TaskPaused(Event):
    """A task was laid aside."""

    event_type: ClassVar[str] = "task.paused"
    reason: Text | None = None


class TaskResumed(Event):
    """A task was taken up again, from a checkpoint if one is named."""

    event_type: ClassVar[str] = "task.resumed"
    checkpoint: Id | None = None
    note: Text | None = None


class TaskCompleted(Event):
    """A task ended; what came of it, and what it taught."""

    event_type: ClassVar[str] = "task.completed"
    outcome: Said
    lesson: Text | None = None
    success: Flag = True


class TaskAbandoned(Event):
    """A task was given up; why, and what it taught."""

    event_type: ClassVar[str] = "task.abandoned"
    outcome: Said
    lesson: Text | None = None


class PlanChanged(Event):
    """The plan for a task is now this."""

    event_type: ClassVar[str] = "plan.changed"
    plan: Said
    steps: Texts = ()
    reason: Text | None = None


class ObservationRecorded(Event):
    """An agent noticed something. `data` is what a machine gave with it, whole.

    The text may be empty: such an observation forms no memory.
    """

    event_type: ClassVar[str] = "observation.recorded"
    text: Text
    data: JsonMap = {}
    success: Flag | None = None
    stated_by: Literal["user", "tool", "agent"] = "agent"


class ContentPart(Part):
    """A part of a message that is no plain text, kept as a reference."""

    kind: Name
    reference: Text | None = None
    data: JsonMap = {}


class MessageExchanged(Event):
    """Somebody said something in a session. `text` joins the text parts and may be empty."""

    event_type: ClassVar[str] = "message.exchanged"
    role: Literal["user", "assistant", "system", "tool"]
    text: Text
    speaker: Name | None = None
    parts: tuple[ContentPart, ...] = ()


class DecisionMade(Event):
    """An agent chose. What it rested on is named by ids: that counts as use of the memories."""

    event_type: ClassVar[str] = "decision.made"
    what: Said
    why: Text | None = None
    alternatives: Texts = ()
    because_events: Ids = ()
    because_memories: Ids = ()
    confidence: Share | None = None


class ActionStarted(Event):
    """An agent called a tool.

    `action` links it with its end; `raw` keeps arguments that are no JSON object.
    """

    event_type: ClassVar[str] = "action.started"
    action: Id
    tool: Said
    arguments: JsonMap = {}
    raw: Text | None = None
    costly: Flag = False


class ActionFinished(Event):
    """A tool answered: with a result, or with an error.

    `orphaned` says that no answer came and none will, as when a run broke off: it forms no
    memory, and an answer that comes all the same holds.
    """

    event_type: ClassVar[str] = "action.finished"
    action: Id
    tool: Text | None = None
    success: Flag
    orphaned: Flag = False
    result: Text | None = None
    error: Text | None = None
    data: JsonMap = {}
    duration_ms: Count | None = None
    cost_usd: Amount | None = None


class ContextMeasured(Event):
    """How full the agent's context window was."""

    event_type: ClassVar[str] = "context.measured"
    used_tokens: Count
    limit_tokens: Count


class FeedbackGiven(Event):
    """Somebody judged an event, a memory or a decision: -1 is worst, 1 is best."""

    event_type: ClassVar[str] = "feedback.given"
    target: Id
    target_kind: Literal["event", "memory", "decision"] = "event"
    score: Score
    label: Text | None = None
    comment: Text | None = None
    given_by: Name | None = None


class CheckpointRequested(Event):
    """Somebody asked that the state be saved."""

    event_type: ClassVar[str] = "checkpoint.requested"
    reason: Text | None = None


class CheckpointSaved(Event):
    """A state from which work can go on, whole."""

    event_type: ClassVar[str] = "checkpoint.saved"
    checkpoint: Checkpoint


EXPERIENCE: tuple[type[Event], ...] = (
    SessionStarted,
    SessionEnded,
    TaskStarted,
    TaskProgressed,
    TaskPhaseChanged,
    TaskBlocked,
    TaskPaused,
    TaskResumed,
    TaskCompleted,
    TaskAbandoned,
    PlanChanged,
    ObservationRecorded,
    MessageExchanged,
    DecisionMade,
    ActionStarted,
    ActionFinished,
    ContextMeasured,
    FeedbackGiven,
    CheckpointRequested,
    CheckpointSaved,
)
