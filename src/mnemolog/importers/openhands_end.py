"""What came of an OpenHands run: its patch, its error, its cost, and what a judge said of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.base import Found
from mnemolog.importers.openhands_events import EventStream
from mnemolog.importers.shapes import text_at
from mnemolog.importers.usage import model_use
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.fields import is_blank

RESOLVER: Final = "resolver"  # judges by the conversation
EVALUATION: Final = "evaluation"  # judges by the tests


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge said of a run."""

    success: bool
    judge: str
    comment: str | None


def end(stream: EventStream, run: Mapping[str, Any]) -> Iterator[Found]:
    """Yield what stands in *run* beside its events; its history was told."""
    teller = stream.teller
    result = run.get("test_result")
    patch = text_at(result, "git_patch") or text_at(run, "git_patch")
    verdict, error = _verdict(run), text_at(run, "error")
    if not is_blank(patch):
        fields = {"text": patch, "data": {"of": "git_patch"}, "stated_by": "tool"}
        yield teller.tell(happened.ObservationRecorded, fields, number=1)
    was_over = stream.task_end is not None
    yield from _task_end(stream, verdict, error)
    success = verdict.success if verdict else (None if is_blank(error) else False)
    # An error that ended the task was told with its end.
    ended = {"outcome": (was_over and error) or None, "success": success}
    yield teller.tell(happened.SessionEnded, {**ended, "model_use": _cost(stream, run)})
    if verdict is not None:
        target = stream.task_end or teller.previous
        yield teller.tell(
            happened.FeedbackGiven,
            {
                "target": target,
                "score": 1.0 if verdict.success else -1.0,
                "label": "resolved" if verdict.success else "not resolved",
                "comment": verdict.comment,
                "given_by": verdict.judge,
            },
            cause=target,
        )


def _task_end(stream: EventStream, verdict: Verdict | None, error: str) -> Iterator[Found]:
    """End the task where no event did: by an error, or by what the judge said."""
    if stream.task_end is not None:
        return
    if not is_blank(error):
        yield stream.teller.tell(happened.TaskAbandoned, {"outcome": error})
    elif verdict is not None:
        label = "Resolved" if verdict.success else "Not resolved"
        fields = {"outcome": f"{label}: {stream.goal}", "success": verdict.success}
        yield stream.teller.tell(happened.TaskCompleted, fields)
    else:
        return
    stream.task_end = stream.teller.previous


def _verdict(run: Mapping[str, Any]) -> Verdict | None:
    """Return who judged the run, and how; None where nobody did."""
    if isinstance(success := run.get("success"), bool):
        return Verdict(success, RESOLVER, text_at(run, "result_explanation") or None)
    result = run.get("test_result")
    holders = (run.get("report"), result.get("report") if isinstance(result, dict) else None)
    for holder in (*holders, result):
        if isinstance(holder, dict) and isinstance(resolved := holder.get("resolved"), bool):
            return Verdict(resolved, EVALUATION, None)
    return None


def _cost(stream: EventStream, run: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what the whole run took, where no event tells its part of it."""
    metrics = run.get("metrics")
    if stream.spending.was_told or not isinstance(metrics, dict):
        return None
    usage, cost = metrics.get("accumulated_token_usage"), metrics.get("accumulated_cost")
    return model_use(stream.about.model, usage, cost_usd=cost)
