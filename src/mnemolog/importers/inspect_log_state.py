"""A sample's state, made whole again from the changes that its log holds (RFC 6902)."""

import json
from typing import Any, Final

from mnemolog.importers.base import Unreadable
from mnemolog.importers.shapes import listed, mapping
from mnemolog.schemas.errors import shown
from mnemolog.schemas.values import json_text

STATE_CHARACTERS_MAX: Final = 16_777_216  # of a state as JSON, while it is followed
KEPT_CHARACTERS_MAX: Final = 524_288  # of a state in a checkpoint; beyond, without its messages
MESSAGES: Final = "messages"

Holder = dict[str, Any] | list[Any]


class Followed:
    """A document that changes, of which another one is known by its JSON."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._value: Any = value
        self._text = json_text(value)
        self._is_lost = False

    def change(self, changes: Any) -> bool:
        """Apply *changes* in order, and say whether the document is another one now.

        Raises Unreadable for one that doesn't fit; those before it are applied. A document that
        outgrows its bound is lost: nothing changes it any more.
        """
        if self._is_lost:
            return False
        before = self._text
        try:
            self._apply_all(listed(changes))
        finally:
            self._measure()
        return self._text != before

    def kept(self) -> dict[str, Any]:
        """Return the document as a checkpoint keeps it, a copy; without messages if it is long."""
        value: dict[str, Any] = json.loads(self._text)
        if len(self._text) <= KEPT_CHARACTERS_MAX or MESSAGES not in value:
            return value
        left_out = len(listed(value.pop(MESSAGES)))
        return {**value, "messages_left_out": left_out}

    def _apply_all(self, changes: list[Any]) -> None:
        copied = 0
        for change in changes:
            copied += self._apply(mapping(change))
            if copied > STATE_CHARACTERS_MAX:
                raise Unreadable("changes that copy without end")

    def _measure(self) -> None:
        """Take the document as it is now, or lose it."""
        try:
            text = json_text(self._value)
        except RecursionError:
            text = None
        if text is None or len(text) > STATE_CHARACTERS_MAX or not isinstance(self._value, dict):
            self._is_lost = True
            raise Unreadable(f"a state of more than {STATE_CHARACTERS_MAX} characters, or too deep")
        self._text = text

    def _apply(self, change: dict[str, Any]) -> int:
        """Apply one change, and return how much it copied."""
        path, value = _path(change.get("path")), change.get("value")
        match change.get("op"):
            case "add":
                self._put(path, value, insert=True)
            case "replace":
                self._put(path, value, insert=False)
            case "remove":
                self._take(path)
            case "move":
                self._put(path, self._take(_path(change.get("from"))), insert=True)
            case "copy":
                text = json_text(self._get(_path(change.get("from"))))
                self._put(path, json.loads(text), insert=True)
                return len(text)
            case "test":
                pass
            case op:
                raise Unreadable(f"change {shown(op)} is none of RFC 6902")
        return 0

    def _put(self, path: list[str], value: Any, *, insert: bool) -> None:
        if not path:
            self._value = value
            return
        holder, name = self._holder(path), path[-1]
        if isinstance(holder, dict):
            holder[name] = value
        elif insert:
            holder.insert(len(holder) if name == "-" else _index(name, len(holder) + 1), value)
        else:
            holder[_index(name, len(holder))] = value

    def _take(self, path: list[str]) -> Any:
        if not path:
            raise Unreadable("a state is not removed as a whole")
        holder, name = self._holder(path), path[-1]
        if isinstance(holder, list):
            return holder.pop(_index(name, len(holder)))
        return holder.pop(name, None)

    def _holder(self, path: list[str]) -> Holder:
        holder = self._get(path[:-1])
        if not isinstance(holder, dict | list):
            raise Unreadable(f"path {shown('/'.join(path))} leads nowhere")
        return holder

    def _get(self, path: list[str]) -> Any:
        at: Any = self._value
        for name in path:
            if isinstance(at, dict) and name in at:
                at = at[name]
            elif isinstance(at, list):
                at = at[_index(name, len(at))]
            else:
                raise Unreadable(f"path {shown('/'.join(path))} leads nowhere")
        return at


def _path(pointer: Any) -> list[str]:
    """Return the names in a JSON pointer."""
    if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
        raise Unreadable(f"path {shown(pointer)} is no JSON pointer")
    return [name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:]]


def _index(name: str, length: int) -> int:
    """Return the place in a list of *length* that *name* is."""
    is_number = name.isdecimal() and name.isascii() and len(name) < 10  # noqa: PLR2004 - no list is longer
    if not is_number or int(name) >= length:
        raise Unreadable(f"no place {shown(name)} in a list of {length}")
    return int(name)
