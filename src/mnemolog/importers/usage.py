"""What a model's use cost, of whatever a source gives for it."""

import math
from typing import Any, Final

from mnemolog.schemas.fields import is_blank

MODEL_UNKNOWN: Final = "unknown"  # a cost is told though the source names no model
_TOKENS_IN: Final = ("prompt_tokens", "input_tokens", "tokens_sent")
_TOKENS_OUT: Final = ("completion_tokens", "output_tokens", "tokens_received")


def model_use(model: Any, usage: Any = None, *, cost_usd: Any = None) -> dict[str, Any] | None:
    """Return `model_use` for an event, or None where neither tokens nor a cost are told.

    *usage* counts tokens by the names of any of the known APIs; what is no count is none.

    >>> model_use("small-1", {"prompt_tokens": 7, "completion_tokens": 2}, cost_usd=0.5)
    {'model': 'small-1', 'tokens_in': 7, 'tokens_out': 2, 'cost_usd': 0.5}
    """
    tokens_in, tokens_out = tokens_of(usage)
    cost = amount_of(cost_usd)
    if not (tokens_in or tokens_out or cost):
        return None
    named = isinstance(model, str) and not is_blank(model)
    use = {"model": model if named else MODEL_UNKNOWN}
    return {**use, "tokens_in": tokens_in, "tokens_out": tokens_out, "cost_usd": cost}


def tokens_of(usage: Any) -> tuple[int, int]:
    """Return the tokens that went in and that came out, 0 where *usage* does not say."""
    if not isinstance(usage, dict):
        return 0, 0
    return _first(usage, _TOKENS_IN), _first(usage, _TOKENS_OUT)


def count_of(value: Any) -> int:
    """Return *value* if it is a count, else 0."""
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return value if is_count else 0


def amount_of(value: Any) -> float | None:
    """Return *value* if it is a finite amount, else None."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        amount = float(value)
    except OverflowError:
        return None
    return amount if math.isfinite(amount) and amount >= 0 else None


def _first(usage: dict[str, Any], names: tuple[str, ...]) -> int:
    return next(filter(None, (count_of(usage.get(name)) for name in names)), 0)
