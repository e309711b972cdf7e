"""The verbs that answer: recall, get, history, why, resume, timeline, sql. They write nothing."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypedDict, Unpack

from mnemolog import asked as check
from mnemolog import blobs
from mnemolog.engine import Engine, present
from mnemolog.known import Known
from mnemolog.projections.kinds import ANALYTICS
from mnemolog.projections.memories.rows import Filter
from mnemolog.projections.recall.question import RECALL_SECONDS, Question
from mnemolog.readers import Readers
from mnemolog.replay.lineage import Lineage, Node, in_order
from mnemolog.schemas.envelope import RecordedEvent, key_of
from mnemolog.schemas.errors import NotFound, Parked
from mnemolog.schemas.positions import Position, Token
from mnemolog.schemas.times import instant
from mnemolog.scope import Names, Ref, When, is_memory, ref_id, ref_identity
from mnemolog.waiting import WAIT_SECONDS, wait_for

if TYPE_CHECKING:
    from mnemolog.projections.analytics.query import Table
    from mnemolog.projections.checkpoints.resume import Resumed
    from mnemolog.projections.checkpoints.stored import (
        CheckpointWithVector,
        SavedCheckpoint,
        TimelineEntry,
    )
    from mnemolog.projections.recall.recall import Recalled

TIMELINE_ROWS: Final = 50


class Asked(TypedDict, total=False):
    """Which memories a recall may see; what is left out does not restrict."""

    agent: str | None
    user: str | None
    project: str | None
    session: str | None
    task: str | None
    kinds: Sequence[str]
    tags: Sequence[str]
    importance_min: float
    occurred_from: When | None
    occurred_until: When | None


class Asker:
    """The reading half of `Memory`. Any thread may use it."""

    def __init__(self, engine: Engine, readers: Readers, defaults: Names) -> None:
        self._engine = engine
        self._readers = readers
        self._defaults = defaults

    def recall(
        self,
        question: str,
        *,
        hits_max: int = 10,
        tokens_max: int | None = None,
        focus: str = "balanced",
        after: Token | None = None,
        timeout_seconds: float = RECALL_SECONDS,
        at: When | None = None,
        as_of: When | None = None,
        include_outdated: bool = False,
        explain: bool = False,
        **where: Unpack[Asked],
    ) -> "Recalled":
        """Return the memories that bear on *question*, best first, with their sources.

        With *after* the answer knows what that token covers. What is not ready within
        *timeout_seconds* is left out and named in `missing`. This handle's user and project
        restrict it unless *where* says otherwise. Raises InvalidSetting, or TimedOut or Parked
        where *after* can't be reached.
        """
        self._wait(after)
        asked = Question(
            text=question,
            at=_moment(at, "at") or present(),
            where=_filter({**self._mine(), **where}, include_outdated=include_outdated),
            hits_max=hits_max,
            tokens_max=tokens_max,
            focus=focus,
            timeout_seconds=timeout_seconds,
            as_of=_moment(as_of, "as_of"),
            explain=explain,
        )
        answer = self._answer_to(asked)
        self._answered(question, answer)
        return answer

    def _answer_to(self, asked: Question) -> "Recalled":
        from mnemolog.projections.memories.embedders import (  # noqa: PLC0415 - models are heavy
            embedder_of_model,
        )
        from mnemolog.projections.recall.recall import recall  # noqa: PLC0415 - brings numpy

        reader = self._readers.memories()
        return recall(
            asked,
            reader=reader,
            weights=self._readers.weigher(),
            # A question is embedded by the model of the generation that it asks.
            embedder=None if reader is None else embedder_of_model(reader.model_id),
            topic=self._engine.log.topic,
        )

    # These take *after* as recall does: the answer knows what that token covers.

    def get(
        self, ref: Ref, *, after: Token | None = None, whole: bool = True
    ) -> Known | RecordedEvent:
        """Return a memory with its weight, or an event whole. Raises NotFound.

        Of a text that stands beside the log a memory has the head; the event that formed it,
        `get(memory.row.event_id)`, has it whole. See `event` for the rest.
        """
        self._wait(after)
        return self.memory(ref) if is_memory(ref) else self.event(ref, whole=whole)

    def memory(self, ref: Ref) -> Known:
        """Return a memory. Raises NotFound."""
        name = ref_id(ref)
        reader = self._readers.memories()
        row = None if reader is None else reader.rows([name]).get(name)
        if row is None:
            raise NotFound("memory", name)
        weights = self._readers.weights()
        if weights is None:
            return Known(row, None)
        found = weights.weights([name], at=present(), decay=weights.decay_policy())
        return Known(row, found.get(name))

    def event(self, ref: Ref, *, whole: bool = True) -> RecordedEvent:
        """Return an event of ours, whole, from the log. NotFound if it is forgotten, too.

        A text that is too large for an event comes from beside the log: raises BlobMissing or
        BlobDamaged, naming it, where it can't be had. Without *whole* its head is returned.
        """
        event = self.lineage().event(ref_id(ref), identity=ref_identity(ref))
        if event is None:
            raise NotFound("event", ref_id(ref))
        return blobs.whole(event, self._engine.blobs) if whole else event

    def history(self, ref: Ref, *, after: Token | None = None) -> list[RecordedEvent]:
        """Return the events that formed and changed a memory, oldest first. Raises NotFound.

        Of texts that stand beside the log they have the heads; `event` gives one of them whole.
        """
        self._wait(after)
        row = self.memory(ref).row
        key = key_of(row.agent)
        weights = self._readers.weights()
        names = [row.event_id, *row.from_events]
        names += [] if weights is None else weights.contributing_events(row.id)
        lineage = self.lineage()
        events = [lineage.event(name, key=key) for name in dict.fromkeys(names)]
        found = [event for event in events if event is not None]
        return in_order(found)

    def why(self, ref: Ref, *, after: Token | None = None) -> Node:
        """Return what a memory, a decision or another event came from, as a tree."""
        self._wait(after)
        return self.lineage().why(ref_id(ref), identity=ref_identity(ref))

    def resume(self, task: str, *, at: When | None = None, after: Token | None = None) -> "Resumed":
        """Return where *task* stands: its newest sound checkpoint and what came after it."""
        from mnemolog.projections.checkpoints.resume import resume  # noqa: PLC0415

        check.text(task=task)
        self._wait(after)
        reader = self._readers.checkpoints()
        if reader is None:
            raise NotFound("task", task)
        return resume(reader, task, at=_moment(at, "at") or present())

    def timeline(
        self,
        *,
        agent: str | None = None,
        task: str | None = None,
        session: str | None = None,
        project: str | None = None,
        rows_max: int = TIMELINE_ROWS,
        after: Token | None = None,
    ) -> "Sequence[TimelineEntry]":
        """Return the last events of an agent, a task, a session or a project, oldest first."""
        asked = check.names(agent=agent, task=task, session=session, project=project)
        count = check.rows(rows_max)
        self._wait(after)
        reader = self._readers.checkpoints()
        return [] if reader is None else reader.timeline(**asked, rows_max=count)

    def checkpoints(
        self,
        *,
        task: str | None = None,
        agent: str | None = None,
        rows_max: int = TIMELINE_ROWS,
        after: Token | None = None,
    ) -> "Sequence[SavedCheckpoint]":
        """Return saved checkpoints of a task and an agent, the newest first."""
        asked, count = check.names(task=task, agent=agent), check.rows(rows_max)
        self._wait(after)
        reader = self._readers.checkpoints()
        return [] if reader is None else reader.list(**asked, rows_max=count)

    def saved(self, ref: Ref, *, after: Token | None = None) -> "CheckpointWithVector":
        """Return a checkpoint whole, with its vector if the cache has it.

        Raises NotFound, or Damaged where its file is; BlobMissing or BlobDamaged, naming it,
        where a text of it stands beside the log and can't be had.
        """
        from mnemolog.projections.checkpoints.stored import with_vector  # noqa: PLC0415

        self._wait(after)
        reader = self._readers.checkpoints()
        if reader is None:
            raise NotFound("checkpoint", ref_id(ref))
        return with_vector(reader.get(ref_id(ref)), vector_of=self._readers.vector_of)

    def sql(self, statement: str, *, parameters: Sequence[Any] = (), fresh: bool = True) -> "Table":
        """Return what one read-only statement says of the published tables.

        With *fresh* they hold all that the log held when this was called, but for what is parked.
        Raises InvalidSetting with DuckDB's words where the statement can't be run.
        """
        from mnemolog.projections.analytics.publishing import published_file  # noqa: PLC0415
        from mnemolog.projections.analytics.query import query  # noqa: PLC0415 - DuckDB is heavy

        if fresh:
            token = self.end()
            names = [ANALYTICS]
            with suppress(Parked):  # all else is there, and nobody asked for that one event
                wait_for(self._engine, token, timeout_seconds=WAIT_SECONDS, projections=names)
        return query(published_file(self._engine.folder), statement, parameters=parameters)

    def end(self) -> Token:
        """Return the token of all that the log holds now."""
        ends = self._engine.log.ends()
        return Token.of(Position(partition, end - 1) for partition, end in ends.items() if end)

    def lineage(self) -> Lineage:
        """Return what answers `why`."""
        return Lineage(
            log=self._engine.log,
            codec=self._engine.codec,
            find=self._entries,
            memories=self._readers.memories(),
        )

    def _wait(self, after: Token | None) -> None:
        if after is not None:
            wait_for(self._engine, after, timeout_seconds=WAIT_SECONDS)

    def _answered(self, question: str, answer: "Recalled") -> None:
        """Hear of an answer; what only asks does nothing with it."""

    def _mine(self) -> dict[str, Any]:
        return {name: self._defaults.get(name) for name in ("user", "project")}

    def _entries(self, event_id: str) -> "Sequence[TimelineEntry]":
        reader = self._readers.checkpoints()
        return [] if reader is None else reader.of_event(event_id)


def _moment(value: When | None, field: str) -> datetime | None:
    return None if value is None else instant(value, field=field)[0]


def _filter(where: Mapping[str, Any], *, include_outdated: bool) -> Filter:
    unknown = sorted(where.keys() - Asked.__annotations__.keys())
    if unknown:
        raise TypeError(f"{unknown[0]!r} is no keyword of recall")
    given: dict[str, Any] = dict(where)
    for name in ("occurred_from", "occurred_until"):
        given[name] = _moment(given.get(name), name)
    return Filter(current=not include_outdated, **given)
