"""An evaluation: what its log says of all its samples, and the names by which these go."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from mnemolog.importers.base import Found, Here, Options, Scope, Source, Telling, Unreadable
from mnemolog.importers.inspect_log_sample import About, SampleStory
from mnemolog.importers.inspect_log_saving import Aim
from mnemolog.importers.inspect_log_values import Attachments
from mnemolog.importers.moments import moment_of_text
from mnemolog.importers.otel_messages import messages_of
from mnemolog.importers.otel_said import first
from mnemolog.importers.shapes import id_or_none, listed, mapping, name_or_none, text_or_none
from mnemolog.importers.story import Story, Told
from mnemolog.importers.words import goal_of
from mnemolog.schemas.errors import shown
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.values import json_text

FORMAT: Final = "inspect"
AGENT_DEFAULT: Final = "agent"
_ENDED: Final = ("success", "error", "cancelled")


class Evaluation:
    """Tells an evaluation: `begin`, each `sample`, `end`."""

    def __init__(self, header: Mapping[str, Any], source: Source, options: Options) -> None:
        self._header = header
        self._eval = mapping(header.get("eval"))
        self._stats = mapping(header.get("stats"))
        self._source = source
        self._options = options
        self._run = name_or_none(self._eval.get("run_id"))
        self._task = text_or_none(self._eval.get("task"))
        self._plan = _plan(header)
        self._story: Story | None = None
        self._begun: datetime | None = None

    def begin(self) -> Iterator[Found]:
        """Tell that the evaluation began."""
        written = first(self._eval, ("created",), otherwise=self._stats.get("started_at"))
        try:
            self._begun = moment_of_text(written)
        except Unreadable as error:
            yield self._source.problem("eval", str(error))
        if self._run is None or self._begun is None:
            if self._run is None:
                yield self._source.problem("eval", "an evaluation without a run_id that is a name")
            return
        self._story = Story(self._telling(self._run), Told())
        title = " on ".join(filter(None, (self._task, text_or_none(self._eval.get("model")))))
        here = Here("eval", self._begun, item=self._run)
        how: dict[str, Any] = {"name": ("evaluation",), "cause": None}
        yield from self._story.start({"title": title or None}, here, **how)

    def _telling(self, session: str, task: str | None = None) -> Telling:
        scope = Scope(
            agent=self._options.agent or name_or_none(self._task) or AGENT_DEFAULT,
            user=self._options.user,
            project=self._options.project,
            session=session,
            task=task,
        )
        return Telling(FORMAT, scope, seed=(session,))

    def sample(self, sample: Any, place: str) -> Iterator[Found]:
        """Tell a sample; what can't be read of it is a Problem."""
        if not isinstance(sample, dict):
            yield self._source.problem(place, f"{shown(sample)} is no sample")
            return
        try:
            about = self._about(sample, place)
        except Unreadable as error:
            yield self._source.problem(place, str(error))
            return
        telling = self._telling(about.session, about.aim.task)
        yield from SampleStory(sample, telling, about).tell()

    def _session(self, sample: Mapping[str, Any]) -> str:
        """Return a sample's own name: its uuid, or else its run, id and epoch.

        Events alone are called after what they are.
        """
        uuid = name_or_none(sample.get("uuid"))
        if uuid is not None:
            return uuid
        if self._run is None or sample.get("id") is None:
            digest = hashlib.sha256(json_text(sample).encode()).hexdigest()
            return f"sample-{digest[:16]}"
        named = name_or_none(f"{self._run}-{sample['id']}-{sample.get('epoch')}")
        if named is not None:
            return named
        whole = json.dumps([self._run, sample["id"], sample.get("epoch")])
        return f"{self._run}-{hashlib.sha256(whole.encode()).hexdigest()[:16]}"

    def _about(self, sample: Mapping[str, Any], place: str) -> About:
        named, session = sample.get("id"), self._session(sample)
        item = None if named is None else f"{named}"
        task = session  # of a sample without an id: nothing else tells it from others
        if named is not None:
            task = self._task_of(named, sample.get("epoch"))
        goal = goal_of(_input(sample), otherwise=self._task or "A sample of an evaluation")
        return About(
            session=session,
            aim=Aim(task, goal, self._plan or self._task or "Not told"),
            title=None if item is None else f"{self._task}: sample {item}"[:200],
            begun=self._begun_at(sample),
            place=place,
            item=id_or_none(item),
            cause=self._story.previous if self._story else None,
            source=self._source,
        )

    def _task_of(self, named: Any, epoch: Any) -> str:
        """Return the name of a sample's task: each later epoch does the work anew, by itself."""
        again = f"-epoch-{epoch}" if isinstance(epoch, int) and epoch > 1 else ""
        whole = name_or_none(f"{self._task or 'sample'}-{named}{again}")
        return whole or f"sample-{_digest([named, epoch] if again else named)}"

    def _begun_at(self, sample: Mapping[str, Any]) -> datetime:
        """Return when a sample began: as it says, with its first event, or with the evaluation."""
        times = (event.get("timestamp") for event in _events(sample))
        for written in (sample.get("started_at"), *times):
            with suppress(Unreadable):  # a bad time is named with its event
                return moment_of_text(written)
        if self._begun is None:
            raise Unreadable("a sample without a time")
        return self._begun

    def end(self) -> Iterator[Found]:
        """Tell what came of the evaluation, if it has ended."""
        status = self._header.get("status")
        if self._story is None or self._begun is None or status not in _ENDED:
            return
        ended = self._begun
        if (written := self._stats.get("completed_at")) not in (None, ""):
            try:
                ended = moment_of_text(written)
            except Unreadable as unreadable:
                yield self._source.problem("stats", str(unreadable))
        here, began = Here("results", ended, item=self._run), self._story.previous
        results = mapping(self._header.get("results"))
        error = text_or_none(mapping(self._header.get("error")).get("message"))
        fields = {
            "text": error or f"{self._task}: {status}{_metrics(results)}",
            "data": {"status": status, "stats": self._stats, "results": results},
            "success": status == "success",
            "stated_by": "tool",
        }
        how: dict[str, Any] = {"name": ("results",), "cause": began}
        yield from self._story.tell(happened.ObservationRecorded, fields, here, **how)
        success = {"success": status == "success"}
        yield from self._story.close(success, here, name=("evaluation", "end"))


