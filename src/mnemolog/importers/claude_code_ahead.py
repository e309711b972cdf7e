"""A look ahead: a message of the model is told when its last line is known.

Its parts, and its snapshots while it streams, are lines of their own that share its id; only the
last one has the final numbers, and results of its calls may stand between them. A prompt waits
too, for the message behind it: an old one says that both are a replay.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Final

from mnemolog.importers.claude_code_chain import Step, with_newer

AHEAD_LINES_MAX: Final = 64  # that wait at a time; what comes later tells only what is new in it


class Ahead:
    """Holds steps back until it is known what belongs to them, and keeps their order."""

    def __init__(self) -> None:
        self._waiting: deque[Step] = deque()
        self._open: set[int] = set()  # the waiting steps, by identity, that something may join

    def take(self, step: Step) -> Iterator[Step]:
        """Take a step; yield those of which all is known."""
        if not self._joins(step):
            if step.moves_on:
                self._settle(step)
                self._open.add(id(step))
            self._waiting.append(step)
        while self._waiting and (self._is_settled() or len(self._waiting) > AHEAD_LINES_MAX):
            yield self._next()

    def finish(self) -> Iterator[Step]:
        """Yield what waits still."""
        while self._waiting:
            yield self._next()

    def _joins(self, step: Step) -> bool:
        """Put *step* to the message that it is a part of, if that waits."""
        if step.message is None:
            return False
        for known in self._waiting:
            if known.message == step.message and known.lane is step.lane:
                known.blocks = with_newer(known.blocks, step.blocks)
                known.said = {**known.said, **_given(step.said)}
                known.nodes += step.nodes
                return True
        return False

    def _settle(self, step: Step) -> None:
        """Settle what waits in the lane of *step*, which moves on."""
        for known in self._waiting:
            if id(known) in self._open and known.lane is step.lane:
                self._open.discard(id(known))
                known.follower = step.message

    def _is_settled(self) -> bool:
        return id(self._waiting[0]) not in self._open

    def _next(self) -> Step:
        step = self._waiting.popleft()
        self._open.discard(id(step))
        return step


def _given(said: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in said.items() if value is not None}
