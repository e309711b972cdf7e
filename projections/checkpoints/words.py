"""What an event says in words, for timelines and for forgetting by text. Pure, one place.

Every type of ours stands in `_FIELDS`; a type that says nothing has no field there.
"""

import hashlib
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from types import MappingProxyType
from typing import Final

from mnemolog.projections.checkpoints.words_within import texts_within
from mnemolog.schemas.checkpoint import Checkpoint, embedding_text
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.experience import (
    ActionStarted,
    CheckpointSaved,
    ContextMeasured,
)
from mnemolog.schemas.text import cut, normalised, one_line
from mnemolog.schemas.values import json_bytes

SUMMARY_CHARACTERS_MAX: Final = 200
SOURCE_CHARACTERS_MAX: Final = 4_000  # of a text are looked at for the one line
HANDLE_BYTES: Final = 16
TEXTS_MAX: Final = 64  # of one event, by which it can be forgotten
LOOKED_AT_MAX: Final = 1_024  # for them: a tool's data may hold any number, and the same again

# The fields that a person reads, the most telling first. `memory.forgotten` must not repeat what
# it lets go, and `subject.erased` not whom.
_FIELDS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "session.started": ("title", "instructions"),
        "session.ended": ("outcome",),
        "task.started": ("goal", "plan"),
        "task.progressed": ("note",),
        "task.phase-changed": ("to_phase",),
        "task.blocked": ("reason", "needs"),
        "task.paused": ("reason",),
        "task.resumed": ("note",),
        "task.completed": ("outcome", "lesson"),
        "task.abandoned": ("outcome", "lesson"),
        "plan.changed": ("plan", "reason"),
        "observation.recorded": ("text",),
        "message.exchanged": ("text",),
        "decision.made": ("what", "why"),
        "action.started": ("raw",),
        "action.finished": ("error", "result"),
        "context.measured": (),
        "feedback.given": ("label", "comment"),
        "checkpoint.requested": ("reason",),
        "checkpoint.saved": (),
        "memory.formed": ("text",),
        "memory.recalled": ("question",),
        "memory.used": ("purpose",),
        "memory.linked": ("reason",),
        "memory.summarised": ("text",),
        "memory.superseded": ("reason",),
        "memory.pinned": (),
        "memory.importance-changed": ("reason",),
        "conflict.found": ("question", "reason"),
        "conflict.settled": ("reason",),
        "knowledge.consolidated": ("text",),
        "memory.archived": ("reason",),
        "memory.forgotten": (),
        "skill.learned": ("name", "description"),
        "policy.changed": ("reason",),
        "team.changed": ("team",),
        "subject.erased": (),
        "event.skipped": ("reason",),
        "processor.advanced": ("processor",),
    }
)


def summary(event: Event) -> str:
    """Return one line about *event*; empty for one that says nothing in words."""
    match event:
        case ActionStarted():
            arguments = event.raw or json_bytes(event.arguments).decode()
            said = [f"{event.tool} {arguments}"]
        case ContextMeasured():
            said = [f"{event.used_tokens} / {event.limit_tokens}"]
        case CheckpointSaved():
            said = [event.checkpoint.current_goal, event.checkpoint.plan_summary]
        case _:
            said = list(_said(event))
    line = " · ".join(one_line(text[:SOURCE_CHARACTERS_MAX]) for text in said)
    return cut(line, characters_max=SUMMARY_CHARACTERS_MAX)


def texts(event: Event) -> tuple[str, ...]:
    """Return the texts of *event* by any of which it is forgotten; blank ones say nothing.

    Else to forget a blank text would be to forget all events that leave something blank.
    """
    said = (
        _checkpoint_texts(event.checkpoint) if isinstance(event, CheckpointSaved) else _said(event)
    )
    every = (text for text in chain(said, texts_within(event)) if text.strip())
    return tuple(islice(dict.fromkeys(islice(every, LOOKED_AT_MAX)), TEXTS_MAX))


def text_handle(text: str) -> bytes:
    """Return what stands for *text* where it is forgotten: texts that look alike have one."""
    return _handle("text", normalised(text))


def memory_handle(memory_id: str) -> bytes:
    """Return what stands for a memory's id where it is forgotten."""
    return _handle("memory", memory_id)


def _handle(kind: str, value: str) -> bytes:
    return hashlib.sha256(f"{kind}:{value}".encode()).digest()[:HANDLE_BYTES]


def _said(event: Event) -> Iterator[str]:
    for name in _FIELDS[event.event_type]:
        if text := getattr(event, name):
            yield text


def _checkpoint_texts(checkpoint: Checkpoint) -> Iterator[str]:
    yield embedding_text(checkpoint)
    yield checkpoint.current_goal
    yield checkpoint.plan_summary
    for text in (
        checkpoint.current_sub_goal,
        checkpoint.decision_rationale,
        checkpoint.self_reflection,
        *checkpoint.key_observations,
    ):
        if text:
            yield text
