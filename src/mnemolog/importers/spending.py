"""What the model used: told behind what it made, so that that waits for it, and no longer."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from mnemolog.importers.base import Found, Placed
from mnemolog.schemas.events.experience import ActionStarted, DecisionMade, MessageExchanged

WAITING_MAX: Final = 64  # events that wait for their numbers; then they go without
_MADE: Final = (ActionStarted, DecisionMade, MessageExchanged)


class Spending:
    """Puts the numbers of each use of the model on the first event that it made."""

    def __init__(self) -> None:
        self._waiting: list[Found] = []
        self._first: int | None = None  # the place of that event among those that wait
        self._is_answered = False  # what the model makes next is another use

    def made(self, found: list[Found]) -> Iterator[Found]:
        """Take what the model made."""
        if self._is_answered:
            yield from self.finish()
        for one in found:
            is_made = isinstance(one, Placed) and one.draft.model in _MADE
            if self._first is None and is_made:
                self._first = len(self._waiting)
            self._waiting.append(one)
        if len(self._waiting) > WAITING_MAX:
            yield from self.finish()

    def answered(self, found: list[Found]) -> Iterator[Found]:
        """Take what came of it, which may stand before the numbers."""
        if self._first is None:
            yield from found
        else:
            self._waiting += found
            self._is_answered = True

    def spent(self, use: Mapping[str, Any] | None) -> Iterator[Found]:
        """Take the numbers of what the model made last, if anything waits for some."""
        if self._first is not None and use is not None:
            made = self._waiting[self._first]
            assert isinstance(made, Placed), "only an event has numbers"
            draft = replace(made.draft, fields={**made.draft.fields, "model_use": use})
            self._waiting[self._first] = replace(made, draft=draft)
        yield from self.finish()

    def finish(self) -> Iterator[Found]:
        """Yield what waits; no numbers will come for it."""
        waiting, self._waiting = self._waiting, []
        self._first, self._is_answered = None, False
        yield from waiting
