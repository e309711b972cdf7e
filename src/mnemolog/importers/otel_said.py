"""What models are told and what they say, in one shape: who, words, thoughts, calls, answers.

Nothing here knows where it was found. What a part of a message is, whatever framework wrote it:
texts, thoughts, calls of tools, answers of tools; every other part stays as a reference.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from mnemolog.importers.chat_messages import Call, arguments_of, message_of
from mnemolog.importers.shapes import text_or_none
from mnemolog.schemas.fields import is_blank

_TEXT_KINDS: Final = ("text", "input_text", "output_text", "summary_text", "refusal")
_TEXT_KEYS: Final = ("text", "content", "refusal", "value")
_THOUGHT_KINDS: Final = ("reasoning", "thinking", "redacted_thinking", "thought")
_THOUGHT_KEYS: Final = ("content", "text", "thinking", "reasoning", "summary")
_CALL_KINDS: Final = ("tool_call", "tool-call", "tool_use", "toolCall", "function_call")
_ANSWER_KINDS: Final = (
    *("tool_call_response", "tool-result", "tool_result", "toolResult", "function_response"),
    *("function_call_output", "server_tool_call_response"),
)
_CALL_IDS: Final = ("toolCallId", "tool_call_id", "call_id", "tool_use_id", "id")
_NAMES: Final = ("toolName", "tool_name", "name", "function")
_ARGUMENTS: Final = ("arguments", "args", "input", "parameters")
_RESULTS: Final = ("response", "result", "output", "content", "text")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answered to the call of an id, which many sources lack."""

    text: str
    call_id: str | None = None
    tool: str | None = None
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message: what one of system, user, assistant and tool says, thinks, calls, answers."""

    role: str
    text: str = ""
    thoughts: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    answers: tuple[Answer, ...] = ()
    parts: tuple[dict[str, Any], ...] = ()


@dataclass(slots=True)
class Parts:
    """The parts of one message, sorted by what they are."""

    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    others: list[dict[str, Any]] = field(default_factory=list)

    def said(self, role: str) -> Said:
        """Return the message that *role* says with these parts."""
        return Said(
            role=role,
            text="\n".join(self.texts),
            thoughts=tuple(thought for thought in self.thoughts if not is_blank(thought)),
            calls=tuple(self.calls),
            answers=tuple(self.answers),
            parts=tuple(self.others),
        )


def parts_of(content: Any) -> Parts:
    """Return the parts of a message's *content*: a text, a part, or a list of parts."""
    parts = Parts()
    for part in content if isinstance(content, list) else [content]:
        _sort(part, parts)
    return parts


def _sort(part: Any, parts: Parts) -> None:
    if part is None:
        return
    if isinstance(part, str):
        parts.texts.append(part)
        return
    if not isinstance(part, dict):
        parts.others += message_of({"role": "user", "content": [part]}).parts
        return
    for inner in _unwrapped(part):
        if call := call_of(inner):
            parts.calls.append(call)
            if inner.get("result") is not None:  # the provider ran the tool itself
                result, failed = answer_text(inner["result"]), bool(inner.get("error"))
                parts.answers.append(Answer(result, call.id, call.tool, failed=failed))
        elif answer := answer_of(inner):
            parts.answers.append(answer)
        elif (thought := _text_of(inner, _THOUGHT_KINDS, _THOUGHT_KEYS)) is not None:
            parts.thoughts.append(thought)
        elif (text := _text_of(inner, (*_TEXT_KINDS, None), _TEXT_KEYS)) is not None:
            parts.texts.append(text)
        else:
            parts.others += message_of({"role": "user", "content": [inner]}).parts


def _unwrapped(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the part that flattened attributes hold under a name of its own, or *part* itself."""
    for key in ("message_content", "tool_call"):
        if isinstance(inner := part.get(key), dict):
            yield inner
            return
    yield part


def call_of(part: dict[str, Any]) -> Call | None:
    """Return the call of a tool that *part* is, or None."""
    for key in ("function_call", "functionCall"):  # Gemini names a part by its key
        if isinstance(inner := part.get(key), dict):
            return call_of({"type": "tool_call", **inner})
    function = part.get("function")
    if isinstance(function, dict):
        inner = {key: part[key] for key in _CALL_IDS if key in part}
        return call_of({**inner, **function, "type": "tool_call"})
    is_call = part.get("type") in _CALL_KINDS or "toolName" in part
    is_call = is_call or (isinstance(function, str) and "arguments" in part)
    name = first(part, _NAMES)
    if not is_call or is_answer(part) or not isinstance(name, str) or is_blank(name):
        return None
    arguments, raw = arguments_of(first(part, _ARGUMENTS))
    return Call(text_or_none(first(part, _CALL_IDS)), name, arguments, raw)


def is_answer(part: dict[str, Any]) -> bool:
    """Say whether *part* is a tool's answer."""
    names = ("function_response", "functionResponse")
    return part.get("type") in _ANSWER_KINDS or any(isinstance(part.get(n), dict) for n in names)


def answer_of(part: dict[str, Any]) -> Answer | None:
    """Return the answer of a tool that *part* is, or None."""
    if not is_answer(part):
        return None
    for key in ("function_response", "functionResponse"):
        if isinstance(inner := part.get(key), dict):
            part = inner
    text = answer_text(first(part, _RESULTS))
    tool = text_or_none(first(part, ("toolName", "tool_name", "name")))
    failed = part.get("is_error") is True or part.get("isError") is True
    return Answer(text, text_or_none(first(part, _CALL_IDS)), tool, failed or says_error(text))


def answer_text(value: Any) -> str:
    """Return what a tool gave as text: of parts the texts, of what is no text its JSON."""
    if value is None:
        return ""
    if isinstance(value, dict) and value.get("type") in ("text", "json", "content"):
        value = first(value, ("value", "text", "content"), otherwise=value)
    if isinstance(value, list):
        parts = parts_of(value)
        if parts.texts and not parts.others and not parts.calls:
            return "\n".join(parts.texts)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def says_error(text: str) -> bool:
    """Say whether a tool's answer says that it failed."""
    return message_of({"role": "tool", "content": text}).failed


def first(part: Mapping[str, Any], keys: Sequence[str], *, otherwise: Any = None) -> Any:
    """Return the first value that *part* has under one of *keys*."""
    return next((part[key] for key in keys if part.get(key) is not None), otherwise)


def _text_of(part: dict[str, Any], kinds: Sequence[str | None], keys: Sequence[str]) -> str | None:
    if part.get("type") not in kinds:
        return None
    text = first(part, keys)
    if isinstance(text, list):  # a summary of thoughts has parts of its own
        return "\n".join(parts_of(text).texts) or None
    return text if isinstance(text, str) else None
