"""What stands where in an OpenHands event, of the present format and of the old one.

The old one has an action's arguments and an observation's extras beside everything else.
"""

from collections.abc import Mapping
from typing import Any, Final

from mnemolog.importers.chat_messages import says_error
from mnemolog.importers.shapes import text_at

_OWN: Final = frozenset(
    {
        *("id", "timestamp", "source", "message", "cause", "action", "observation", "content"),
        *("thought", "tool_call_metadata", "llm_metrics", "success"),
    }
)
_FAILURES: Final = ("error", "user_rejected")


def kind_of(event: Any, name: str) -> str:
    """Return which *name* ("action", "observation") an event is; empty where it is none."""
    return text_at(event, name)


def id_of(event: Any) -> int | None:
    """Return an event's own id, if it has one."""
    number = event.get("id") if isinstance(event, dict) else None
    return number if is_id(number) else None


def is_id(value: Any) -> bool:
    """Say whether *value* may be an event's id."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def args_of(event: Any) -> Mapping[str, Any]:
    """Return an action's arguments; of the old format the event itself."""
    args = event.get("args", event) if isinstance(event, dict) else {}
    return args if isinstance(args, dict) else {}


def arguments_beside(event: Mapping[str, Any]) -> Any:
    """Return what the action was called with, without the thought that led to it."""
    args = event["args"] if "args" in event else _others(event)
    if not isinstance(args, dict):
        return args
    return {name: value for name, value in args.items() if name != "thought"}


def extras_of(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an observation holds beside its text."""
    extras = event["extras"] if "extras" in event else _others(event)
    return extras if isinstance(extras, dict) else {"extras": extras}


def thought_of(event: Any) -> str:
    """Return what the agent thought before it acted."""
    return text_at(args_of(event), "thought")


def call_of(event: Any) -> str | None:
    """Return the id that the model gave its call."""
    return text_at(event.get("tool_call_metadata"), "tool_call_id") or None


def images_of(args: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a message's images as references."""
    urls = args.get("image_urls", args.get("images_urls"))
    listed = urls if isinstance(urls, list) else []
    return [{"kind": "image", "reference": url} for url in listed if isinstance(url, str)]


def succeeded(event: Mapping[str, Any], extras: Mapping[str, Any]) -> bool | None:
    """Say whether an observation shows a success, or None where nothing says so."""
    metadata = extras.get("metadata")
    codes = (holder.get("exit_code") for holder in (metadata, extras) if isinstance(holder, dict))
    code = next((code for code in codes if isinstance(code, int)), None)
    if isinstance(told := event.get("success"), bool):
        return told
    if code is not None:
        return code == 0
    failed = event.get("observation") in _FAILURES or says_error(text_at(event, "content"))
    return False if failed else None


def _others(event: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in _OWN}
