"""OpenTelemetry: spans of models, tools and agents, whoever recorded them.

The spans of a trace may stand anywhere in a file, children before their parents. They are held
until the file ends, or until so many are that the trace that was silent longest is told.
docs/importing.md says what becomes of each.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from mnemolog.importers.base import Found, Options, Problem, Scope, Source, Telling
from mnemolog.importers.bounded import Bounded
from mnemolog.importers.documents import documents
from mnemolog.importers.otel_evaluations import evaluations
from mnemolog.importers.otel_reading import is_wrapper, step_of, tells
from mnemolog.importers.otel_spans import Span, spans_of
from mnemolog.importers.otel_trace import Trace, TraceStory
from mnemolog.importers.outlines import outlines
from mnemolog.importers.shapes import name_or_none
from mnemolog.schemas.times import instant

FORMAT: Final = "otel"
AGENT_DEFAULT: Final = "agent"
SPANS_HELD_MAX: Final = 20_000
CHARACTERS_HELD_MAX: Final = 67_108_864  # of the texts in their attributes
RESPONSES_MAX: Final = 65_536  # ids of answers that were told, by which their wrappers are known
_AGENTS: Final = ("gen_ai.agent.name", "agent.name", "ai.telemetry.functionId")
_SESSIONS: Final = (
    *("gen_ai.conversation.id", "session.id", "langfuse.session.id"),
    *("ai.telemetry.metadata.sessionId", "traceloop.association.properties.session_id"),
)
_USERS: Final = (
    *("user.id", "enduser.id", "langfuse.user.id", "ai.telemetry.metadata.userId"),
    "traceloop.association.properties.user_id",
)
_SERVICE_UNKNOWN: Final = "unknown_service"
_MARKS: Final = (
    frozenset({"resourceSpans"}),
    frozenset({"resource_spans"}),
    frozenset({"spanContext", "attributes"}),
    frozenset({"context", "attributes", "start_time"}),
    frozenset({"traceId", "spanId", "attributes"}),
)


class OpenTelemetry:
    """Imports spans of OpenTelemetry that tell of models, tools and agents."""

    name = FORMAT

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether *head* shows spans."""
        del path
        return any(any(keys >= marks for marks in _MARKS) for keys in outlines(head))

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield what happened in each trace of *source*."""
        held = _Held(options)
        for document in documents(source):
            if isinstance(document, Problem):
                yield document
                continue
            for span in spans_of(document, source):
                if isinstance(span, Problem):
                    yield span
                else:
                    held.add(span)
                    yield from held.overflow()
        yield from held.rest()


class _Held:
    """The spans of a file whose traces are not told yet."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._traces: OrderedDict[str, list[Span]] = OrderedDict()
        self._responses: Bounded[str, None] = Bounded(RESPONSES_MAX)
        self._spans = self._characters = 0

    def add(self, span: Span) -> None:
        """Hold a span."""
        self._traces.setdefault(span.trace, []).append(span)
        self._traces.move_to_end(span.trace)
        self._spans += 1
        self._characters += _characters(span)
        response = span.attributes.get("ai.response.id")
        if isinstance(response, str) and not is_wrapper(span):
            self._responses[response] = None

    def overflow(self) -> Iterator[Found]:
        """Tell the traces that are silent longest while too many spans are held."""
        while self._spans > SPANS_HELD_MAX or self._characters > CHARACTERS_HELD_MAX:
            _, spans = self._traces.popitem(last=False)
            self._spans -= len(spans)
            self._characters -= sum(map(_characters, spans))
            yield from self._tell(spans)

    def rest(self) -> Iterator[Found]:
        """Tell all that is held, in the order in which the traces began."""
        for spans in sorted(self._traces.values(), key=lambda spans: min(map(_begun, spans))):
            yield from self._tell(spans)
        self._traces.clear()

    def _tell(self, spans: Sequence[Span]) -> Iterator[Found]:
        told = [span for span in spans if not self._is_told_elsewhere(span)]
        steps = [step_of(span) for span in told]
        if not any(map(tells, steps)):
            return
        ordered = sorted(spans, key=_begun)
        session = _named(ordered, _SESSIONS)
        scope = Scope(
            agent=self._options.agent or _agent(ordered),
            user=self._options.user or _named(ordered, _USERS),
            project=self._options.project,
            session=session or spans[0].trace,
        )
        roots = [span for span in ordered if span.parent is None]
        telling = Telling(FORMAT, scope, seed=(scope.session or "",))
        trace = Trace(
            id=spans[0].trace,
            place=ordered[0].place,
            title=None,
            begun=ordered[0].begun,
            steps=steps,
            ended=_ended(roots),
            is_turn=session is not None,
        )
        story = TraceStory(trace, telling)
        yield from story.tell()
        yield from evaluations(told, story)

    def _is_told_elsewhere(self, span: Span) -> bool:
        """Say whether the file holds the call of a provider that *span* is about.

        The two are of one trace, unless whoever recorded them lost it; then the answer's id is
        what they share.
        """
        metadata = span.attributes.get("ai.response.providerMetadata")
        if not is_wrapper(span) or not isinstance(metadata, str):
            return False
        return any(response in self._responses for response in metadata.split('"'))


def _characters(span: Span) -> int:
    return sum(len(value) for value in span.attributes.values() if isinstance(value, str))


def _begun(span: Span) -> datetime:
    return instant(span.begun, field="time")[0]


def _ended(roots: Sequence[Span]) -> datetime | None:
    """Return when a trace ended: with its roots, if they are there and have."""
    ends = [root.ended for root in roots]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return None
    return max(known, key=lambda end: instant(end, field="time")[0], default=None)


def _named(spans: Sequence[Span], keys: tuple[str, ...]) -> str | None:
    """Return the first name that one of *spans* has under one of *keys*."""
    names = (name_or_none(span.attributes.get(key)) for span in spans for key in keys)
    return next(filter(None, names), None)


def _agent(spans: Sequence[Span]) -> str:
    service = next(
        filter(None, (name_or_none(span.resource.get("service.name")) for span in spans)), None
    )
    if service is not None and service.startswith(_SERVICE_UNKNOWN):
        service = None
    return _named(spans, _AGENTS) or service or AGENT_DEFAULT
