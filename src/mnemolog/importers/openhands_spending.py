"""What an OpenHands event's model call took.

Newer streams tell totals so far on each event, older ones the response that led to it; several
calls of tools may come from one response, which is counted once.
"""

from typing import Any, Final

from mnemolog.importers.usage import amount_of, model_use, tokens_of

_NO_MODEL: Final = ("", "default")  # totals over several models are named so
_COST_DIGITS: Final = 12  # totals are sums of floats: what is left behind these is no cost


class Spending:
    """Tells what each event took, of the totals before it. Ask of each of a run's events once."""

    def __init__(self, model: str | None) -> None:
        self._model = model
        self._spent = (0, 0, 0.0)
        self._response: Any = None
        self.was_told = False  # by any event

    def of(self, event: dict[str, Any]) -> dict[str, Any] | None:
        """Return the event's `model_use`, or None where it took nothing."""
        metrics, response = event.get("llm_metrics"), _response(event)
        if isinstance(metrics, dict):
            use = self._since(metrics, response)
        elif response and (response.get("id") is None or response["id"] != self._response):
            use = model_use(self._named(response), response.get("usage"))
        else:
            use = None
        self._response = response.get("id")
        self.was_told = self.was_told or use is not None
        return use

    def _since(self, metrics: dict[str, Any], response: dict[str, Any]) -> dict[str, Any] | None:
        usage = metrics.get("accumulated_token_usage")
        before, cost = self._spent, amount_of(metrics.get("accumulated_cost")) or 0.0
        self._spent = (*tokens_of(usage), cost)
        # A total that fell is a new count.
        rose = all(now >= then for now, then in zip(self._spent, before, strict=True))
        start = before if rose else (0, 0, 0.0)
        tokens_in, tokens_out = self._spent[0] - start[0], self._spent[1] - start[1]
        counted = {"input_tokens": tokens_in, "output_tokens": tokens_out}
        named = self._named(usage if isinstance(usage, dict) else {}, response)
        return model_use(named, counted, cost_usd=round(cost - start[2], _COST_DIGITS))

    def _named(self, *sources: dict[str, Any]) -> Any:
        named = (source.get("model") for source in sources)
        return next((name for name in named if name and name not in _NO_MODEL), self._model)


def _response(event: dict[str, Any]) -> dict[str, Any]:
    metadata = event.get("tool_call_metadata")
    response = metadata.get("model_response") if isinstance(metadata, dict) else None
    return response if isinstance(response, dict) else {}
