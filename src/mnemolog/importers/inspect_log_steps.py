"""Events of an evaluation log as steps: what a tool was called with, what a model cost."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from mnemolog.importers.base import Unreadable
from mnemolog.importers.chat_messages import Call, arguments_of
from mnemolog.importers.moments import moment_of_text
from mnemolog.importers.otel_said import Answer, answer_text
from mnemolog.importers.otel_steps import Step
from mnemolog.importers.shapes import mapping, text_or_none
from mnemolog.importers.usage import count_of, model_use
from mnemolog.schemas.errors import shown
from mnemolog.schemas.fields import is_blank

_CACHED: Final = ("input_tokens_cache_read", "input_tokens_cache_write")
_SANDBOX: Final = ("action", "cmd", "file", "options", "input", "result", "output", "reason")


def tool_step(event: Mapping[str, Any], *, number: int, place: str) -> Step:
    """Return a tool's call as a step. Raises Unreadable."""
    name = event.get("function")
    if not isinstance(name, str) or is_blank(name):
        raise Unreadable(f"a tool of the name {shown(name)}")
    arguments, raw = arguments_of(event.get("arguments"))
    error = mapping(event.get("error"))
    said = text_or_none(error.get("message")) or text_or_none(error.get("type"))
    return Step(
        id=str(number),
        parent=None,
        kind="tool",
        name=name,
        place=place,
        begun=moment_of_text(event.get("timestamp")),
        ended=None if event.get("pending") is True else end_of(event),
        call=Call(text_or_none(event.get("id")), name, arguments, raw),
        answer=Answer(answer_text(event.get("result")), failed=event.get("failed") is True),
        error=said,
    )


def end_of(event: Mapping[str, Any]) -> datetime:
    """Return when something ended; where the log does not say, it took no time."""
    ended = event.get("completed")
    return moment_of_text(event.get("timestamp") if ended is None else ended)


def use_of(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a model's call cost."""
    output = mapping(event.get("output"))
    return use_of_usage(output.get("model") or event.get("model"), output.get("usage"))


def use_of_usage(model: Any, usage: Any) -> dict[str, Any] | None:
    """Return `model_use`. Cached tokens are counted where the total says that the input lacks them.

    >>> use_of_usage("m", {"input_tokens": 2, "input_tokens_cache_read": 5, "total_tokens": 7})
    {'model': 'm', 'tokens_in': 7, 'tokens_out': 0, 'cost_usd': None}
    """
    counts = mapping(usage)
    given, made = count_of(counts.get("input_tokens")), count_of(counts.get("output_tokens"))
    cached = sum(count_of(counts.get(name)) for name in _CACHED)
    if given + cached + made <= count_of(counts.get("total_tokens")):
        given += cached
    tokens = {"input_tokens": given, "output_tokens": made}
    return model_use(model, tokens, cost_usd=counts.get("total_cost"))


def sandbox_data(event: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a sandbox was asked and what it gave."""
    return {name: event[name] for name in _SANDBOX if event.get(name) is not None}


def sandbox_succeeded(event: Mapping[str, Any]) -> bool:
    """Say whether a sandbox did what it was asked: a command by its exit code."""
    result = event.get("result")
    return result in (None, 0) and not isinstance(result, bool)
