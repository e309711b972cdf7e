"""`Memory` by way of a service: the same verbs, arguments, results and errors.

Verbs that append build their event as they always do, and what they hand to the log goes over the
wire. Those that ask are sent with their arguments, by name. Each is written once, in `Memory`:
here stands only where it goes and what comes back.
"""

import inspect
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, Concatenate, Final, NoReturn, ParamSpec, TypedDict, TypeVar, Unpack, cast

from mnemolog import asked as check
from mnemolog.asking import Asked
from mnemolog.engine import Engine, present
from mnemolog.http_client import Ask, Client
from mnemolog.http_errors import NotServed
from mnemolog.http_json import scope_telling, telling
from mnemolog.http_wire import (
    AppendedEvent,
    AppendedEvents,
    EventTold,
    ResumedTold,
    SavedTold,
    TokenTold,
    Told,
    appended_of,
    event_of,
    loaded,
    resumed_of,
    saved_of,
    told_of,
)
from mnemolog.memory import Memory
from mnemolog.projections.checkpoints.stored import (
    SavedCheckpoint,
    TimelineEntry,
)
from mnemolog.projections.recall.answer import Recalled
from mnemolog.replay.lineage import Lineage, Node
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting, ReadOnly, TimedOut
from mnemolog.schemas.events import Event, memory
from mnemolog.schemas.events.experience import CheckpointSaved
from mnemolog.schemas.ids import fresh_id
from mnemolog.schemas.positions import Token
from mnemolog.scope import Names, Ref, Scope, check_keywords, ref_id, ref_identity
from mnemolog.streams.publishing import Appended
from mnemolog.waiting import ROWS, WAIT_SECONDS
from mnemolog.writing import IN_EVENT

P = ParamSpec("P")
R = TypeVar("R")


class _Theirs(TypedDict, total=False):
    """What is said where a service is started, and not where it is asked."""

    log: str
    tenant: str
    embedder: str
    partitions: int
    record_recalls: bool
    blobs: bool
    blobs_folder: str


WAIT_STEP_SECONDS: Final = 20.0  # of one question to wait; the service's own bound is above it
_NAMES: Final = ("agent", "task", "session", "project")
_THEIRS: Final = "the service has it; say it where `mnemolog serve` is started"


def _asks(
    verb: Callable[Concatenate[Memory, P], R],
    path: str,
    read: Callable[[bytes], Any],
    *,
    method: str = "GET",
    **always: str,
) -> Callable[Concatenate["HttpMemory", P], R]:
    """Return *verb* as a question to the service; *read* makes its result of the answer."""
    signature = inspect.signature(verb)

    @wraps(verb)
    def asking(self: "HttpMemory", *args: P.args, **kwargs: P.kwargs) -> R:
        given = dict(signature.bind(self, *args, **kwargs).arguments)
        del given["self"]
        after = given.pop("after", None)
        told = {**self._wire(given), **always}
        return cast("R", read(self._ask(method, path, told, after=after)))

    return cast("Callable[Concatenate[HttpMemory, P], R]", asking)


def _not_served(
    verb: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate["HttpMemory", P], R]:
    """Return *verb* as one that only a folder's own `Memory` has."""

    @wraps(verb)
    def refusing(self: "HttpMemory", *args: P.args, **kwargs: P.kwargs) -> NoReturn:
        del self, args, kwargs  # whatever was asked
        raise NotServed(verb.__name__)

    return cast("Callable[Concatenate[HttpMemory, P], R]", refusing)


def _reads(kind: Any, make: Callable[[Any], Any] = lambda value: value) -> Callable[[bytes], Any]:
    return lambda content: make(loaded(kind, content))


_events: Final = _reads(Sequence[EventTold], lambda told: [event_of(one) for one in told])


