"""Messages out of whatever a trace holds as a model's input or output.

Chats of OpenAI, Anthropic, Gemini, LangChain and the Vercel AI SDK, the messages of OpenTelemetry
and OpenInference, objects around them, JSON within JSON, Python's own way to write both.
"""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from mnemolog.importers.otel_said import (
    Answer,
    Parts,
    Said,
    answer_of,
    answer_text,
    call_of,
    first,
    parts_of,
    says_error,
)
from mnemolog.importers.shapes import text_or_none
from mnemolog.schemas.errors import InvalidEvent
from mnemolog.schemas.values import parse_json

DECODINGS_MAX: Final = 3  # JSON within JSON within JSON
LITERAL_CHARACTERS_MAX: Final = 65_536  # of Python's way to write a value
_ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}
_WITHIN: Final = ("message", "messages", "contents", "choices", "content", "parts")
_REPR = re.compile(
    r"""role=(['"])(\w+)\1 content=(None|'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+") \w+=""", re.DOTALL
)
_REPR_CALL = re.compile(r"""\btool_call_id=(['"])([^'"]+)\1""")


def decoded(value: Any) -> Any:
    """Return *value*, or what it holds if it is JSON within a text, a few times over.

    >>> decoded('"[1]"'), decoded("null"), decoded("42"), decoded("{'a': None}")
    ([1], None, '42', {'a': None})
    """
    for _ in range(DECODINGS_MAX):
        inner = _parsed(value) if isinstance(value, str) else None
        if inner is None:
            break
        value = inner
    return None if value == "null" else value


def _parsed(text: str) -> Any:
    """Return the object, list or text that *text* holds; a number or a word is a text itself."""
    if text[:1] in ("{", "[", '"'):
        try:
            return parse_json(text.encode("utf-8", "surrogatepass"))
        except InvalidEvent:
            return _literal(text)
    return None


def _literal(text: str) -> Any:
    """Return the dictionary or list that Python wrote as *text*."""
    if len(text) > LITERAL_CHARACTERS_MAX or text[:2] not in ("{'", "[{", "['"):
        return None
    try:
        value = ast.literal_eval(text)
        return parse_json(json.dumps(value).encode())  # what Python has and JSON lacks is no value
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError, InvalidEvent):
        return None


def result_of(value: Any) -> str:
    """Return a tool's result as text: a text within JSON as it is, an object as it was written."""
    parsed = decoded(value)
    is_written = isinstance(value, str) and isinstance(parsed, dict | list)
    return answer_text(value if is_written else parsed)


def messages_of(value: Any, *, role: str) -> list[Said]:
    """Return the messages in *value*; what has no role of its own is said by *role*.

    What holds no message gives none: a function's arguments, a bare number.
    """
    return list(_messages(decoded(value), role))


def _messages(value: Any, role: str) -> Iterator[Said]:
    match value:
        case str():
            yield from _text(value, role)
        case list():
            for item in value:
                yield from _messages(item, role)
        case dict():
            yield from _object(value, role)


def _text(text: str, role: str) -> Iterator[Said]:
    """Yield a bare text, or the message that Python wrote in it."""
    found = _REPR.match(text)
    if found is None or found[2] not in _ROLES:
        yield Said(role=role, text=text)
        return
    try:
        said = "" if found[3] == "None" else str(ast.literal_eval(found[3]))
    except (ValueError, SyntaxError):
        said = found[3]
    if _ROLES[found[2]] == "tool":
        call = _REPR_CALL.search(text, found.end(3))
        yield Said(role="tool", answers=(Answer(said, call[2] if call else None),))
    elif said:
        yield Said(role=_ROLES[found[2]], text=said)


def _object(value: dict[str, Any], role: str) -> Iterator[Said]:
    named = _role(value)
    if named is not None:
        yield from _message(value, named)
    elif call_of(value) or answer_of(value) or value.get("type") == "reasoning":
        yield parts_of(value).said(role)
    else:
        yield from _around(value, role)


def _role(value: dict[str, Any]) -> str | None:
    """Return whose message *value* is, or None if it is none."""
    named = value.get("role")
    if named is None and ("content" in value or "tool_calls" in value):
        named = value.get("type")  # LangChain
    return _ROLES.get(named.lower()) if isinstance(named, str) else None


