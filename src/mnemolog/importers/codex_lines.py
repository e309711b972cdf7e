"""A line of a Codex rollout as we need it: its kind, its payload, and what is said in it.

Nothing here knows of other lines. Keys that are not named here are not imported.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from mnemolog.importers.base import Unreadable
from mnemolog.importers.shapes import name_or_none
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.values import parse_json

META: Final = "session_meta"
TURN: Final = "turn_context"
ITEM: Final = "response_item"
EVENT: Final = "event_msg"
COMPACTED: Final = "compacted"
_BARE_ITEMS: Final = (
    *("message", "reasoning", "local_shell_call", "web_search_call"),
    *("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"),
)
# What the program writes in the user's place.
_BY_THE_PROGRAM: Final = (
    *("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions"),
    *("<permissions instructions>", "<turn_aborted>", "<collaboration_mode>", "<skill>"),
    *("<user_shell_command>", "<subagent_notification>", "<personality_spec>"),
)
_IMAGES: Final = ("image_url", "file_id")
_EXIT_CODE: Final = re.compile(r"(?:Exit code:|Process exited with code)\s+(-?\d{1,9})\b")
_SECONDS_MAX: Final = 1_000_000_000  # that an answer may have taken
_HEAD_CHARACTERS: Final = 500  # of an answer, within which it tells its exit code


@dataclass(frozen=True, slots=True)
class Line:
    """A line: its type, the type of its payload ("" without one), and the payload."""

    place: str
    type: str
    kind: str
    payload: Mapping[str, Any]
    timestamp: Any


@dataclass(frozen=True, slots=True)
class Answer:
    """A tool's answer."""

    text: str
    parts: tuple[dict[str, Any], ...] = ()
    failed: bool = False
    duration_ms: int | None = None


def line_of(place: str, value: Any) -> Line:
    """Return *value* as a line; one of the first releases, which had no payload, too.

    Raises Unreadable.
    """
    if not isinstance(value, dict):
        raise Unreadable(f"{shown(value)} is no line of a rollout")
    type_, payload = value.get("type"), value.get("payload")
    if "payload" not in value:
        payload = value
        if type_ in _BARE_ITEMS:
            type_ = ITEM
        elif type_ is None and ("instructions" in value or "record_type" in value):
            type_ = META if "instructions" in value else "state"
    if not isinstance(type_, str) or not type_:
        raise Unreadable(f"type {shown(type_)} is no text")
    if not isinstance(payload, dict):
        raise Unreadable(f"payload {shown(payload)} is no object")
    kind = payload.get("type", "message" if "role" in payload else "")
    if not isinstance(kind, str):
        raise Unreadable(f"type {shown(kind)} of the payload is no text")
    return Line(place, type_, kind, payload, value.get("timestamp"))


def said_in(content: Any) -> tuple[str, list[dict[str, Any]]]:
    """Return the texts of *content* joined by line ends, and what is no text as parts.

    Raises Unreadable.
    """
    if isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        raise Unreadable(f"content {shown(content)} is neither text nor a list")
    texts, parts = [], []
    for item in content:
        said = item.get("text") if isinstance(item, dict) else item
        if isinstance(said, str):
            texts.append(said)
        else:
            parts.append(_part(item))
    return "\n".join(texts), parts


def image(reference: Any) -> dict[str, Any]:
    """Return the part for an image at *reference*."""
    return _part({"type": "input_image", "image_url": reference})


def role_of(payload: Mapping[str, Any], text: str) -> Literal["user", "assistant", "system"]:
    """Return who says *text*. Raises Unreadable."""
    match payload.get("role"):
        case "assistant":
            return "assistant"
        case "user":
            is_program = text.lstrip().startswith(_BY_THE_PROGRAM)
            return "system" if is_program else "user"
        case "system" | "developer":
            return "system"
        case role:
            raise Unreadable(f"role {shown(role)} is none of user, assistant, system, developer")


def thoughts_in(payload: Mapping[str, Any]) -> list[str]:
    """Return the thoughts of a reasoning item; those that are encrypted only are none."""
    found = []
    for key in ("summary", "content"):
        for item in payload[key] if isinstance(payload.get(key), list) else []:
            text = item.get("text") if isinstance(item, dict) else item
            if isinstance(text, str) and text.strip():
                found.append(text)
    return found


def answer_of(output: Any) -> Answer:
    """Return what a tool gave back, and whether it failed: by its flag, or by its exit code."""
    if isinstance(output, str):
        return _answer_of_text(output)
    if isinstance(output, dict):
        failed = output.get("success") is False
        inner = answer_of(output.get("content", ""))
        return Answer(inner.text, inner.parts, failed or inner.failed, inner.duration_ms)
    if isinstance(output, list):
        text, parts = said_in(output)
        return Answer(text, tuple(parts), _is_failure(text))
    return Answer("" if output is None else json.dumps(output, ensure_ascii=False))


def _answer_of_text(output: str) -> Answer:
    """Return an answer that may be JSON: a command's output with its exit code and its time."""
    whole = _parsed(output) if output.lstrip().startswith("{") else None
    about = whole.get("metadata") if isinstance(whole, dict) else None
    if not (isinstance(whole, dict) and isinstance(about, dict)):
        return Answer(output, failed=_is_failure(output))
    text = whole.get("output")
    return Answer(
        text if isinstance(text, str) else output,
        failed=about.get("exit_code") not in (None, 0),
        duration_ms=_milliseconds(about.get("duration_seconds")),
    )


def _milliseconds(seconds: Any) -> int | None:
    is_time = isinstance(seconds, int | float) and 0 <= seconds < _SECONDS_MAX
    return round(seconds * 1_000) if is_time else None


def _parsed(text: str) -> Any:
    try:
        return parse_json(text.encode("utf-8", "surrogatepass"))
    except InvalidEvent:
        return None


def _is_failure(text: str) -> bool:
    code = _EXIT_CODE.search(text, 0, _HEAD_CHARACTERS)
    return code is not None and int(code[1]) != 0


def _part(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        return {"kind": "part", "data": {"value": item}}
    rest = {key: value for key, value in item.items() if key != "type"}
    address = next((key for key in _IMAGES if isinstance(rest.get(key), str)), None)
    reference = rest.pop(address) if address else None
    kind = (name_or_none(item.get("type")) or "").removeprefix("input_") or "part"
    return {"kind": kind, "reference": reference, "data": rest}
