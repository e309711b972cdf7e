"""Control: what an operator asks of whoever keeps a tenant's projections, and what became of it.

Requests and acknowledgements stand in a log of their own, in the order in which they came: a file
of the tenant's folder, or the topic `mnemolog.<tenant>.control`. Both keep them for ever. A request
that nobody accepted within `REQUEST_SECONDS_MAX` is refused when somebody comes.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal, Protocol, cast, get_args

from mnemolog.schemas.errors import InvalidEvent, InvalidSetting, LogUnavailable
from mnemolog.schemas.ids import encoded_name, fresh_id
from mnemolog.schemas.records import LogRecord, NewRecord
from mnemolog.schemas.values import json_bytes, parse_json
from mnemolog.streams.log import TOPIC_PREFIX, Log, Reader

Verb = Literal["pause", "resume", "rebuild", "cancel", "swap", "verify", "retry"]
Outcome = Literal["accepted", "done", "refused", "failed"]

VERBS: Final[tuple[str, ...]] = get_args(Verb)
OUTCOMES: Final[tuple[str, ...]] = get_args(Outcome)
TOPIC_SUFFIX: Final = ".control"
FILE: Final = "control.db"  # in the tenant's folder
PAUSED_FILE: Final = "paused.json"  # there, too: by which ways its projections are paused
FOLDER: Final = "the folder"  # the way of what was asked there
TOPIC: Final = "the topic"
REQUEST_SECONDS_MAX: Final = 3600.0
KEPT_MAX: Final = 1_000  # requests that are told of; the log has all
TEXT_CHARS_MAX: Final = 4_000
READ_POLLS_MAX: Final = 50
_POLL_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class Request:
    """What somebody wants done. `requested_at` is when the log took it."""

    id: str
    verb: str
    arguments: Mapping[str, Any]
    by: str
    requested_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """What became of a request, and who says so. "accepted" is the only one that is not the end."""

    request: str
    outcome: str
    text: str
    by: str
    result: Any = None
    at: datetime | None = None


@dataclass
class Asked:
    """A request with its acknowledgements, in the order in which they came."""

    request: Request
    acknowledgements: list[Acknowledgement] = field(default_factory=list)

    @property
    def end(self) -> Acknowledgement | None:
        """The acknowledgement that ended it: the first that is no acceptance."""
        ends = (one for one in self.acknowledgements if one.outcome != "accepted")
        return next(ends, None)

    @property
    def accepted_by(self) -> str | None:
        """Who accepted it first."""
        return next((one.by for one in self.acknowledgements), None)


class Control(Protocol):
    """Requests and acknowledgements of one tenant. One thread at a time uses it."""

    def request(self, verb: str, arguments: Mapping[str, Any], *, by: str) -> Request:
        """Ask for something, durably. Raises InvalidSetting for another verb, LogUnavailable."""
        ...

    def acknowledge(self, said: Acknowledgement) -> None:
        """Say what became of a request, durably. Raises LogUnavailable."""
        ...

    def asked(self) -> Sequence[Asked]:
        """Return the last `KEPT_MAX` requests, those that are under way among them, in order."""
        ...

    @property
    def is_paused(self) -> bool:
        """Whether the last pause or resume that was done is a pause, as of the last `asked`."""
        ...

    def close(self) -> None:
        """Let go of the log. Harmless twice."""
        ...


def control_topic(tenant: str) -> str:
    """Return the name of *tenant*'s topic of control.

    >>> control_topic("acme")
    'mnemolog.acme.control'
    """
    return f"{TOPIC_PREFIX}{encoded_name(tenant)}{TOPIC_SUFFIX}"


def paused_by(folder: Path) -> Mapping[str, str]:
    """Return by which ways the projections in a tenant's *folder* are paused, and since when."""
    try:
        told = json.loads((folder / PAUSED_FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


class LogControl:
    """Control over any log of one partition, which it closes."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._reader: Reader | None = None
        self._asked: dict[str, Asked] = {}
        self._is_paused = False

    def request(self, verb: str, arguments: Mapping[str, Any], *, by: str) -> Request:
        """Ask for something, durably."""
        if verb not in VERBS:
            raise InvalidSetting("verb", verb, f"one of {', '.join(VERBS)}")
        request = Request(fresh_id(), verb, dict(arguments), by)
        told = {"id": request.id, "verb": verb, "arguments": request.arguments, "by": by}
        self._append(request.id, {"request": told})
        return request

    def acknowledge(self, said: Acknowledgement) -> None:
        """Say what became of a request, durably."""
        told = {
            "request": said.request,
            "outcome": said.outcome,
            "text": said.text[:TEXT_CHARS_MAX],
            "by": said.by,
            "result": said.result,
        }
        self._append(said.request, {"acknowledgement": told})

    def asked(self) -> Sequence[Asked]:
        """Return the last requests, in order."""
        for record in self._news():
            with suppress(InvalidEvent, KeyError, TypeError):  # none of ours: nobody obeys it
                self._take(record)
        closed = [name for name, one in self._asked.items() if one.end is not None]
        for name in closed[: max(0, len(self._asked) - KEPT_MAX)]:
            del self._asked[name]
        return tuple(self._asked.values())

    @property
    def is_paused(self) -> bool:
        """Whether the last pause or resume that was done is a pause."""
        return self._is_paused

    def close(self) -> None:
        """Let go of the log. Harmless twice."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None
        self._log.close()

    def _append(self, name: str, told: Mapping[str, Any]) -> None:
        value = json_bytes(told)
        digest = hashlib.sha256(value).hexdigest()
        self._log.append([NewRecord(name.encode(), value, (), digest[:32], digest[32:])])

    def _news(self) -> list[LogRecord]:
        """Return what has come since the last call, up to the log's present end."""
        if self._reader is None:
            self._reader = self._log.reader(self._log.starts())
        end, found = self._log.ends()[0], list[LogRecord]()
        for _ in range(READ_POLLS_MAX):
            if self._reader.positions()[0] >= end:
                return found
            found += self._reader.poll(records_max=KEPT_MAX, wait_seconds=_POLL_SECONDS)
        if found:
            return found
        raise LogUnavailable(self._log.topic, "what was asked can't be read")

    def _take(self, record: LogRecord) -> None:
        told = cast("Mapping[str, Any]", parse_json(record.value or b""))
        if "request" in told:
            one = told["request"]
            asked = Asked(
                Request(
                    str(one["id"]),
                    str(one["verb"]),
                    dict(one["arguments"]),
                    str(one["by"]),
                    record.recorded_at,
                )
            )
            self._asked.setdefault(asked.request.id, asked)
            return
        said = told["acknowledgement"]
        found = self._asked.get(str(said["request"]))
        if found is not None:
            self._acknowledged(found, said, record.recorded_at)

    def _acknowledged(self, found: Asked, said: Mapping[str, Any], at: datetime) -> None:
        is_end = found.end is None and said["outcome"] != "accepted"
        found.acknowledgements.append(
            Acknowledgement(
                found.request.id,
                str(said["outcome"]),
                str(said["text"]),
                str(said["by"]),
                said.get("result"),
                at,
            )
        )
        if is_end and said["outcome"] == "done" and found.request.verb in {"pause", "resume"}:
            self._is_paused = found.request.verb == "pause"
