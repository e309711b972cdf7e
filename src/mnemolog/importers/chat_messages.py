"""One OpenAI chat message as we need it: role, words, other parts, tool calls.

Nothing here knows of conversations. Keys that are not named here are not imported.
"""

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.base import Unreadable
from mnemolog.importers.shapes import name_or_none, text_or_none
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.values import check_depth, parse_json

_ROLES: Final = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "function": "tool",
}
# What makes a message the one that it is, whatever else a newer writer may put beside it.
_ESSENCE: Final = ("role", "content", "name", "tool_calls", "function_call", "tool_call_id")
_TEXT_KINDS: Final = ("text", "input_text", "output_text", "refusal")
_ADDRESSES: Final = ("url", "file_id", "id")
_ERROR = re.compile(r'\s*(?:error\s*:|\{\s*"error"\s*:\s*+(?!null|false|""))', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: `raw` holds arguments that are no JSON object, as they came."""

    id: str | None
    tool: str
    arguments: dict[str, Any]
    raw: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A chat message. `calls` holds a reason in the place of a call that can't be read."""

    role: str
    text: str
    parts: tuple[dict[str, Any], ...] = ()
    calls: tuple[Call | str, ...] = ()
    name: str | None = None
    call_id: str | None = None  # of a tool's answer: the call that it answers
    failed: bool = False


def message_of(value: Any) -> Message:
    """Return *value* as a message. Raises Unreadable."""
    if not isinstance(value, dict):
        raise Unreadable(f"{shown(value)} is no message")
    role = value.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        raise Unreadable(f"role {shown(role)} is none of {', '.join(_ROLES)}")
    text, parts = _content(value.get("content"))
    refusal = value.get("refusal")
    if not text and isinstance(refusal, str):
        text = refusal
    return Message(
        role=_ROLES[role],
        text=text,
        parts=tuple(parts),
        calls=_calls(value),
        name=text_or_none(value.get("name")),
        call_id=text_or_none(value.get("tool_call_id")),
        failed=value.get("is_error") is True or says_error(text),
    )


def says_error(text: str) -> bool:
    """Say whether a tool's answer is an error by its words.

    >>> says_error("ERROR: no such file"), says_error("no errors: 0")
    (True, False)
    """
    return _ERROR.match(text) is not None


def essence_of(value: Any) -> str:
    """Return what makes *value*, be it a message or not, the one that it is."""
    kept = [value.get(key) for key in _ESSENCE] if isinstance(value, dict) else value
    return json.dumps(kept, sort_keys=True)


def _content(content: Any) -> tuple[str, list[dict[str, Any]]]:
    """Return the text parts joined by line ends, and the other parts as `ContentPart` has them."""
    match content:
        case None:
            return "", []
        case str():
            return content, []
        case dict():
            content = [content]
        case list():
            pass
        case _:
            raise Unreadable(f"content {shown(content)} is neither text nor parts")
    texts, others = [], []
    for part in content:
        said = _said(part)
        if said is None:
            others.append(_reference(part))
        else:
            texts.append(said)
    return "\n".join(texts), others


def _said(part: Any) -> str | None:
    if isinstance(part, dict) and part.get("type", "text") in _TEXT_KINDS:
        part = part.get("text", part.get("refusal"))
    return part if isinstance(part, str) else None


def _reference(part: Any) -> dict[str, Any]:
    """Return a part that is no text: its kind, its address if it has one, and all the rest."""
    if not isinstance(part, dict):
        return {"kind": "part", "data": {"value": part}}
    rest = {key: value for key, value in part.items() if key != "type"}
    kind = name_or_none(part.get("type")) or "part"
    inner = rest.get(kind)
    if isinstance(inner, str):
        return {"kind": kind, "reference": rest.pop(kind), "data": rest}
    holder = dict(inner) if isinstance(inner, dict) else rest
    if inner is not None and holder is not rest:
        rest = {**rest, kind: holder}
    address = next((key for key in _ADDRESSES if isinstance(holder.get(key), str)), None)
    reference = holder.pop(address) if address else None
    data = {key: value for key, value in rest.items() if value != {}}
    return {"kind": kind, "reference": reference, "data": data}


def _calls(value: dict[str, Any]) -> tuple[Call | str, ...]:
    calls = value.get("tool_calls") or []
    if not isinstance(calls, list):
        return (f"tool_calls {shown(calls)} is no list",)
    legacy = value.get("function_call")
    return tuple(map(_call, calls if legacy is None else [*calls, {"function": legacy}]))


def _call(value: Any) -> Call | str:
    """Return a call, or why it is none."""
    if not isinstance(value, dict):
        return f"tool call {shown(value)} is no object"
    function = value.get("function", value.get("custom"))
    if not isinstance(function, dict):
        return "a tool call without its function"
    name = function.get("name")
    if not isinstance(name, str) or not name.strip():
        return f"a tool call of the name {shown(name)}"
    arguments, raw = arguments_of(function.get("arguments", function.get("input")))
    return Call(text_or_none(value.get("id")), name, arguments, raw)


def arguments_of(value: Any) -> tuple[dict[str, Any], str | None]:
    """Return a call's arguments, and as they came where they are no JSON object in our bounds.

    >>> arguments_of('{"seat": "12A"}'), arguments_of(""), arguments_of("[1]")
    (({'seat': '12A'}, None), ({}, ''), ({}, '[1]'))
    """
    if value is None:
        return {}, None
    raw = value if isinstance(value, str) else json.dumps(value)
    try:
        parsed = parse_json(raw.encode("utf-8", "surrogatepass"))
        check_depth([[parsed]], field="arguments")  # an event holds them two levels deep
    except InvalidEvent:
        return {}, raw
    return (parsed, None) if isinstance(parsed, dict) else ({}, raw)
