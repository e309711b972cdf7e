"""What becomes of the lines in which the program itself speaks: system, attachments, summaries."""

from collections.abc import Iterator
from typing import Any, Final

from mnemolog.importers.base import Found, Placed
from mnemolog.importers.claude_code_chain import digest_of
from mnemolog.importers.claude_code_runs import Now
from mnemolog.importers.claude_code_user import end
from mnemolog.importers.claude_code_words import is_exit, is_of_hook, speaker_of
from mnemolog.importers.shapes import text_or_none
from mnemolog.schemas.events.experience import (
    CheckpointRequested,
    FeedbackGiven,
    MessageExchanged,
)
from mnemolog.schemas.fields import is_blank

HOOK: Final = "hook"  # who gives the feedback of one
_BAD_LEVELS: Final = ("warning", "error")
_BLOCKING: Final = ("hook_blocking_error", "hook_stopped_continuation")


def tell_system(now: Now) -> Iterator[Found]:
    """Yield what a system line says: a compaction, a hook's complaint, or words."""
    value = now.step.line.value
    words = text_or_none(value.get("content")) or ""
    match value.get("subtype"):
        case "compact_boundary":
            yield from _compaction(now)
        case "stop_hook_summary":
            yield from _stop_hooks(now)
        case _ if value.get("level") in _BAD_LEVELS and is_of_hook(words):
            yield from _complaint(now, words)
        case _ if not is_blank(words):
            yield from _words(now, words)


def tell_attachment(now: Now) -> Iterator[Found]:
    """Yield a prompt that had waited, or what a hook objected to; other kinds say nothing."""
    attachment = now.step.line.value.get("attachment")
    about: dict[str, Any] = attachment if isinstance(attachment, dict) else {}
    if about.get("type") in _BLOCKING:
        error = about.get("blockingError")
        said = error.get("blockingError") if isinstance(error, dict) else about.get("message")
        yield from _complaint(
            now, text_or_none(said) or "", call=text_or_none(about.get("toolUseID"))
        )
    elif about.get("type") == "queued_command":
        words = text_or_none(about.get("prompt")) or ""
        if not is_blank(words):
            yield from _tell(now, "queued", words, role=speaker_of(words))


def tell_summary(now: Now) -> Iterator[Found]:
    """Yield the end of a session that was summed up; nothing if it went on before that."""
    summary = text_or_none(now.step.line.value.get("summary"))
    if summary is not None and now.step.is_leaf:
        name = ("session", now.run.name, "summary", now.step.ref)
        yield from now.story.close({"outcome": summary}, now.here, name=name)


def _compaction(now: Now) -> list[Placed]:
    about = now.step.line.value.get("compactMetadata")
    known: dict[str, Any] = about if isinstance(about, dict) else {}
    told = [f"{known[key]} {unit}" for key, unit in _COMPACTION.items() if known.get(key)]
    reason = ", ".join(["compaction", *told])
    name = ("compaction", now.run.name, now.step.line.uuid or now.step.ref)
    return now.story.tell(
        CheckpointRequested, {"reason": reason}, now.here, name=name, cause=now.story.previous
    )


_COMPACTION: Final = {"trigger": "trigger", "preTokens": "tokens"}


def _stop_hooks(now: Now) -> Iterator[Placed]:
    """Yield a complaint if hooks failed, or kept the agent from stopping there."""
    value = now.step.line.value
    errors = value.get("hookErrors")
    said = [str(error) for error in errors] if isinstance(errors, list) else []
    if value.get("preventedContinuation") is True:
        said.append(text_or_none(value.get("stopReason")) or "")
    if said:
        yield from _complaint(now, "\n".join(filter(None, said)))


def _complaint(now: Now, words: str, *, call: str | None = None) -> list[Placed]:
    """Tell what a hook objected to: a call if it names one, else what was told last."""
    call = call or text_or_none(now.step.line.value.get("toolUseID"))
    target = (now.story.action_of(call) if call else None) or now.story.previous
    fields = {"target": target, "score": -1.0, "label": HOOK, "comment": words or None}
    name = ("feedback", now.run.name, now.step.line.uuid or digest_of(words))
    told = {**fields, "given_by": HOOK}
    return now.story.aside(FeedbackGiven, told, now.here, name=name, cause=target)


def _words(now: Now, words: str) -> Iterator[Placed]:
    is_by_tool = speaker_of(words) == "tool"
    yield from _tell(now, "system", words, role="tool" if is_by_tool else "system")
    if is_exit(words):
        yield from end(now)


def _tell(now: Now, kind: str, words: str, *, role: str) -> list[Placed]:
    fields = {"role": role, "text": words}
    name = (kind, now.run.name, now.step.line.uuid or now.step.ref, digest_of(words))
    return now.story.tell(MessageExchanged, fields, now.here, name=name, cause=now.story.previous)
