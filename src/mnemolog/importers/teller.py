"""One session told in order: each event caused by the one that it answers, calls by their ids.

For formats that give a run as a row of items: what each says is named by its item, and a call that
is answered is forgotten. `story.Story` is for those that name what they say themselves and may say
it again. What a format's words mean is its own affair. The bound is on calls that wait for an
answer: nothing else is remembered.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from mnemolog.importers.base import Found, Here, Placed, Problem, Source, Telling
from mnemolog.importers.bounded import Bounded
from mnemolog.importers.chat_messages import Call
from mnemolog.importers.words import decision_of
from mnemolog.schemas.events import Event
from mnemolog.schemas.events import experience as happened
from mnemolog.schemas.fields import is_blank

OPEN_CALLS_MAX: Final = 1_024  # calls without an answer that are remembered; the oldest go first


@dataclass(slots=True)
class Opened:
    """A call that has no answer yet; `orphaned` once it was said that none will come."""

    action: str
    tool: str
    orphaned: bool = False


class Teller:
    """Tells one session: go `at` each item of the source, then tell what it says."""

    def __init__(self, telling: Telling, source: Source) -> None:
        self.previous: str | None = None  # the id of the event that the next one answers
        self._telling = telling
        self._source = source
        self._here: Here  # the present item
        self._key = ""
        self._open: Bounded[Hashable, Opened] = Bounded(OPEN_CALLS_MAX)

    def at(self, place: str, moment: datetime, *, item: str, key: str) -> None:
        """Go to an item: *item* is what the source calls it, *key* names it within the session."""
        self._here, self._key = Here(place, moment, item), key

    def problem(self, reason: str) -> Problem:
        """Return a Problem of the present item."""
        return self._source.problem(self._here.place, reason)

    def id_of(self, model: type[Event], number: int = 0) -> str:
        """Return the id of the present item's event of *model*, or of the *number*-th of them."""
        return self._telling.id_of(model.event_type, str(number), self._key)

    def tell(
        self,
        model: type[Event],
        fields: Mapping[str, Any],
        *,
        number: int = 0,
        cause: str | None = None,
        call: str | None = None,
    ) -> Placed:
        """Place an event, caused by *cause* or the one before it, and make it the previous one."""
        event_id = self.id_of(model, number)
        cause, self.previous = cause or self.previous, event_id
        return self._telling.placed(
            model, fields, self._here, event_id=event_id, cause=cause, call=call
        )

    def aside(
        self, model: type[Event], fields: Mapping[str, Any], *, name: str, cause: str | None
    ) -> Placed:
        """Place an event that nothing answers; *name* names it within the session."""
        event_id = self._telling.id_of(model.event_type, "aside", name)
        return self._telling.placed(model, fields, self._here, event_id=event_id, cause=cause)

    def think(self, text: str, *, use: Mapping[str, Any] | None = None) -> Iterator[Placed]:
        """Tell a thought as a decision; a blank one says nothing."""
        if not is_blank(text):
            yield self.tell(happened.DecisionMade, {**decision_of(text), "model_use": use})

    def act(
        self,
        key: Hashable,
        tool: str,
        arguments: Mapping[str, Any],
        *,
        raw: str | None = None,
        number: int = 0,
        cause: str | None = None,
        call: str | None = None,
        use: Mapping[str, Any] | None = None,
    ) -> Placed:
        """Tell a call, whose answer will come under *key*; its newest call gets it.

        The action's id is the event's: the ids that sources give their calls repeat.
        """
        model = happened.ActionStarted
        action = self.id_of(model, number)
        self._open[key] = Opened(action, tool)
        fields = {"action": action, "tool": tool, "arguments": arguments, "raw": raw}
        told = {**fields, "model_use": use}
        return self.tell(model, told, number=number, cause=cause, call=call)

    def act_at_once(
        self,
        calls: Iterable[tuple[Hashable, Call | str]],
        *,
        use: Mapping[str, Any] | None = None,
    ) -> Iterator[Found]:
        """Tell the calls of one item, with their keys, each caused by what stands before them all.

        *use* stands on the first; what is no call says why, which is a Problem.
        """
        cause = self.previous
        for number, (key, call) in enumerate(calls):
            if isinstance(call, str):
                yield self.problem(call)
                continue
            yield self.act(
                key,
                call.tool,
                call.arguments,
                raw=call.raw,
                number=number,
                cause=cause,
                call=call.id,
                use=use,
            )
            use = None

    def waits_for(self, key: Hashable) -> bool:
        """Say whether a call waits for the answer *key*."""
        return key in self._open

    def answer(
        self,
        key: Hashable,
        text: str,
        *,
        success: bool,
        tool: str | None = None,
        data: Mapping[str, Any] | None = None,
        duration_ms: int | None = None,
        call: str | None = None,
    ) -> Placed:
        """Tell an answer, caused by its call; one of an unknown call has no cause."""
        model = happened.ActionFinished
        opened = self._open.pop(key, None)
        self.previous = opened.action if opened else None
        fields = {
            "action": opened.action if opened else self.id_of(model),
            "tool": tool or (opened.tool if opened else None),
            "success": success,
            "result" if success else "error": text,
            "data": data or None,
            "duration_ms": duration_ms,
        }
        return self.tell(model, fields, call=call)

    def orphan(self, *, but: str | None = None) -> Iterator[Placed]:
        """Say of each open call that no answer will come, once; *but* of those of one tool.

        An answer that comes all the same is still linked with its call.
        """
        for opened in self._open.values():
            if not opened.orphaned and opened.tool != but:
                opened.orphaned = True
                fields = {"action": opened.action, "tool": opened.tool, "success": False}
                yield self.aside(
                    happened.ActionFinished,
                    {**fields, "orphaned": True},
                    name=opened.action,
                    cause=opened.action,
                )
