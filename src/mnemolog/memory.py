"""`Memory`: the whole of mnemolog in one object.

What it does is written where it is done: the verbs that append in `writing`, those that answer
in `asking`, the wait for read models in `waiting`, rebuild and verify in `maintaining`.
"""

import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, Unpack

from mnemolog.asking import Asker
from mnemolog.costly import Saving
from mnemolog.engine import Engine, present
from mnemolog.exporting import ExportReport, Target, Wanted, export
from mnemolog.finding import Finder
from mnemolog.histories import Histories
from mnemolog.http_door import Door
from mnemolog.ledgers import drawn_from_what_is
from mnemolog.letting_go import let_go
from mnemolog.maintaining import Rebuilt, checked, digests, rebuild, verify
from mnemolog.parking import Parking
from mnemolog.projections.memories.drawn import Named
from mnemolog.readers import Readers
from mnemolog.recording import Recorder
from mnemolog.replay.comparing import Comparison
from mnemolog.replay.rebuilding import Stage
from mnemolog.schemas.checkpoint import TaskState
from mnemolog.schemas.errors import InvalidSetting, ReadOnly
from mnemolog.schemas.events import Event, memory
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.ids import fresh_id
from mnemolog.schemas.positions import Token
from mnemolog.schemas.times import instant
from mnemolog.scope import Names, Ref, Scope, When, check_keywords, is_memory, ref_id
from mnemolog.settings import Settings
from mnemolog.streams.publishing import Appended
from mnemolog.waiting import ROWS, WAIT_SECONDS, wait_for
from mnemolog.writing import Writer

if TYPE_CHECKING:
    from os import PathLike
    from types import TracebackType

    from mnemolog.projections.recall.recall import Recalled

Tell = Callable[[Stage], None]


def _silent(_: Stage) -> None:
    """Tell nobody how far it is."""


