"""What scorers said of a sample, as feedback on what its agent said last."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemolog.importers.otel_feedback import NEUTRAL, scaled
from mnemolog.importers.shapes import name_or_none, text_or_none
from mnemolog.schemas.values import json_text

LABEL_CHARACTERS_MAX: Final = 200
SCORER_UNKNOWN: Final = "scorer"
_LETTERS: Final = {"C": 1.0, "I": -1.0, "P": 0.0, "N": -1.0}  # correct, not, in part, no answer


def judgements(scorer: str, score: Mapping[str, Any]) -> Iterator[tuple[str, float, str]]:
    """Yield what a score judges, from -1 to 1, and its label; one of several values gives several.

    >>> list(judgements("match", {"value": "C"}))
    [('match', 1.0, 'match: C')]
    """
    value = score.get("value")
    if isinstance(value, dict) and value:
        for name, one in value.items():
            judged = f"{scorer}/{name}"
            yield judged, _from_worst_to_best(one, judged), _label(judged, one)
    else:
        yield scorer, _from_worst_to_best(value, scorer), _label(scorer, value)


def _from_worst_to_best(value: Any, name: str) -> float:
    if isinstance(value, str):
        return _LETTERS.get(value, NEUTRAL)
    return scaled(value, name=name)


def _label(name: str, value: Any) -> str:
    shown = value if isinstance(value, str) else json_text(value)
    return f"{name}: {shown}"[:LABEL_CHARACTERS_MAX]


def feedback(judged: tuple[str, float, str], *, scorer: str, comment: str | None) -> dict[str, Any]:
    """Return the fields of feedback, but for its target."""
    _, value, label = judged
    return {"score": value, "label": label, "comment": comment, "given_by": name_or_none(scorer)}


def essence_of(score: Mapping[str, Any]) -> str:
    """Return what makes a score the one that it is, wherever a log tells it."""
    return json_text([score.get("value"), score.get("answer"), score.get("explanation")])


def explanation_of(score: Mapping[str, Any]) -> str | None:
    """Return why a score is what it is."""
    return text_or_none(score.get("explanation"))


def success_of(scores: Mapping[str, Any]) -> bool | None:
    """Say whether all that scorers judged of a sample is good; None where none could tell."""
    every = [
        value
        for scorer, score in scores.items()
        if isinstance(score, dict)
        for _, value, _ in judgements(scorer, score)
        if value != NEUTRAL or score.get("value") == "P"
    ]
    return all(value > 0 for value in every) if every else None
