"""The port of an importer: what a format's reader is given and what it gives back.

An importer is pure over its bytes: the same content gives the same ids, whatever the file is
called and however often it comes. What it can't read it names and passes over; it never raises
for what a file may hold, and keeps no more than one item of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import BufferedReader
from typing import Any, Final, Protocol

from mnemolog.importers.shapes import id_or_none
from mnemolog.schemas.errors import InvalidEvent, InvalidSetting
from mnemolog.schemas.events import Event
from mnemolog.schemas.foreign import ForeignMark
from mnemolog.schemas.ids import check_name, derived_id
from mnemolog.schemas.records import Headers
from mnemolog.schemas.times import instant
from mnemolog.streams.publishing import Draft

HEAD_BYTES: Final = 65_536  # of a file, by which a format is recognised
START_DEFAULT: Final = "2024-01-01T00:00:00"  # naive on purpose: what begins here is flagged
SOURCE_PREFIX: Final = "/mnemolog/import/"
ITEM: Final = "sourceitem"  # extension: what the source calls the item, such as "D1:3"
CALL: Final = "sourcecall"  # extension: the id that the source gives a tool call


class Unreadable(Exception):
    """A value is not what its format says; the text says why. It ends as a Problem."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was not imported: where it stands and why. What is beside it is imported."""

    file: str
    place: str  # "line 3", "item 5, message 2", "byte 1024"
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {self.place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Here:
    """Where in a file something stands, when it happened, and what the source calls it."""

    place: str
    at: datetime
    item: str | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """A draft and the place that it was read from, for the Problem that it may turn out to be."""

    place: str
    draft: Draft


@dataclass(frozen=True, slots=True)
class Ready:
    """An event that is one already: its CloudEvents document is appended as it is.

    One that is on its way to every partition gets its copies. `was_recorded` says that it stood on
    a log: then it is brought even if this code can't apply it.
    """

    place: str
    document: Mapping[str, Any]
    was_recorded: bool = False


@dataclass(frozen=True, slots=True)
class Raw:
    """A record that was foreign on another log, and is to be so on this one."""

    place: str
    key: bytes | None
    value: bytes | None
    headers: Headers
    mark: ForeignMark


@dataclass(frozen=True, slots=True)
class Blob:
    """What is to stand beside the log before the events that name it come."""

    place: str
    content: bytes


Found = Placed | Ready | Raw | Blob | Problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the person who imports decides; None leaves it to the format's own rule.

    `start` is when a history without times begins. Names are part of an event's identity (the
    agent is its key): the same file under another agent is another history.
    """

    agent: str | None = None
    user: str | None = None
    project: str | None = None
    start: datetime | str = START_DEFAULT

    def __post_init__(self) -> None:
        """Raise InvalidSetting for a name or a start that no event could have."""
        try:
            for name in ("agent", "user", "project"):
                if (value := getattr(self, name)) is not None:
                    check_name(value, field=name)
            instant(self.start, field="start")
        except InvalidEvent as error:
            raise InvalidSetting(error.field, error.value, error.limit) from error


@dataclass(frozen=True, slots=True)
class Source:
    """A file's bytes, unpacked, from behind its byte order mark on.

    `stream` is read once, from its start; `head` is what it begins with. `start` is the offset of
    its first byte in the unpacked file.
    """

    name: str
    head: bytes
    stream: BufferedReader
    start: int = 0

    def problem(self, place: str, reason: str) -> Problem:
        """Return a Problem of this file."""
        return Problem(self.name, place, reason)


class Importer(Protocol):
    """Reads one format."""

    @property
    def name(self) -> str:
        """What `--format` calls it, for ever: it is part of every id and source."""
        ...

    def recognises(self, path: str, head: bytes) -> bool:
        """Say whether a file that is called *path* and begins with *head* is of this format."""
        ...

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        """Yield what *source* says, in order, and what of it can't be read.

        Drafts are what a format of others gives: `Placed`. The others are of a log.

        Raises nothing but what reading the stream raises.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose events a conversation's are; all of them share it but for the user."""

    agent: str
    user: str | None = None
    project: str | None = None
    session: str | None = None
    task: str | None = None


class Telling:
    """Makes the drafts of one session: shared names, derived ids, one correlation."""

    def __init__(self, format_name: str, scope: Scope, *, seed: tuple[str, ...]) -> None:
        """*seed* is the source's own name for the session: every id is derived from it."""
        self._format = format_name
        self._seed = seed
        self.scope = scope
        self.correlation: str | None = None  # the id of the session's first event

    def id_of(self, *parts: str) -> str:
        """Return the id of the event that *parts* name within the session."""
        return derived_id("import", self._format, *self._seed, *parts)

    def draft(
        self,
        model: type[Event],
        fields: Mapping[str, Any],
        *,
        event_id: str,
        occurred_at: datetime,
        cause: str | None = None,
        user: str | None = None,
        extensions: Mapping[str, str] | None = None,
    ) -> Draft:
        """Return a draft in the session's scope; fields that are None are left out."""
        if self.correlation is None:
            self.correlation = event_id
        return Draft(
            model=model,
            fields={name: value for name, value in fields.items() if value is not None},
            id=event_id,
            source=SOURCE_PREFIX + self._format,
            occurred_at=occurred_at,
            agent=self.scope.agent,
            user=user or self.scope.user,
            project=self.scope.project,
            session=self.scope.session,
            task=self.scope.task,
            cause=cause,
            correlation=self.correlation,
            extensions=dict(extensions or {}),
        )

    def placed(
        self,
        model: type[Event],
        fields: Mapping[str, Any],
        here: Here,
        *,
        event_id: str,
        cause: str | None,
        call: str | None = None,
    ) -> Placed:
        """Return a draft of what stands *here*; *call* is what the source calls a tool call.

        What the source calls either is left out where an extension may not be called so.
        """
        draft = self.draft(
            model,
            fields,
            event_id=event_id,
            occurred_at=here.at,
            cause=cause,
            extensions={**_extension(ITEM, here.item), **_extension(CALL, call)},
        )
        return Placed(here.place, draft)


class Seconds:
    """Counts a second for each message of a file that has no times, from *start* on."""

    def __init__(self, start: datetime | str) -> None:
        self._next = datetime.fromisoformat(start) if isinstance(start, str) else start

    def tick(self) -> datetime:
        """Return the next second; naive if the start is, so that it is flagged as assumed."""
        moment, self._next = self._next, self._next + timedelta(seconds=1)
        return moment


def _extension(name: str, value: str | None) -> dict[str, str]:
    """Return an extension, or none where *value* may not be one."""
    known = id_or_none(value)
    return {} if known is None else {name: known}
