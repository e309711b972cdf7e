"""Langfuse's scores and corrections as feedback on what they judge."""

from collections.abc import Iterator, Mapping
from typing import Any

from mnemolog.importers.base import Found, Here, Source, Unreadable
from mnemolog.importers.langfuse_observations import id_of
from mnemolog.importers.moments import moment_of_text
from mnemolog.importers.otel_feedback import NEUTRAL, scaled
from mnemolog.importers.otel_trace import TraceStory
from mnemolog.importers.shapes import name_or_none, text_or_none
from mnemolog.schemas.errors import shown
from mnemolog.schemas.events.experience import FeedbackGiven


class Scores:
    """Tells the scores of one trace, after its events."""

    def __init__(self, told: TraceStory, source: Source) -> None:
        self._told = told
        self._source = source

    def tell(self, scores: Any, place: str) -> Iterator[Found]:
        """Yield feedback for each of *scores*, and a Problem for what is none."""
        if not isinstance(scores, list):
            if scores is not None:
                yield self._source.problem(place, f"{shown(scores)} is no list")
            return
        for number, score in enumerate(scores, start=1):
            there = f"{place} {number}"
            try:
                yield from self._one(score, there)
            except Unreadable as error:
                yield self._source.problem(there, str(error))

    def _one(self, score: Any, place: str) -> Iterator[Found]:
        if not isinstance(score, dict):
            raise Unreadable(f"{shown(score)} is no score")
        score_id = id_of(score.get("id"), field="id")
        written = score.get("timestamp", score.get("createdAt"))
        name = text_or_none(score.get("name")) or "score"
        value, shown_value = _value(score, name)
        target = self._target(score)
        fields = {
            "target": target,
            "score": value,
            "label": f"{name}: {shown_value}" if shown_value else name,
            "comment": self._comment(score),
            "given_by": _judge(score),
        }
        here = Here(place, moment_of_text(written), item=score_id)
        how: dict[str, Any] = {"name": ("score", score_id), "cause": target}
        yield from self._told.story.aside(FeedbackGiven, fields, here, **how)

    def _target(self, score: Mapping[str, Any]) -> str:
        """Return the event that a score judges: the observation's, or the trace's answer."""
        judged = score.get("observationId")
        of_step = self._told.events.get(judged) if isinstance(judged, str) else None
        return of_step or self._told.answer or self._told.begun

    def _comment(self, score: Mapping[str, Any]) -> str | None:
        """Return what was said with a score; a correction that says what was answered is none."""
        text = text_or_none(score.get("comment")) or text_or_none(score.get("longStringValue"))
        return None if text is not None and self._told.has_said(text) else text


def _value(score: Mapping[str, Any], name: str) -> tuple[float, str]:
    """Return a score from -1 to 1, and the value as it was given."""
    value, text, kind = score.get("value"), score.get("stringValue"), score.get("dataType")
    if kind == "CORRECTION":
        return NEUTRAL, ""
    if text is None and value is None:
        raise Unreadable("a score without a value")
    if kind in ("CATEGORICAL", "TEXT") or not isinstance(value, int | float):
        return NEUTRAL, str(value if text is None else text)
    shown_value = text if isinstance(text, str) and text else f"{value:g}"
    return scaled(value, name=name), shown_value


def _judge(score: Mapping[str, Any]) -> str | None:
    return name_or_none(score.get("authorUserId")) or name_or_none(score.get("source"))
