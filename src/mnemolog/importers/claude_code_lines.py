"""A line of a Claude Code session, and the blocks of its content, as we need them.

Nothing here knows of other lines. Keys that are not named here are not imported.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.base import Unreadable
from mnemolog.importers.chat_messages import arguments_of
from mnemolog.importers.shapes import name_or_none, text_or_none
from mnemolog.schemas.errors import InvalidEvent, shown
from mnemolog.schemas.ids import check_name

_THOUGHTS: Final = ("thinking", "redacted_thinking")
_CALLS: Final = ("tool_use", "server_tool_use", "mcp_tool_use")
_ANSWER: Final = "tool_result"  # what the kinds of answers end with: "web_search_tool_result"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line; `value` is all of it. `session` and `agent`, the sub-agent's, are sound names."""

    place: str
    kind: str
    value: Mapping[str, Any]
    uuid: str | None = None
    parent: str | None = None
    session: str | None = None
    agent: str | None = None
    is_sidechain: bool = False

    @property
    def message(self) -> Mapping[str, Any]:
        """What was said, as the model's API has it. Raises Unreadable."""
        message = self.value.get("message")
        if not isinstance(message, dict):
            raise Unreadable(f"message {shown(message)} is no object")
        return message


@dataclass(frozen=True, slots=True)
class Said:
    """Words, or a thought."""

    text: str
    is_thought: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A call of a tool; `raw` holds an input that is no object."""

    call: str
    tool: str
    arguments: Mapping[str, Any]
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A tool's answer."""

    call: str
    text: str
    parts: tuple[dict[str, Any], ...]
    failed: bool


@dataclass(frozen=True, slots=True)
class Shown:
    """Anything else, such as an image, as a `ContentPart` has it."""

    part: Mapping[str, Any]


Block = Said | Asked | Answered | Shown


def line_of(place: str, value: Any) -> Line:
    """Return *value* as a line. Raises Unreadable."""
    if not isinstance(value, dict):
        raise Unreadable(f"{shown(value)} is no line of a session")
    kind = value.get("type")
    if not isinstance(kind, str) or not kind:
        raise Unreadable(f"type {shown(kind)} is no text")
    return Line(
        place=place,
        kind=kind,
        value=value,
        uuid=text_or_none(value.get("uuid")),
        parent=text_or_none(value.get("parentUuid")),
        session=_name(value, "sessionId"),
        agent=_name(value, "agentId"),
        is_sidechain=value.get("isSidechain") is True,
    )


def blocks_of(content: Any) -> Iterator[Block | str]:
    """Yield the blocks of *content*, and a reason in the place of one that can't be read.

    Raises Unreadable where there is no content.
    """
    if isinstance(content, str):
        yield Said(content)
    elif isinstance(content, list):
        for block in content:
            try:
                yield from _block(block)
            except Unreadable as error:
                yield str(error)
    else:
        raise Unreadable(f"content {shown(content)} is neither text nor a list")


def _name(value: Mapping[str, Any], key: str) -> str | None:
    try:
        return None if value.get(key) is None else check_name(value[key], field=key)
    except InvalidEvent as error:
        raise Unreadable(str(error)) from error


def _block(block: Any) -> Iterator[Block]:
    if isinstance(block, str):
        yield Said(block)
        return
    if not isinstance(block, dict):
        raise Unreadable(f"{shown(block)} is no content block")
    kind = block.get("type")
    if kind == "text":
        yield Said(_text(block, "text"))
    elif kind in _THOUGHTS:
        thought = block.get("thinking")
        if isinstance(thought, str):  # one that is encrypted says nothing
            yield Said(thought, is_thought=True)
    elif kind in _CALLS:
        yield _asked(block)
    elif isinstance(kind, str) and kind.endswith(_ANSWER):
        yield _answered(block)
    else:
        yield Shown(_part(block))


def _text(block: Mapping[str, Any], key: str) -> str:
    text = block.get(key)
    if not isinstance(text, str):
        raise Unreadable(f"{key} {shown(text)} is no text")
    return text


def _asked(block: Mapping[str, Any]) -> Asked:
    tool = block.get("name")
    if not isinstance(tool, str) or not tool.strip():
        raise Unreadable(f"a tool call of the name {shown(tool)}")
    arguments, raw = arguments_of(block.get("input"))
    return Asked(_text(block, "id"), tool, arguments, raw)


def _answered(block: Mapping[str, Any]) -> Answered:
    """Return an answer: its texts joined by line ends, what is no text as parts."""
    content = block.get("content")
    items = content if isinstance(content, list) else [content]
    texts, parts = [], []
    for item in items:
        said = item.get("text") if isinstance(item, dict) else item
        if isinstance(said, str):
            texts.append(said)
        elif isinstance(item, dict):
            parts.append(_part(item))
        elif item is not None:
            texts.append(_as_text(item))
    failed = block.get("is_error") is True
    return Answered(_text(block, "tool_use_id"), "\n".join(texts), tuple(parts), failed)


def _part(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return a block as a reference: an image's data as a data URI, or its address."""
    rest = {key: value for key, value in block.items() if key != "type"}
    source = rest.pop("source", None)
    if isinstance(source, dict) and isinstance(source.get("data"), str):
        media = source.get("media_type", "application/octet-stream")
        reference: str | None = f"data:{media};{source.get('type', 'base64')},{source['data']}"
        source = None
    else:
        held = source if isinstance(source, dict) else {}
        reference = text_or_none(held.get("url")) or text_or_none(held.get("file_id"))
    data = rest if source is None else {**rest, "source": source}
    kind = name_or_none(block.get("type")) or "part"
    return {"kind": kind, "reference": reference, "data": data}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
