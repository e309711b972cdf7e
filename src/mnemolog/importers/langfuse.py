"""Langfuse: traces of agents, with their observations and scores.

A trace is one turn of a session, or, without one, a session of its own. docs/importing.md says
what becomes of each observation.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from mnemolog.importers.base import (
    Found,
    Options,
    Problem,
    Scope,
    Source,
    Telling,
    Unreadable,
)
from mnemolog.importers.documents import Document, documents
from mnemolog.importers.langfuse_observations import attributes_of, id_of, step_of
from mnemolog.importers.langfuse_scores import Scores
from mnemolog.importers.moments import moment_of_text
from mnemolog.importers.otel_messages import messages_of
from mnemolog.importers.otel_steps import Step
from mnemolog.importers.otel_trace import Trace, TraceStory
from mnemolog.importers.outlines import outlines
from mnemolog.importers.shapes import name_or_none, text_or_none
from mnemolog.schemas.errors import shown
from mnemolog.schemas.times import instant

FORMAT: Final = "langfuse"
AGENT_DEFAULT: Final = "agent"
_MARKS: Final = (
    frozenset({"trace", "observations"}),
    frozenset({"observations", "projectId"}),
    frozenset({"projectId", "sessionId", "timestamp"}),
)


class Langfuse:
    """Imports traces as Langfuse exports them."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows a trace, or an object with one and its observations."""
        del path
        return any(
            any(keys >= marks for marks in _MARKS) or ("trace" in keys and b'"projectId"' in head)
            for keys in outlines(head)
        )

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield what happened in each trace of *source*, and who judged it."""
        for document in documents(source):
            if isinstance(document, Problem):
                yield document
            else:
                yield from _document(document, source, options)


@dataclass(frozen=True, slots=True)
class _Exported:
    """A trace as it was exported, with its observations."""

    trace: dict[str, Any]
    observations: list[Any]
    place: str


def _document(document: Document, source: Source, options: Options) -> Iterator[Found]:
    try:
        exported = _exported(document)
        trace_id = id_of(exported.trace.get("id"), field="trace id")
    except Unreadable as error:
        yield source.problem(document.place, str(error))
        return
    steps: list[Step] = []
    for number, observation in enumerate(exported.observations, start=1):
        place = f"{document.place}, observation {number}"
        try:
            steps.append(step_of(observation, place))
        except Unreadable as error:
            yield source.problem(place, str(error))
    try:
        begun = _begun(exported.trace, steps)
    except Unreadable as error:
        yield source.problem(document.place, str(error))
        return
    yield from _tell(exported, trace_id, steps, begun, source, options)


def _exported(document: Document) -> _Exported:
    """Return the trace and its observations: beside one another, or these within that."""
    value = document.value
    if not isinstance(value, dict):
        raise Unreadable(f"{shown(value)} is no trace")
    trace = value.get("trace", value)
    observations = value.get("observations")
    if not isinstance(trace, dict) or not isinstance(observations, list):
        raise Unreadable(f"{shown(value)} is no trace with its observations")
    return _Exported(trace, observations, document.place)


def _begun(trace: Mapping[str, Any], steps: list[Step]) -> datetime:
    """Return when a trace began: with its first observation at the latest."""
    times = [step.begun for step in steps]
    if trace.get("timestamp") is not None:
        times.append(moment_of_text(trace["timestamp"]))
    if not times:
        raise Unreadable("a trace without a time")
    return min(times, key=lambda moment: instant(moment, field="time")[0])


def _tell(
    exported: _Exported,
    trace_id: str,
    steps: list[Step],
    begun: datetime,
    source: Source,
    options: Options,
) -> Iterator[Found]:
    trace, place = exported.trace, exported.place
    agent = options.agent or _agent(exported) or AGENT_DEFAULT
    session = _name(trace.get("sessionId"))
    scope = Scope(
        agent=agent,
        user=options.user or _name(trace.get("userId")),
        project=options.project,
        session=session or trace_id,
    )
    telling = Telling(FORMAT, scope, seed=(session or trace_id,))
    roots = [step for step in steps if step.parent is None]
    told = TraceStory(
        Trace(
            id=trace_id,
            place=place,
            title=None if session else text_or_none(trace.get("name")),
            begun=begun,
            steps=[*steps, _outermost(trace, trace_id, begun, steps, place)],
            ended=_ended(roots),
            is_turn=session is not None,
        ),
        telling,
    )
    yield from told.tell()
    scores = Scores(told, source)
    yield from scores.tell(trace.get("scores"), f"{place}, score")
    yield from scores.tell(trace.get("corrections"), f"{place}, correction")


def _outermost(
    trace: Mapping[str, Any], trace_id: str, begun: datetime, steps: list[Step], place: str
) -> Step:
    """Return the trace itself as a step: its input and output may stand nowhere else."""
    return Step(
        id=trace_id,
        parent=None,
        kind="other",
        name=text_or_none(trace.get("name")) or trace_id,
        place=place,
        begun=begun,
        ended=_latest(steps) or begun,
        heard=tuple(messages_of(trace.get("input"), role="user")),
        said=tuple(messages_of(trace.get("output"), role="assistant")),
    )


def _ended(roots: list[Step]) -> datetime | None:
    """Return when a trace ended, if all that stands at its top has."""
    is_over = roots and all(step.ended is not None for step in roots)
    return _latest(roots) if is_over else None


def _latest(steps: list[Step]) -> datetime | None:
    ends = [step.ended or step.begun for step in steps]
    return max(ends, key=lambda moment: instant(moment, field="time")[0], default=None)


def _agent(exported: _Exported) -> str | None:
    """Return the agent's own name, the first that a step gives, or else the trace's."""
    named = (
        attributes_of(value).get("gen_ai.agent.name")
        for value in exported.observations
        if isinstance(value, dict) and value.get("parentObservationId") is None
    )
    names = (*named, exported.trace.get("name"))
    return next(filter(None, map(_name, names)), None)


def _name(value: Any) -> str | None:
    """Return *value* if it may be a name, without the slash at its beginning that makes a path."""
    if not isinstance(value, str):
        return None
    return name_or_none(value.lstrip("/\\"))
