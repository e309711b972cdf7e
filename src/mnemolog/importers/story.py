"""A session on its way into the log: its start, what came last, its calls, its end.

For formats that write line by line what an agent does, and may say it twice: it is told once, by
the name that the format gives it, and calls are remembered when they are answered, for a second
answer is the first one again. `teller.Teller` is for those that give a run as a row of items,
where each is one of its own. Nothing here knows a format. All that is remembered is bounded, and
what is forgotten costs a link at most: ids are derived all the same.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mnemolog.importers.base import Here, Placed, Telling
from mnemolog.importers.bounded import Bounded
from mnemolog.schemas.events import Event
from mnemolog.schemas.events.experience import (
    ActionFinished,
    ActionStarted,
    SessionEnded,
    SessionStarted,
)

CALLS_MAX: Final = 4_096  # of a session that are remembered, answered or not; the oldest go first
TOLD_MAX: Final = 65_536  # ids of a file that are remembered, so that a repeat is told once


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool; its action has the id of the event that started it."""

    action: str
    tool: str


class Told:
    """The ids that were told of a file: each event is told once."""

    def __init__(self) -> None:
        self._ids: Bounded[str, None] = Bounded(TOLD_MAX)

    def is_first(self, event_id: str) -> bool:
        """Say whether *event_id* is new, and remember it."""
        if event_id in self._ids:
            return False
        self._ids[event_id] = None
        return True


class Story:
    """Tells one session. `previous` is the event that was told last, or repeated."""

    def __init__(self, telling: Telling, told: Told) -> None:
        self.telling = telling
        self.previous: str | None = None
        self.is_closed = False
        self._told = told
        self._calls: Bounded[str, Call] = Bounded(CALLS_MAX)
        self._open: Bounded[str, Call] = Bounded(CALLS_MAX)  # of these, those without an answer

    def id_of(self, *name: str) -> str:
        """Return the id of the event that *name* gives; a source's names may hold anything."""
        return self.telling.id_of(*map(_encodable, name))

    def tell(
        self,
        model: type[Event],
        fields: Mapping[str, Any],
        here: Here,
        *,
        name: tuple[str, ...],
        cause: str | None,
        call: str | None = None,
    ) -> list[Placed]:
        """Tell an event, whose id *name* gives within the format; nothing if it was told."""
        self.previous = self.id_of(*name)
        return self.aside(model, fields, here, name=name, cause=cause, call=call)

    def aside(
        self,
        model: type[Event],
        fields: Mapping[str, Any],
        here: Here,
        *,
        name: tuple[str, ...],
        cause: str | None,
        call: str | None = None,
    ) -> list[Placed]:
        """Tell an event that nothing answers: `previous` stays."""
        event_id = self.id_of(*name)
        if not self._told.is_first(event_id):
            return []
        return [self.telling.placed(model, fields, here, event_id=event_id, cause=cause, call=call)]

    def start(
        self, fields: Mapping[str, Any], here: Here, *, name: tuple[str, ...], cause: str | None
    ) -> list[Placed]:
        """Tell that the session began, or that it goes on after its end."""
        self.is_closed = False
        return self.tell(SessionStarted, fields, here, name=name, cause=cause)

    def close(
        self, fields: Mapping[str, Any], here: Here, *, name: tuple[str, ...]
    ) -> list[Placed]:
        """Tell that the session ended."""
        self.is_closed = True
        return self.tell(SessionEnded, fields, here, name=name, cause=self.previous)

    # Calls

    def call(
        self,
        key: str,
        fields: Mapping[str, Any],
        here: Here,
        *,
        name: tuple[str, ...],
        cause: str | None,
    ) -> list[Placed]:
        """Tell a call, which *key* names; an open one of that name gets no answer any more."""
        action = self.id_of(*name)
        earlier = self._calls.get(key)
        is_known = earlier is not None and earlier.action == action
        left = None if is_known else self._open.pop(key, None)
        found = [] if left is None else self.orphan(left.action, left.tool, here)
        started = {**fields, "action": action}
        told = self.tell(ActionStarted, started, here, name=name, cause=cause, call=key)
        if not is_known:
            self._calls[key] = Call(action, str(fields["tool"]))
        if told:  # a repeat is answered, for all one knows
            self._open[key] = self._calls[key]
        return found + told

    def answer(
        self, key: str, fields: Mapping[str, Any], here: Here, *, otherwise: tuple[str, ...]
    ) -> list[Placed]:
        """Tell the answer to the newest call that *key* names; one of no known call has no cause.

        *otherwise* names the action of such a one.
        """
        call = self._calls.get(key)
        action = self.id_of(*otherwise) if call is None else call.action
        self._open.pop(key, None)
        tool = None if call is None else call.tool
        finished = {"action": action, "tool": tool, **fields}
        name, cause = ("answer", action), None if call is None else action
        return self.tell(ActionFinished, finished, here, name=name, cause=cause, call=key)

    def orphan_calls(self, here: Here) -> list[Placed]:
        """Tell of each open call that no answer will come, for history went on without it."""
        calls, self._open = self._open, Bounded(CALLS_MAX)
        return [
            placed
            for call in calls.values()
            for placed in self.orphan(call.action, call.tool, here)
        ]

    def orphan(self, action: str, tool: str, here: Here) -> list[Placed]:
        """Tell that no answer will come to a call, of those that the format itself remembers."""
        fields = {"action": action, "tool": tool, "success": False, "orphaned": True}
        return self.aside(ActionFinished, fields, here, name=("orphan", action), cause=action)

    def action_of(self, key: str) -> str | None:
        """Return the action of the newest call that *key* names, if it is remembered."""
        call = self._calls.get(key)
        return None if call is None else call.action

    def has_open_calls(self) -> bool:
        """Say whether a call is without an answer."""
        return bool(self._open)


def _encodable(part: str) -> str:
    """Return *part*, or a digest of it where it holds lone surrogates, which no id may."""
    try:
        part.encode()
    except UnicodeEncodeError:
        return hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest()
    return part
