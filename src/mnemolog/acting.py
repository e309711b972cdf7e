"""The verb `act`: what an agent does to the world, and what came of it, as two events."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Unpack

from mnemolog.schemas.errors import MnemologError
from mnemolog.schemas.events import Event, experience
from mnemolog.schemas.ids import derived_id, fresh_id
from mnemolog.schemas.text import cut
from mnemolog.schemas.times import instant
from mnemolog.scope import Scope
from mnemolog.streams.publishing import Appended

ERROR_CHARACTERS_MAX: Final = 10_000  # of an exception's words; a result is the caller's to bound


@dataclass(slots=True)
class Action:
    """A tool call under way: set what came of it before the block of `act` ends.

    `saved` is the checkpoint that stands before a costly one; None where there was nothing to save.
    """

    started: Appended
    action: str
    result: str | None = None
    data: dict[str, Any] = field(default_factory=dict)
    cost_usd: float | None = None
    finished: Appended | None = None
    saved: Appended | None = None

    @property
    def id(self) -> str:
        """The id of the event that says it started."""
        return self.started.id

    @property
    def identity(self) -> str:
        """That event's identity."""
        return self.started.identity


class Acting:
    """The half of `Writer` that records tool calls."""

    def _append(self, event: type[Event], fields: Mapping[str, Any], scope: Scope) -> Appended:
        raise NotImplementedError

    def _save_before(self, scope: Scope) -> Appended | None:
        """Append a checkpoint before a costly action; None where nothing is known to save."""
        del scope
        return None

    @contextmanager
    def act(
        self,
        tool: str,
        *,
        arguments: Mapping[str, Any] | None = None,
        action: str | None = None,
        costly: bool = False,
        **scope: Unpack[Scope],
    ) -> Iterator[Action]:
        """Record a tool call: that it started, and at the block's end that it finished or failed.

        Before a *costly* one the agent's state is saved, durably, if anything was told since the
        last checkpoint: see `Action.saved`. An exception in the block is recorded as the action's
        error and goes on, whatever the log says of it. With an `id` the call may be retried: the
        action is named by it, and the end's id is derived from it. With an `occurred_at` the end
        occurs as much later as the block took.
        """
        name = action or scope.get("id") or fresh_id()
        told = {"action": name, "tool": tool, "arguments": arguments, "costly": costly}
        saved = self._save_before(scope) if costly else None
        started = self._append(experience.ActionStarted, told, scope)
        running = Action(started, name, saved=saved)
        began = time.monotonic()
        try:
            yield running
        except BaseException as raised:
            error = cut(f"{type(raised).__name__}: {raised}", characters_max=ERROR_CHARACTERS_MAX)
            try:
                running.finished = self._finish(running, tool, error, _passed(began), scope)
            except MnemologError as unrecorded:
                raised.add_note(f"mnemolog could not record that the action failed: {unrecorded}")
            raise
        running.finished = self._finish(running, tool, None, _passed(began), scope)

    def _finish(
        self, running: Action, tool: str, error: str | None, passed: timedelta, scope: Scope
    ) -> Appended:
        fields = {
            "action": running.action,
            "tool": tool,
            "success": error is None,
            "result": running.result if error is None else None,
            "error": error,
            "data": running.data or None,
            "duration_ms": passed // timedelta(milliseconds=1),
            "cost_usd": running.cost_usd,
        }
        given, began = scope.get("id"), scope.get("occurred_at")
        later: Any = {
            **scope,
            "id": None if given is None else derived_id("action finished", given),
            "occurred_at": began and instant(began, field="occurred_at")[0] + passed,
            "caused_by": running.started,
        }
        return self._append(experience.ActionFinished, fields, later)


def _passed(began: float) -> timedelta:
    """Return how long ago *began* was on the monotonic clock."""
    return timedelta(seconds=time.monotonic() - began)
