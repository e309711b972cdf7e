"""A sample of an evaluation: one run of an agent on one task."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mnemolog.importers.base import Found, Here, Placed, Problem, Source, Telling, Unreadable
from mnemolog.importers.inspect_log_context import Happened, in_one_row
from mnemolog.importers.inspect_log_events import KNOWN, TASK, Events
from mnemolog.importers.inspect_log_saving import Aim
from mnemolog.importers.inspect_log_steps import tool_step, use_of_usage
from mnemolog.importers.inspect_log_values import Attachments
from mnemolog.importers.moments import moment_of_text
from mnemolog.importers.otel_messages import messages_of
from mnemolog.importers.otel_steps import Step
from mnemolog.importers.shapes import mapping, text_or_none
from mnemolog.importers.story import Story, Told
from mnemolog.importers.unknown import Unknown
from mnemolog.schemas.errors import shown
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.times import instant


@dataclass(frozen=True, slots=True)
class About:
    """What a log says of a sample from outside: when, where, and after which event it began."""

    session: str
    aim: Aim
    title: str | None
    begun: datetime
    place: str
    item: str | None
    cause: str | None
    source: Source


class SampleStory:
    """Tells one sample."""

    def __init__(self, sample: Mapping[str, Any], telling: Telling, about: About) -> None:
        self._sample = sample
        self._about = about
        self._story = Story(telling, Told())
        self._missing: dict[str, None] = {}  # references to what is not there
        self._unknown = Unknown()
        transcript = mapping(sample.get("transcript"))  # where older logs have the two
        self._row = list(in_one_row(sample.get("events", transcript.get("events"))))
        texts = sample.get("attachments") or transcript.get("content")
        self._attachments = Attachments(texts, on_missing=self._miss)
        self._events = Events(
            self._story,
            steps=dict(self._tool_steps()),
            aim=about.aim,
            attachments=self._attachments,
        )
        data = mapping(sample.get("events_data"))
        self._events.pool = data.get("messages") or sample.get("message_pool")
        self._now = about.begun

    def _miss(self, reference: str) -> None:
        self._missing[reference] = None

    def _tool_steps(self) -> Iterator[tuple[int, Step]]:
        for at in self._row:
            if mapping(at.event).get("event") == "tool":
                event = self._attachments.resolved(at.event)
                try:
                    yield at.number, tool_step(event, number=at.number, place=self._place(at))
                except Unreadable:
                    continue  # it is named when its turn comes

    def _place(self, at: Happened) -> str:
        return f"{self._about.place}, event {at.number + 1}"

    def tell(self) -> Iterator[Found]:
        """Yield the events of the sample, in the order of its log."""
        for found in self._told():
            if isinstance(found, Placed) and found.draft.id is not None:
                self._events.last = found.draft.id
            yield found
        yield from self._unknown.problems(self._about.source)
        for reference in self._missing:
            reason = f"{shown(reference)} is not among the attachments"
            yield self._problem(self._about.place, reason)

    def _problem(self, place: str, reason: str) -> Problem:
        return self._about.source.problem(place, reason)

    def _told(self) -> Iterator[Found]:
        about = self._about
        here = Here(about.place, about.begun, item=about.item)
        start = {"title": about.title}
        yield from self._story.start(start, here, name=("session",), cause=about.cause)
        how: dict[str, Any] = {"name": TASK, "cause": self._story.previous}
        goal = {"goal": about.aim.goal}
        yield from self._story.tell(happened.TaskStarted, goal, here, **how)
        for at in self._row:
            try:
                yield from self._one(at)
            except Unreadable as error:
                yield self._problem(self._place(at), str(error))
        yield from self._events.due(None)
        yield from self._rest()
        yield from self._end()

    def _one(self, at: Happened) -> Iterator[Found]:
        event = at.event
        if not isinstance(event, dict):
            raise Unreadable(f"{shown(event)} is no event")
        kind = event.get("event")
        if not isinstance(kind, str) or kind not in KNOWN:
            self._unknown.add(shown(kind), self._place(at))
            return
        now = moment_of_text(event.get("timestamp"))
        self._now = max(self._now, now, key=_utc)
        yield from self._events.due(now)
        yield from self._events.tell(at, Here(self._place(at), now, item=str(at.number)))

    # The end

    def _rest(self) -> Iterator[Found]:
        """Tell messages and scores that no event told: some logs have no events."""
        if (ended := text_or_none(self._sample.get("completed_at"))) is not None:
            try:
                self._now = max(self._now, moment_of_text(ended), key=_utc)
            except Unreadable as error:
                yield self._problem(self._about.place, str(error))
        events, here = self._events, self._here()
        messages = self._attachments.resolved(self._sample.get("messages"))
        heard = messages_of(messages, role="user")
        yield from events.dialogue.hear(heard, here, cause=events.last)
        for scorer, score in self._scores().items():
            if not events.judging.is_told(score):
                how: dict[str, Any] = {"name": scorer, "otherwise": events.task}
                yield from events.judging.score(scorer, score, here, **how)
        if not events.has_models:
            for model, usage in mapping(self._sample.get("model_usage")).items():
                events.judging.spend(use_of_usage(model, usage))
        for number, use in enumerate(events.judging.left()):
            fields = {"text": "", "model_use": use, "stated_by": "tool"}
            name = ("cost", str(number))
            yield from events.observe(fields, here, name=name, cause=events.last)

    def _here(self) -> Here:
        return Here(self._about.place, self._now, item=self._about.item)

    def _scores(self) -> dict[str, Any]:
        older = self._sample.get("score")
        scores = self._sample.get("scores", {} if older is None else {"score": older})
        return mapping(self._attachments.resolved(scores))

    def _end(self) -> Iterator[Found]:
        """End the task as its scores or its error say, and the session."""
        success, labels = self._events.judging.verdict(self._scores())
        error = text_or_none(mapping(self._sample.get("error")).get("message"))
        here, last = self._here(), self._events.last
        how: dict[str, Any] = {"name": ("end", "task"), "cause": last}
        if error is not None:
            failed = {"outcome": error}
            yield from self._story.tell(happened.TaskAbandoned, failed, here, **how)
        elif success is not None:
            ended = {"outcome": f"{labels}{self._limit()}: {self._about.aim.goal}"}
            told = {**ended, "success": success}
            yield from self._story.tell(happened.TaskCompleted, told, here, **how)
        if self._sample.get("epoch") is not None:  # bare events don't say that there are no more
            fields = {"success": False if error is not None else success}
            how = {"name": ("end", "session"), "cause": self._events.last}
            yield from self._story.tell(happened.SessionEnded, fields, here, **how)

    def _limit(self) -> str:
        limit = text_or_none(mapping(self._sample.get("limit")).get("type"))
        return f", stopped at its limit ({limit})" if limit else ""


def _utc(moment: datetime) -> datetime:
    return instant(moment, field="time")[0]