def _around(value: dict[str, Any], role: str) -> Iterator[Said]:
    """Yield the messages within an object that is none itself: a request, a response, a choice."""
    config = value.get("config")
    settings = config if isinstance(config, dict) else value
    system = first(settings, ("system", "system_instruction", "systemInstruction", "instructions"))
    if system is not None:
        yield from _messages(system, "system")
    if (prompt := value.get("prompt")) is not None:
        yield from _messages(prompt, "user")
    key = next((key for key in _WITHIN if isinstance(value.get(key), dict | list | str)), None)
    if key in ("content", "parts"):
        inner = value[key]
        yield from [parts_of(inner).said(role)] if _is_content(inner) else _messages(inner, role)
    elif key is not None:
        yield from _messages(value[key], "assistant" if key == "choices" else role)
    elif isinstance(text := value.get("text"), str):
        yield Said(role=role, text=text)


def _is_content(inner: Any) -> bool:
    """Say whether *inner* is a message's content, and not a message or several."""
    items = inner if isinstance(inner, list) else [inner]
    return not any(isinstance(item, dict) and ("role" in item or "parts" in item) for item in items)


def _message(value: dict[str, Any], role: str) -> Iterator[Said]:
    content = first(value, ("content", "contents", "parts", "text"))
    if role == "tool" and _is_definition(content):
        return  # what tools there are, not what one said
    parts = _calls_in(content) or parts_of(content)
    parts.calls += _calls_beside(value)
    if isinstance(thought := first(value, ("reasoning_content", "reasoning", "thinking")), str):
        parts.thoughts.insert(0, thought)
    if not parts.texts and isinstance(refusal := value.get("refusal"), str):
        parts.texts.append(refusal)
    said = parts.said("assistant" if parts.calls else role)
    if said.role == "tool" and not said.answers:
        said = replace(said, text="", answers=(_answer(value, content),))
    if said != Said(role=said.role):
        yield said


def _answer(value: dict[str, Any], content: Any) -> Answer:
    """Return a tool's message as the answer that it is."""
    text, error = answer_text(content), value.get("error")
    if isinstance(error, dict):
        error = error.get("message")
    if isinstance(error, str) and error:
        text = f"{error}\n{text}" if text and text != error else error
    failed = bool(error) or value.get("status") == "error" or value.get("is_error") is True
    call_id = text_or_none(first(value, ("tool_call_id", "tool_use_id", "call_id")))
    named = text_or_none(first(value, ("name", "function", "tool_name")))
    return Answer(text, call_id, named, failed or says_error(text))


def _calls_beside(value: dict[str, Any]) -> list[Any]:
    """Return the calls that stand beside a message's content; the same ones stand there twice."""
    extra = value.get("additional_kwargs")
    holders = [value, extra] if isinstance(extra, dict) else [value]
    for holder in holders:
        listed = holder.get("tool_calls")
        legacy = holder.get("function_call")
        every = [*(listed if isinstance(listed, list) else []), *([legacy] if legacy else [])]
        found = [_call_beside(item) for item in every if isinstance(item, dict)]
        if calls := [call for call in found if call is not None]:
            return calls
    return []


def _call_beside(item: dict[str, Any]) -> Any:
    inner = item.get("tool_call")  # OpenInference
    item = inner if isinstance(inner, dict) else item
    return call_of(
        item if isinstance(item.get("function"), dict) else {**item, "type": "tool_call"}
    )


def _calls_in(content: Any) -> Parts | None:
    """Return the calls that a text is a JSON list of."""
    if not isinstance(content, str) or not content.startswith('[{"function"'):
        return None
    calls = decoded(content)
    found = [call_of(item) for item in calls if isinstance(item, dict)] if calls else []
    every = [call for call in found if call is not None]
    return Parts(calls=every) if every and len(every) == len(calls) else None


def _is_definition(content: Any) -> bool:
    function = content.get("function") if isinstance(content, dict) else None
    return isinstance(function, dict) and "parameters" in function