class Memory(Door, Saving, Parking, Writer, Finder, Histories):
    """An agent's memory: append what happens, recall what matters, resume, ask, rebuild.

    *data* is a folder, or ":memory:" for one that ends with the process. *log* is
    "kafka://host:port", or None for the log in the folder. The tenant is fixed here; *agent*,
    *user*, *project*, *session* and *task* are what the verbs take where they are silent. Of all
    processes on one folder one keeps the projections; each may append and recall. What is too
    large for an event goes beside the log, or into a *blobs_folder* that machines share; it is
    refused where *blobs* is False. With *read_only* nothing is written. Of a service *data* is
    the address, "http://host:port", and *key* what it lets one in by; its own settings hold.

    Any thread may use it. Raises InvalidSetting, LogUnavailable, LogReplaced or HistoryLost.

    >>> with Memory(":memory:", embedder="hashing", agent="ops-1") as memory:
    ...     seen = memory.observe("the connection pool of auth is exhausted")
    ...     memory.recall("which pool?", after=seen.token)[0].text
    'the connection pool of auth is exhausted'
    """

    def __init__(
        self,
        data: "str | PathLike[str] | None" = None,
        *,
        log: str | None = None,
        tenant: str | None = None,
        embedder: str | None = None,
        partitions: int | None = None,
        record_recalls: bool | None = None,
        processors: bool | None = None,
        blobs: bool | None = None,
        blobs_folder: "str | PathLike[str] | None" = None,
        read_only: bool = False,
        projects: bool = True,
        rebuilding: Iterable[str] | None = None,
        key: str | None = None,
        **defaults: Unpack[Names],
    ) -> None:
        check_keywords(defaults, of=Names, where="Memory")
        if key is not None:
            raise InvalidSetting("key", "…", "only a service, at http://host:port, takes a key")
        settings = Settings.resolve(
            data=None if data is None else os.fspath(data),
            log=log,
            tenant=tenant,
            embedder=embedder,
            partitions=None if partitions is None else str(partitions),
            record_recalls=None if record_recalls is None else ("no", "yes")[record_recalls],
            processors=None if processors is None else ("no", "yes")[processors],
            blobs=None if blobs is None else ("no", "yes")[blobs],
            blobs_folder=None if blobs_folder is None else os.fspath(blobs_folder),
        )
        names = () if rebuilding is None else checked(rebuilding)
        self._engine = Engine(settings, read_only=read_only, projects=projects, rebuilding=names)
        self._readers = Readers(self._engine)
        self._recorder = Recorder(self._engine.publisher)
        self._let_go = weakref.finalize(self, let_go, self._recorder, self._readers, self._engine)
        Saving.__init__(self, self._engine)
        Writer.__init__(self, self._engine.publisher, defaults)
        Asker.__init__(self, self._engine, self._readers, defaults)

    def _append(self, event: type[Event], fields: Mapping[str, Any], scope: Scope) -> Appended:
        if self._engine.read_only:
            raise ReadOnly(event.event_type)
        return super()._append(event, fields, scope)

    def checkpoint(
        self,
        current_goal: str,
        *,
        plan_summary: str,
        current_sub_goal: str | None = None,
        key_observations: Sequence[str] = (),
        decision_rationale: str | None = None,
        intermediate_results: Mapping[str, Any] | None = None,
        self_reflection: str | None = None,
        parent: str | None = None,
        task_state: TaskState | Mapping[str, Any] | None = None,
        **scope: Unpack[Scope],
    ) -> Appended:
        """Save a state from which work can go on; its id is the event's."""
        given, when = scope.get("id"), scope.get("occurred_at")
        event_id = fresh_id() if given is None else given
        moment = present() if when is None else when
        state = {
            "id": event_id,
            "timestamp": instant(moment, field="occurred_at")[0],
            "agent": scope.get("agent") or self._defaults.get("agent"),
            "current_goal": current_goal,
            "plan_summary": plan_summary,
            "current_sub_goal": current_sub_goal,
            "key_observations": key_observations,
            "decision_rationale": decision_rationale,
            "intermediate_results": intermediate_results,
            "self_reflection": self_reflection,
            "parent": parent,
            "tags": scope.get("tags"),
            "task_state": task_state,
        }
        told = {name: value for name, value in state.items() if value is not None}
        around = Scope(**{**scope, "id": event_id, "occurred_at": moment})
        return self._append(CheckpointSaved, {"checkpoint": told}, around)

    def forget(
        self, *refs: Ref, text: str | None = None, reason: str | None = None, **scope: Unpack[Scope]
    ) -> Appended:
        """Forget memories, events or a text for good, in every read model.

        A memory goes with the event that formed it and the event's other memories, and so does
        what the read models know to be drawn from it. A text is forgotten wherever it stands
        whole, and when it is said again. The log keeps the events' bytes. A bare id is looked up
        in the read models, once they hold what the log does if need be: NotFound if unknown,
        InvalidSetting if several events have it, TimedOut if they are too far behind.
        """
        if self._engine.read_only:
            raise ReadOnly(memory.MemoryForgotten.event_type)
        named = Named(
            events=list(dict.fromkeys(map(self._identity, refs))),
            memories=[ref_id(ref) for ref in refs if is_memory(ref)],
            texts=[] if text is None else [text],
        )
        fields = {
            "memories": named.memories,
            "events": [*named.events, *drawn_from_what_is(self._engine, named)],
            "texts": named.texts,
            "reason": reason,
        }
        return self._append(memory.MemoryForgotten, fields, scope)

    # Waiting and keeping.

    def wait_for(
        self,
        token: Token,
        *,
        timeout_seconds: float = WAIT_SECONDS,
        projections: Iterable[str] = ROWS,
        vectors: bool = False,
        tell: Callable[[float], None] = lambda _: None,
    ) -> None:
        """Return once the read models hold what *token* covers; see `waiting.wait_for`."""
        wait_for(
            self._engine,
            token,
            timeout_seconds=timeout_seconds,
            projections=projections,
            vectors=vectors,
            tell=tell,
        )

    def rebuild(self, *names: str, tell: Tell = _silent) -> list[Rebuilt]:
        """Rebuild projections from the log beside what serves, compare, and swap."""
        if self._engine.read_only:
            raise ReadOnly("rebuild")
        return rebuild(self._engine, names, tell=tell)

    def verify(self, *names: str, tell: Tell = _silent) -> list[Comparison]:
        """Compare what serves with a fresh fold of the log."""
        if self._engine.read_only:
            raise ReadOnly("verify")
        return verify(self._engine, names, tell=tell)

    def export(
        self,
        target: Target,
        *,
        agent: str | None = None,
        recorded_from: When | None = None,
        recorded_until: When | None = None,
        force: bool = False,
        tell: Callable[[int, int], None] = lambda _done, _total: None,
    ) -> ExportReport:
        """Write the log to a file or a stream, as CloudEvents that any log imports.

        What has been appended by now goes out, of one agent or a time where these are named. A
        file is written whole or not at all, and over another only with *force*; ".gz" packs it.
        *tell* hears how many records of how many are through. See `exporting.export`.
        """
        wanted = Wanted(agent=agent, recorded_from=recorded_from, recorded_until=recorded_until)
        engine = self._engine
        return export(
            engine.log,
            engine.codec,
            target,
            wanted=wanted,
            blobs=engine.blobs,
            force=force,
            tell=tell,
        )

    def digests(self) -> Mapping[str, str]:
        """Return the content digest of each projection at the log's end."""
        if self._engine.read_only:
            raise ReadOnly("digests")
        return digests(self._engine)

    @property
    def engine(self) -> Engine:
        """What it runs on: for the command line and for tests."""
        return self._engine

    def close(self) -> None:
        """Record what waits, stop projecting and let go of everything. Harmless twice.

        A memory that nobody closes is closed when it is collected, at the latest when Python
        ends: a thread that is in a store's driver then would bring the process down.
        """
        self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: "TracebackType | None",
    ) -> None:
        if error is not None and not self._engine.read_only:
            self._engine.errors.note(error, where="using a memory")
        self.close()

    def _answered(self, question: str, answer: "Recalled") -> None:
        """Let the recall be recorded, if settings say so."""
        if self._engine.read_only or not self._engine.settings.records_recalls:
            return
        fields = {
            "question": question,
            "memories": [{"memory": m.id, "score": m.score} for m in answer.memories],
            "missing": list(answer.missing),
            "tokens": answer.tokens,
        }
        self._recorder.record(self.draft(memory.MemoryRecalled, fields, Scope()))
