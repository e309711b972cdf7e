"""What becomes of a user's line: a prompt, tools' answers, or what the program says in between."""

from collections.abc import Iterator
from typing import Any, Final

from mnemolog.importers.base import Found, Placed
from mnemolog.importers.claude_code_chain import digest_of
from mnemolog.importers.claude_code_lines import Answered, Shown
from mnemolog.importers.claude_code_runs import Now
from mnemolog.importers.claude_code_words import is_exit, is_rejection, speaker_of
from mnemolog.importers.words import goal_of
from mnemolog.schemas.events.experience import (
    CheckpointSaved,
    FeedbackGiven,
    MessageExchanged,
)
from mnemolog.schemas.fields import is_blank

REJECTED: Final = "rejected"  # the label of a call that a person did not allow
_DURATIONS: Final = ("durationMs", "totalDurationMs")


def tell_prompt(now: Now) -> Iterator[Found]:
    """Yield what a person said; calls that are open then get no answer any more."""
    yield from _answers(now)
    yield from now.story.orphan_calls(now.here)
    yield from _message(now, role="user", name=("prompt", now.step.ref))
    words = now.step.words
    now.run.prompt = (digest_of(words), str(now.story.previous))
    now.run.goal = goal_of(words, otherwise=now.run.goal)
    now.run.is_rewound |= now.step.is_rewind
    if is_exit(words):
        yield from end(now)


def tell_rest(now: Now) -> Iterator[Found]:
    """Yield answers, and what the program put beside them."""
    yield from _answers(now)
    words = now.step.words
    if now.step.line.value.get("isCompactSummary") is True:
        yield from _checkpoint(now, words)
    elif len(now.step.blocks) > len(_answered(now)):
        speaker = speaker_of(words)
        role = "system" if speaker == "user" else speaker  # no person says what is marked as meta
        name = ("beside", now.step.ref, digest_of(words))
        yield from _message(now, role=role, name=name)
        if is_exit(words):
            yield from end(now)


def end(now: Now) -> list[Placed]:
    """Tell that the session was left."""
    name = ("session", now.run.name, "ended", now.step.ref)
    return now.story.close({}, now.here, name=name)


def tell_answer(now: Now, block: Answered) -> Iterator[Placed]:
    """Yield a tool's answer, a person's no as feedback, and the end of a sub-agent's run."""
    beside = now.step.line.value.get("toolUseResult")
    about: dict[str, Any] = beside if isinstance(beside, dict) else {}
    failed = block.failed or about.get("interrupted") is True
    durations = (about.get(key) for key in _DURATIONS)
    fields = {
        "success": not failed,
        "error" if failed else "result": block.text,
        "data": {"parts": list(block.parts)} if block.parts else None,
        "duration_ms": next((ms for ms in durations if type(ms) is int and ms >= 0), None),
    }
    unknown = ("unknown call", now.run.name, block.call)
    yield from now.story.answer(block.call, fields, now.here, otherwise=unknown)
    action = now.story.action_of(block.call)
    if failed and action is not None and is_rejection(block.text):
        yield from _rejected(now, action)
    yield from now.runs.note_answer(now.step.lane, block.call, now.here)


def _rejected(now: Now, action: str) -> list[Placed]:
    by = now.story.telling.scope.user or "user"
    fields = {"target": action, "score": -1.0, "label": REJECTED, "given_by": by}
    name = ("feedback", REJECTED, action)
    return now.story.aside(FeedbackGiven, fields, now.here, name=name, cause=action)


def _answered(now: Now) -> list[Answered]:
    return [block for block in now.step.blocks if isinstance(block, Answered)]


def _answers(now: Now) -> Iterator[Found]:
    for block in now.step.blocks:
        if isinstance(block, str):
            yield now.problem(block)
        elif isinstance(block, Answered):
            yield from tell_answer(now, block)


def _message(now: Now, *, role: str, name: tuple[str, ...]) -> list[Placed]:
    """Tell what a line says; nothing if that is nothing."""
    parts = [block.part for block in now.step.blocks if isinstance(block, Shown)]
    fields: dict[str, Any] = {"role": role, "text": now.step.words}
    if parts:
        fields["parts"] = parts
    return now.story.tell(MessageExchanged, fields, now.here, name=name, cause=now.story.previous)


def _checkpoint(now: Now, words: str) -> list[Placed]:
    """Tell a compaction's summary: it is what the work went on from."""
    if is_blank(words):
        return []
    name = ("checkpoint", now.run.name, digest_of(words))
    state = {
        "id": now.story.id_of(*name),
        "timestamp": now.here.at,
        "agent": now.story.telling.scope.agent,
        "current_goal": now.run.goal or f"session {now.run.name}",
        "plan_summary": words,
    }
    fields = {"checkpoint": state}
    return now.story.tell(CheckpointSaved, fields, now.here, name=name, cause=now.story.previous)