class HttpMemory(Memory):
    """A tenant's memory behind a service: `Memory("http://host:port", key=...)` makes it.

    The service's settings and the key's tenant hold. sql, rebuild, verify, digests, export,
    import_histories and the verbs of what is parked or foreign raise NotServed. Any thread may
    use it.
    """

    def __init__(
        self,
        data: str,
        *,
        key: str | None = None,
        read_only: bool = False,
        projects: bool = True,
        rebuilding: Iterable[str] | None = None,
        **given: Any,
    ) -> None:
        del projects  # the service does, or whoever keeps its folder
        defaults = {name: given.pop(name) for name in Names.__annotations__ if name in given}
        check_keywords(given, of=_Theirs, where="Memory")
        for name, value in {**given, "rebuilding": rebuilding}.items():
            if value is not None:
                raise InvalidSetting(name, value, _THEIRS)
        self._client = Client(data, key=key)
        self._read_only = read_only
        self._defaults = cast("Names", defaults)

    def _append(self, event: type[Event], fields: Mapping[str, Any], scope: Scope) -> Appended:
        """Send one event. It gets its id and time here, so that a retry is the same event."""
        self._check_writes(event.event_type)
        draft = self.draft(event, fields, scope)  # with what the event says itself of *scope*
        around: Any = {name: value for name, value in scope.items() if name not in IN_EVENT}
        body = {
            "type": event.event_type,
            "fields": telling(dict(draft.fields), field=event.event_type),
            "scope": self._scope(around),
        }
        return self._appended("/events", body)

    def _save_before(self, scope: Scope) -> Appended | None:
        """Let the service save the state before a costly action: it knows what was told."""
        self._check_writes(CheckpointSaved.event_type)
        check_keywords(scope, of=Scope, where="this verb")
        saved = self._sent("/save", {"scope": self._scope(scope)})
        return appended_of(saved[0]) if saved else None

    def forget(
        self, *refs: Ref, text: str | None = None, reason: str | None = None, **scope: Unpack[Scope]
    ) -> Appended:
        """Forget memories, events or a text for good, in every read model; see `Memory.forget`."""
        self._check_writes(memory.MemoryForgotten.event_type)
        check_keywords(scope, of=Scope, where="this verb")
        body = {
            "refs": [_named(ref) for ref in refs],
            "text": text,
            "reason": reason,
            "scope": self._scope(scope),
        }
        return self._appended("/forget", body)

    recall = _asks(Memory.recall, "/recall", _reads(Recalled), method="POST")
    get = _asks(Memory.get, "/get", _reads(Told, told_of))
    memory = _asks(Memory.memory, "/get", _reads(Told, told_of), kind="memory")
    event = _asks(Memory.event, "/get", _reads(Told, told_of), kind="event")
    history = _asks(Memory.history, "/history", _events)
    why = _asks(Memory.why, "/why", _reads(Node))
    resume = _asks(Memory.resume, "/resume", _reads(ResumedTold, resumed_of))
    timeline = _asks(Memory.timeline, "/timeline", _reads(tuple[TimelineEntry, ...]))
    checkpoints = _asks(Memory.checkpoints, "/checkpoints", _reads(list[SavedCheckpoint]))
    saved = _asks(Memory.saved, "/saved", _reads(SavedTold, saved_of))
    end = _asks(Memory.end, "/end", _reads(TokenTold, lambda told: Token.parse(told.token)))
    sql = _not_served(Memory.sql)
    rebuild = _not_served(Memory.rebuild)
    verify = _not_served(Memory.verify)
    parked = _not_served(Memory.parked)
    parked_event = _not_served(Memory.parked_event)
    retry = _not_served(Memory.retry)
    skip = _not_served(Memory.skip)
    foreign = _not_served(Memory.foreign)
    foreign_record = _not_served(Memory.foreign_record)
    digests = _not_served(Memory.digests)
    export = _not_served(Memory.export)
    import_histories = _not_served(Memory.import_histories)

    def wait_for(
        self,
        token: Token,
        *,
        timeout_seconds: float = WAIT_SECONDS,
        projections: Iterable[str] = ROWS,
        vectors: bool = False,
        tell: Callable[[float], None] = lambda _: None,
    ) -> None:
        """Return once the read models hold what *token* covers; see `waiting.wait_for`.

        A long wait is several questions: a service holds none for longer than its own bound.
        """
        seconds, began = check.seconds(timeout_seconds), time.monotonic()
        named = {"projections": ",".join(projections), "vectors": vectors}
        while True:
            passed = time.monotonic() - began
            step = min(WAIT_STEP_SECONDS, max(0.0, seconds - passed))
            try:
                self._ask("GET", "/wait", {**named, "timeout_seconds": step}, after=token)
            except TimedOut as error:
                passed = time.monotonic() - began
                tell(passed)
                if passed >= seconds:
                    raise TimedOut(error.what, waited_seconds=timeout_seconds) from error
            else:
                return

    def lineage(self) -> Lineage:
        """Raise NotServed: ask `why`."""
        raise NotServed("lineage")

    @property
    def engine(self) -> Engine:
        """What a folder's memory runs on: raises NotServed, as it is the service's."""
        raise NotServed("engine")

    def close(self) -> None:
        """Let the connections go. Harmless twice."""
        self._client.close()

    def _check_writes(self, verb: str) -> None:
        if self._read_only:
            raise ReadOnly(verb)

    def _scope(self, scope: Scope) -> dict[str, Any]:
        """Return *scope* for the wire, with this handle's defaults, an id and a time."""
        named: dict[str, Any] = {**self._defaults, **scope}
        if named.get("id") is None:
            named["id"] = fresh_id()
        if named.get("occurred_at") is None:
            named["occurred_at"] = present()
        return scope_telling(named)

    def _appended(self, path: str, body: Mapping[str, Any]) -> Appended:
        (one,) = self._sent(path, body)
        return appended_of(one)

    def _sent(self, path: str, body: Mapping[str, Any]) -> Sequence[AppendedEvent]:
        ask = Ask("POST", path, body=body, appends=True)
        told: AppendedEvents = loaded(AppendedEvents, self._client.send(ask))
        return told.events

    def _ask(
        self, method: str, path: str, told: Mapping[str, Any], *, after: Token | None = None
    ) -> bytes:
        token = None if after is None else check.token(after)
        if method == "GET":
            return self._client.send(Ask(method, path, params=told, after=token))
        return self._client.send(Ask(method, path, body=told, after=token))

    def _wire(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments of a verb by the names that they have on the wire."""
        if "question" in given:
            where = given.pop("where", {})
            check_keywords(where, of=Asked, where="recall")
            given = {**given, **self._mine(), **where}
        else:
            check.names(**{name: given.get(name) for name in _NAMES})
        if "ref" in given:
            given = {**_named(given.pop("ref")), **given}
        if "rows_max" in given:
            check.rows(given["rows_max"])
        return {name: _told(name, value) for name, value in given.items() if value is not None}


def _named(ref: Ref) -> dict[str, str | None]:
    return {"id": ref_id(ref), "identity": ref_identity(ref)}


def _told(name: str, value: Any) -> Any:
    try:
        return telling(value, field=name)
    except InvalidEvent as error:
        raise InvalidSetting(name, value, error.limit) from error
