"""Appends of many threads, made durable together.

Who comes first leads: it opens a transaction, takes all that wait by then, commits once, and
wakes them. No append returns before the commit that holds it. The queue is bounded; whoever
finds it full waits for room, and everybody waits only as long as they said.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Condition
from typing import Final

from mnemolog.schemas.errors import LogUnavailable, MnemologError
from mnemolog.schemas.positions import Position
from mnemolog.schemas.records import NewRecord

QUEUE_RECORDS_MAX: Final = 10_000
QUEUE_BYTES_MAX: Final = 67_108_864
CLOSE_SECONDS_MAX: Final = 60.0  # how long closing waits for a commit that runs

Insert = Callable[[Sequence[NewRecord]], list[Position]]
# A transaction that is open within the context and committed when it ends without an error.
Begin = Callable[[float], AbstractContextManager[Insert]]


@dataclass(slots=True, eq=False)
class _Waiting:
    """One call's records, and what became of them."""

    records: Sequence[NewRecord]
    size_bytes: int
    positions: list[Position] | None = None
    error: MnemologError | None = None

    @property
    def is_settled(self) -> bool:
        return self.positions is not None or self.error is not None

    def result(self) -> list[Position]:
        if self.error is not None:
            raise self.error
        assert self.positions is not None
        return self.positions


class GroupCommit:
    """Turns concurrent appends into few transactions. *begin* gets the seconds it may wait."""

    def __init__(self, begin: Begin, *, name: str) -> None:
        self._begin = begin
        self._name = name
        self._queue: list[_Waiting] = []
        self._leading = False
        self._closed = False
        self._changed = Condition()

    def append(self, records: Sequence[NewRecord], *, timeout_seconds: float) -> list[Position]:
        """Return where *records* stand, once they are durable. Raises LogUnavailable."""
        deadline = time.monotonic() + timeout_seconds
        waiting = _Waiting(records, sum(r.size for r in records))
        self._enter(waiting, deadline)
        try:
            if self._must_lead(waiting, deadline):
                self._lead(deadline)
        finally:
            self._leave(waiting)
        return waiting.result()

    def close(self) -> None:
        """Refuse what is not yet being committed, and wait for the commit that runs."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._leading, CLOSE_SECONDS_MAX)

    def _enter(self, waiting: _Waiting, deadline: float) -> None:
        with self._changed:
            if not self._changed.wait_for(
                lambda: self._closed or self._has_room(waiting), deadline - time.monotonic()
            ):
                raise LogUnavailable(self._name, "the queue of appends is full")
            self._check_open()
            self._queue.append(waiting)

    def _check_open(self) -> None:
        if self._closed:
            raise LogUnavailable(self._name, "this handle was closed")

    def _has_room(self, waiting: _Waiting) -> bool:
        records = sum(len(other.records) for other in self._queue) + len(waiting.records)
        size = sum(other.size_bytes for other in self._queue) + waiting.size_bytes
        # What is larger than the queue may still enter it alone.
        return not self._queue or (records <= QUEUE_RECORDS_MAX and size <= QUEUE_BYTES_MAX)

    def _must_lead(self, waiting: _Waiting, deadline: float) -> bool:
        """Wait until *waiting* is settled or nobody leads; say whether this thread leads now."""
        with self._changed:
            if not self._changed.wait_for(
                lambda: waiting.is_settled or not self._leading, deadline - time.monotonic()
            ):
                raise LogUnavailable(self._name, "the commit did not come in time")
            if waiting.is_settled:
                return False
            self._check_open()
            self._leading = True
            return True

    def _lead(self, deadline: float) -> None:
        """Commit what waits.

        1. Open the transaction: other processes may make this wait, and more may queue up.
        2. Take all that wait, insert it, commit.
        3. Settle them all, one way or the other.

        A failure in 1 concerns this call alone: the others try with the time that is left to
        them. One in 2 concerns all, and nothing of them was kept.
        """
        group: list[_Waiting] = []
        try:
            with self._begin(deadline - time.monotonic()) as insert:  # 1
                group = self._taken()
                placed = [insert(waiting.records) for waiting in group]  # 2
        except BaseException as error:
            failure = error if isinstance(error, MnemologError) else self._failed(error)
            self._settle(group, failure)
            raise
        else:
            self._settle(group, placed)  # 3
        finally:
            with self._changed:
                self._leading = False
                self._changed.notify_all()

    def _failed(self, error: BaseException) -> LogUnavailable:
        return LogUnavailable(self._name, f"the commit failed: {error!r}")

    def _taken(self) -> list[_Waiting]:
        with self._changed:
            group, self._queue = self._queue, []
            return group

    @staticmethod
    def _settle(group: list[_Waiting], outcome: MnemologError | list[list[Position]]) -> None:
        for index, waiting in enumerate(group):
            if isinstance(outcome, MnemologError):
                waiting.error = outcome
            else:
                waiting.positions = outcome[index]

    def _leave(self, waiting: _Waiting) -> None:
        """Take *waiting* out of the queue if it still stands there: it gave up."""
        with self._changed:
            if waiting in self._queue:
                self._queue.remove(waiting)
            self._changed.notify_all()