def _plan(header: Mapping[str, Any]) -> str:
    """Return the solvers of an evaluation in their order."""
    steps = listed(mapping(header.get("plan")).get("steps"))
    return " > ".join(filter(None, (text_or_none(mapping(s).get("solver")) for s in steps)))


def _metrics(results: Mapping[str, Any]) -> str:
    """Return the metrics of all scorers in words."""
    told = []
    for score in map(mapping, listed(results.get("scores"))):
        for name, metric in mapping(score.get("metrics")).items():
            value = mapping(metric).get("value")
            if isinstance(value, int | float):
                told.append(f"{score.get('name')} {name} {value:g}")
    return "".join(f", {metric}" for metric in told)


def _events(sample: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    transcript = mapping(sample.get("transcript"))  # where older logs have them
    return map(mapping, listed(sample.get("events", transcript.get("events"))))


def _input(sample: Mapping[str, Any]) -> str:
    """Return what a sample asks: its input, or the first thing that a user says in it.

    Events alone have it where the sample begins.
    """
    attachments = Attachments(sample.get("attachments"), on_missing=lambda _: None)
    asked = sample.get("input")
    if asked is None:
        begun = (event for event in _events(sample) if event.get("event") == "sample_init")
        asked = mapping(next(begun, {}).get("sample")).get("input")
    given = attachments.resolved(asked)
    said = messages_of(given, role="user")
    return next((message.text for message in said if message.role == "user"), "")


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]
