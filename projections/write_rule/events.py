"""The rule of each event type: what it forms, or why it forms nothing.

Machines state nothing outright: what a tool returned may hold anybody's words, so that only what
people and agents say is searched for constraints, decisions and preferences. Of what an assistant
says in a conversation only decisions count, since it restates constraints all the time.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from mnemolog.projections.write_rule.composing import (
    ALL_KINDS,
    Words,
    data_text,
    draft,
    head,
    labelled,
    said_outright,
)
from mnemolog.projections.write_rule.drafts import (
    Draft,
    Drafts,
    Nothing,
    binding_importance,
    thousandths,
)
from mnemolog.projections.write_rule.noise import noise
from mnemolog.schemas.checkpoint import drawn_from, embedding_text
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as ex
from mnemolog.schemas.events import memory as mem
from mnemolog.schemas.limits import MEMORIES_PER_EVENT_MAX
from mnemolog.schemas.policy import WritePolicy

_OF_AN_ASSISTANT: Final = frozenset({"decision"})

Rule = Callable[[Any, WritePolicy], Drafts]


def drafts(event: Event, write: WritePolicy) -> Drafts:
    """Return the drafts of *event* in order, the episode first, or why there are none."""
    rule = RULES.get(type(event))
    if rule is None:
        return Nothing(f"{event.event_type}: this type forms no memory")
    made = rule(event, write)
    return made if isinstance(made, Nothing) else made[:MEMORIES_PER_EVENT_MAX]


def _message(event: ex.MessageExchanged, write: WritePolicy) -> Drafts:
    if event.role == "system":
        return Nothing("message.exchanged: instructions are kept with their session, not recalled")
    if why := noise(event.text):
        return Nothing(f"message.exchanged: {why}")
    if event.role == "tool":
        return [head(event.text, write, reason="message.exchanged: a tool's answer, its head")]
    stated_by, kinds = _VOICES[event.role]
    said = f"{event.speaker}: " if event.speaker else ""
    episode = draft(
        "episode",
        Words(said + event.text, event.text),
        write,
        stated_by=stated_by,
        reason=f"message.exchanged: what the {event.role} said",
    )
    return [episode, *said_outright(event.text, write, stated_by=stated_by, kinds=kinds, said=said)]


_VOICES: Final = MappingProxyType(
    {"user": ("user", ALL_KINDS), "assistant": ("agent", _OF_AN_ASSISTANT)}
)


def _observation(event: ex.ObservationRecorded, write: WritePolicy) -> Drafts:
    if why := noise(event.text):
        return Nothing(f"observation.recorded: {why}")
    if event.stated_by == "tool":
        reason = "observation.recorded: a tool's output, its head"
        return [head(event.text, write, reason=reason, success=event.success)]
    episode = draft(
        "episode",
        event.text,
        write,
        stated_by=event.stated_by,
        reason="observation.recorded: what was noticed",
        success=event.success,
    )
    return [episode, *said_outright(event.text, write, stated_by=event.stated_by)]


def _decision(event: ex.DecisionMade, write: WritePolicy) -> Drafts:
    words = labelled(
        ("", event.what), ("Why", event.why), ("Alternatives", "; ".join(event.alternatives))
    )
    confidence = None if event.confidence is None else thousandths(event.confidence)
    return [
        draft(
            "decision",
            words,
            write,
            stated_by="agent",
            reason="decision.made: what was chosen and why",
            confidence=confidence,
            from_events=event.because_events,
            from_memories=event.because_memories,
        )
    ]


def _action(event: ex.ActionFinished, write: WritePolicy) -> Drafts:
    if event.orphaned:
        return Nothing("action.finished: no answer came")
    tool = event.tool or "tool"
    if not event.success:
        error = event.error or event.result or data_text(event.data)
        text = f"{tool} failed: {error}" if error.strip() else f"{tool} failed"
        return [head(text, write, reason="action.finished: an error, its head", success=False)]
    result = event.result if event.result and event.result.strip() else data_text(event.data)
    if why := noise(result):
        return Nothing(f"action.finished: {why}")
    reason = "action.finished: a result, its head"
    return [head(f"{tool}: {result}", write, reason=reason, success=True)]


def _task_started(event: ex.TaskStarted, write: WritePolicy) -> Drafts:
    words = labelled(("Task started", event.goal), ("Plan", event.plan))
    episode = draft("episode", words, write, stated_by="agent", reason="task.started: the goal")
    return [episode, *said_outright(event.goal, write, stated_by="agent")]


def _task_blocked(event: ex.TaskBlocked, write: WritePolicy) -> Drafts:
    words = labelled(("Task blocked", event.reason), ("Needs", event.needs))
    return [draft("episode", words, write, stated_by="agent", reason="task.blocked: the reason")]


def _task_completed(event: ex.TaskCompleted, write: WritePolicy) -> Drafts:
    word = "Task completed" if event.success else "Task failed"
    return list(_ended(event, word, write, success=event.success))


def _task_abandoned(event: ex.TaskAbandoned, write: WritePolicy) -> Drafts:
    return list(_ended(event, "Task abandoned", write, success=False))


def _ended(
    event: ex.TaskCompleted | ex.TaskAbandoned, label: str, write: WritePolicy, *, success: bool
) -> Iterator[Draft]:
    """Yield what came of a task, and what it taught as a memory of its own."""
    name = event.event_type
    yield draft(
        "episode",
        labelled((label, event.outcome)),
        write,
        stated_by="agent",
        reason=f"{name}: the outcome",
        success=success,
    )
    if event.lesson and not noise(event.lesson):
        yield draft(
            "lesson",
            event.lesson,
            write,
            stated_by="agent",
            reason=f"{name}: the lesson",
            success=success,
        )


def _plan(event: ex.PlanChanged, write: WritePolicy) -> Drafts:
    words = labelled(("", event.plan), ("Steps", _listed(event.steps)), ("Because", event.reason))
    plan = draft("plan", words, write, stated_by="agent", reason="plan.changed: the plan")
    return [plan, *said_outright(event.plan, write, stated_by="agent")]


def _feedback(event: ex.FeedbackGiven, write: WritePolicy) -> Drafts:
    comment = event.comment or ""
    if why := noise(comment):
        return Nothing(f"feedback.given: {'no comment' if why == 'empty' else why}")
    of_memory = event.target_kind == "memory"
    episode = draft(
        "episode",
        labelled((event.given_by or "", comment)),
        write,
        stated_by="user",
        reason="feedback.given: the comment",
        praised=event.score > 0,
        from_events=() if of_memory else (event.target,),
        from_memories=(event.target,) if of_memory else (),
    )
    return [episode, *said_outright(comment, write, stated_by="user")]


def _checkpoint(event: ex.CheckpointSaved, write: WritePolicy) -> Drafts:
    return [
        draft(
            "checkpoint",
            embedding_text(event.checkpoint),
            write,
            stated_by="agent",
            reason="checkpoint.saved: its words",
            tags=event.checkpoint.tags,
            from_events=drawn_from(event.checkpoint),
        )
    ]


def _session_ended(event: ex.SessionEnded, write: WritePolicy) -> Drafts:
    if why := noise(event.outcome or ""):
        return Nothing(f"session.ended: {'no outcome' if why == 'empty' else why}")
    return [
        draft(
            "episode",
            labelled(("Session ended", event.outcome)),
            write,
            stated_by="agent",
            reason="session.ended: the outcome",
            success=event.success,
        )
    ]


def _memory_formed(event: mem.MemoryFormed, write: WritePolicy) -> Drafts:
    given = event.importance
    importance = binding_importance(event.kind, write) if given is None else thousandths(given)
    return [
        Draft(
            kind=event.kind,
            text=event.text,
            importance=importance,
            confidence=None if event.confidence is None else thousandths(event.confidence),
            stated_by=event.stated_by,
            reason="memory.formed: said so",
            entities=event.entities,
            valid_from=event.valid_from,
            valid_until=event.valid_until,
            from_events=event.from_events,
        )
    ]


def _consolidated(event: mem.KnowledgeConsolidated, write: WritePolicy) -> Drafts:
    return [
        draft(
            event.kind,
            event.text,
            write,
            stated_by="inferred",
            reason="knowledge.consolidated: drawn together",
            confidence=None if event.confidence is None else thousandths(event.confidence),
            from_memories=event.memories,
        )
    ]


def _skill(event: mem.SkillLearned, write: WritePolicy) -> Drafts:
    told = f"{event.name}: {event.description}"
    words = labelled(("", told), ("When", event.when), ("Steps", _listed(event.steps)))
    return [draft("skill", words, write, stated_by="agent", reason="skill.learned: the skill")]


def _listed(steps: Sequence[str]) -> str:
    return "; ".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))


RULES: Final[Mapping[type[Event], Rule]] = MappingProxyType(
    {
        ex.MessageExchanged: _message,
        ex.ObservationRecorded: _observation,
        ex.DecisionMade: _decision,
        ex.ActionFinished: _action,
        ex.TaskStarted: _task_started,
        ex.TaskBlocked: _task_blocked,
        ex.TaskCompleted: _task_completed,
        ex.TaskAbandoned: _task_abandoned,
        ex.PlanChanged: _plan,
        ex.FeedbackGiven: _feedback,
        ex.CheckpointSaved: _checkpoint,
        ex.SessionEnded: _session_ended,
        mem.MemoryFormed: _memory_formed,
        mem.KnowledgeConsolidated: _consolidated,
        mem.SkillLearned: _skill,
    }
)
