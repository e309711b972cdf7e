"""What becomes of a message of the model: thoughts, words and calls, and what they cost."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemolog.importers.base import Found, Placed
from mnemolog.importers.claude_code_chain import digest_of, digest_of_value
from mnemolog.importers.claude_code_lines import Answered, Asked, Said, Shown
from mnemolog.importers.claude_code_runs import Now
from mnemolog.importers.claude_code_user import tell_answer
from mnemolog.importers.usage import count_of, model_use
from mnemolog.importers.words import decision_of
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.experience import DecisionMade, MessageExchanged
from mnemolog.schemas.fields import is_blank

_SYNTHETIC: Final = "<synthetic>"  # "the model" of what the program says in the model's place
_GOES_ON: Final = ("tool_use", "pause_turn")  # why a message stopped behind which more will come
_TOKENS_IN: Final = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")


def tell_message(now: Now) -> Iterator[Found]:
    """Yield a message's events: words are caused by what stands before, calls by the words."""
    if now.run.message != now.step.message:
        yield from now.story.orphan_calls(now.here)
    now.run.message = now.step.message
    cause, use = now.story.previous, _use(now)
    for block in now.step.blocks:
        if isinstance(block, str):
            yield now.problem(block)
        elif isinstance(block, Answered):
            yield from tell_answer(now, block)
        elif isinstance(block, Asked):
            yield from _call(now, block, cause=cause, use=use)
            use = None
        elif not isinstance(block, Said) or not is_blank(block.text):
            yield from _say(now, block, use=use)
            cause, use = now.story.previous, None
    yield from _come_to_rest(now)


def _say(now: Now, block: Said | Shown, *, use: Mapping[str, Any] | None) -> list[Placed]:
    kind, model, fields = _said(now, block)
    what = digest_of(block.text) if isinstance(block, Said) else digest_of_value(block.part)
    return now.story.tell(
        model,
        {**fields, "model_use": use},
        now.here,
        name=(kind, str(now.step.message), what),
        cause=now.story.previous,
    )


def _said(now: Now, block: Said | Shown) -> tuple[str, type[Event], dict[str, Any]]:
    if isinstance(block, Shown):
        fields: dict[str, Any] = {"role": "assistant", "text": "", "parts": [block.part]}
        return "shown", MessageExchanged, fields
    if block.is_thought:
        return "thought", DecisionMade, dict(decision_of(block.text))
    is_synthetic = now.step.said.get("model") == _SYNTHETIC
    role = "system" if is_synthetic else "assistant"
    return "said", MessageExchanged, {"role": role, "text": block.text}


def _call(
    now: Now, block: Asked, *, cause: str | None, use: Mapping[str, Any] | None
) -> list[Placed]:
    told = now.story.call(
        block.call,
        {
            "tool": block.tool,
            "arguments": block.arguments,
            "raw": block.raw,
            "model_use": use,
        },
        now.here,
        name=("call", str(now.step.message), block.call),
        cause=cause,
    )
    now.runs.note_call(now.step.lane, block, str(now.story.previous))
    return told


def _use(now: Now) -> dict[str, Any] | None:
    """Return what the message cost; cached tokens went in too."""
    model, usage = now.step.said.get("model"), now.step.said.get("usage")
    if model == _SYNTHETIC or not isinstance(usage, dict):
        return None
    counted = {
        "input_tokens": sum(count_of(usage.get(name)) for name in _TOKENS_IN),
        "output_tokens": usage.get("output_tokens"),
    }
    return model_use(model, counted, cost_usd=now.step.line.value.get("costUSD"))


def _come_to_rest(now: Now) -> list[Placed]:
    """End a session that was rewound where its new branch rests: nothing is called, or open."""
    asks = any(isinstance(block, Asked) for block in now.step.blocks)
    goes_on = asks or now.step.said.get("stop_reason") in _GOES_ON
    if not now.run.is_rewound or goes_on or now.story.has_open_calls():
        return []
    now.run.is_rewound = False
    name = ("session", now.run.name, "ended", str(now.step.message))
    return now.story.close({}, now.here, name=name)
