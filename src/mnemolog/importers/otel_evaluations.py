"""Evaluations that spans note while they last, as feedback on what the spans told."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from mnemolog.importers.base import Here, Placed
from mnemolog.importers.otel_feedback import scaled
from mnemolog.importers.otel_spans import Span, SpanEvent
from mnemolog.importers.otel_trace import TraceStory
from mnemolog.importers.shapes import text_or_none
from mnemolog.schemas.events.experience import FeedbackGiven

_EVENT: Final = "gen_ai.evaluation.result"


def evaluations(spans: Sequence[Span], told: TraceStory) -> Iterator[Placed]:
    """Yield feedback for each evaluation in *spans*, whose trace is told."""
    for span in spans:
        for number, event in enumerate(span.events):
            if event.name == _EVENT:
                yield from _evaluation(span, event, number, told)


def _evaluation(span: Span, event: SpanEvent, number: int, told: TraceStory) -> Iterator[Placed]:
    target = told.events.get(span.id) or told.answer or told.begun
    attributes = event.attributes
    name = text_or_none(attributes.get("gen_ai.evaluation.name")) or "evaluation"
    value = attributes.get("gen_ai.evaluation.score.value")
    label = text_or_none(attributes.get("gen_ai.evaluation.score.label"))
    shown_value = label or (f"{value:g}" if isinstance(value, int | float) else "")
    fields = {
        "target": target,
        "score": scaled(value, name=name),
        "label": f"{name}: {shown_value}" if shown_value else name,
        "comment": text_or_none(attributes.get("gen_ai.evaluation.explanation")),
    }
    here = Here(span.place, event.at, item=span.id)
    how: dict[str, Any] = {"name": ("evaluation", span.trace, span.id, str(number))}
    yield from told.story.aside(FeedbackGiven, fields, here, cause=target, **how)
