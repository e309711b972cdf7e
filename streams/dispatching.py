"""The dispatcher: a thread that runs the projector whenever the log has something new.

A wake-up is only a trigger (law 5): one that is lost, doubled or late is harmless, since the
projector reads from its own progress and a timer wakes it anyway. A store that is damaged is
renewed from the log, one that is unavailable is tried again; neither holds the others up. A reader
that stands still is replaced when somebody who watches says so.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import structlog

from mnemolog.projections.projection import Projection
from mnemolog.schemas.errors import (
    Damaged,
    LogUnavailable,
    MnemologError,
    StoreUnavailable,
    TimedOut,
)
from mnemolog.streams.backing_off import BackOff
from mnemolog.streams.gate import Gate, Superseded
from mnemolog.streams.log import Log
from mnemolog.streams.projecting import Projector, Renewed
from mnemolog.streams.tally import Tally

IDLE_SECONDS_MAX: Final = 0.5  # the timer that wakes it anyway
FOLLOW_UP_SECONDS_MAX: Final = 0.25  # a turn of follow-up, after which new events come first
STOP_SECONDS_MAX: Final = 60.0
LEFT_MAX: Final = 3  # threads that hang in reading and were left to themselves
THREAD: Final = "mnemolog-dispatcher"

_log = structlog.get_logger("mnemolog.dispatcher")

Tell = Callable[[BaseException], None]


class Dispatcher:
    """Runs a projector in a thread of its own until it is stopped or can't go on.

    `failure` is what it could not go on from, `trouble` what it tries again at this moment.
    *renewed* gives what takes a damaged projection's place; without it damage is a failure, too.
    *tell* hears each error. `tally` has what it counted; `is_paused` says whether somebody else
    has the turn.
    """

    def __init__(
        self,
        log: Log,
        projector: Projector,
        *,
        renewed: Renewed | None = None,
        tell: Tell = lambda _: None,
    ) -> None:
        self._log = log
        self._projector = projector
        self._renewed = renewed
        self._tell = tell
        self._turn = threading.RLock()  # held while the projector or a projection is used
        self._moved = threading.Condition()
        self.is_paused = False
        self._pauses = 0  # that wait for their turn: a busy log lets them in, too
        self._holders: frozenset[str] = frozenset()
        self._stopping = threading.Event()
        self._thread = self._new_thread()
        self._gate = Gate()
        self._replacing = threading.Lock()
        self._wants_reader = threading.Event()  # a new one, at its next turn
        self._left: list[threading.Thread] = []
        self.tally = Tally()
        self.failure: BaseException | None = None
        self._turns = BackOff()
        self._follow_ups = BackOff()

    def start(self) -> None:
        """Begin. Call once."""
        self._thread.start()

    def stop(self) -> bool:
        """End after the present turn, wait for it, and say whether nothing is written any more."""
        self._stopping.set()
        with self._replacing:
            thread = self._thread
        if thread.is_alive():
            thread.join(STOP_SECONDS_MAX)
        # One that hangs in reading ends when it comes back, and has written nothing.
        if thread.is_alive() and not self._gate.shut(self._projector.leave_reader):
            _log.error("projecting did not stop", waited_seconds=STOP_SECONDS_MAX)
            return False
        self._projector.close()
        return True

    def recreate_reader(self) -> bool:
        """Let it read on with a new reader; say whether another thread took the place of its own.

        That is so where it hangs in reading: whatever comes of that is thrown away. Otherwise it
        takes a new reader itself, at its next turn. While it hangs in a store nothing happens:
        no other may write while it could.
        """
        with self._replacing:
            if self._stopping.is_set() or self.failure is not None:
                return False
            self._left = [thread for thread in self._left if thread.is_alive()]
            if len(self._left) < LEFT_MAX and self._gate.shut(self._replace_thread):
                return True
            self._wants_reader.set()
            return False

    def _replace_thread(self) -> None:
        """Leave the thread, its turn and its reader; begin others."""
        self._left.append(self._thread)
        self._projector.leave_reader()
        self._turn = threading.RLock()
        self._gate = Gate()
        self._thread = self._new_thread()
        self._thread.start()
        self.tally.recreated.add()
        _log.warning("reading stood still; a new reader goes on")

    def _new_thread(self) -> threading.Thread:
        return threading.Thread(target=self._run, name=THREAD, daemon=True)

    @contextmanager
    def paused(self) -> Iterator[Projector]:
        """Hold the projector between two turns: what it gives may be used within the block."""
        self._count_pause(1)
        try:
            turn = self._acquired_turn()
        finally:  # an interrupt while it waits must not leave the dispatcher waiting for it
            self._count_pause(-1)
        self.is_paused = True
        try:
            yield self._projector
        finally:
            self.is_paused = False
            self._projector.rewind()
            turn.release()
        with self._moved:
            self._moved.notify_all()

    def _acquired_turn(self) -> "threading.RLock":
        """Wait for the turn, which may be another one by then, and return it."""
        while True:
            turn = self._turn
            if not turn.acquire(timeout=IDLE_SECONDS_MAX):
                continue
            if turn is self._turn:
                return turn
            turn.release()

    def hold(self, by: str, *, held: bool) -> None:
        """Apply nothing from the next turn on as long as anybody holds it; does not wait."""
        with self._moved:
            self._holders = self._holders | {by} if held else self._holders - {by}
            self._moved.notify_all()

    @property
    def held_by(self) -> frozenset[str]:
        """Who wants nothing applied at this moment."""
        return self._holders

    def _count_pause(self, change: int) -> None:
        with self._moved:
            self._pauses += change
            self._moved.notify_all()

    def wait_until(self, is_so: Callable[[], bool], *, what: str, timeout_seconds: float) -> None:
        """Return once *is_so*, which is asked after each turn.

        Raises TimedOut with *what* and the trouble that is in the way, or the failure.
        """
        deadline = time.monotonic() + timeout_seconds
        while not is_so():
            if self.failure is not None:
                raise self.failure
            left = deadline - time.monotonic()
            if left <= 0:
                because = "it is paused" if self._holders else self._because()
                raise TimedOut(what, waited_seconds=timeout_seconds, because=because)
            with self._moved:
                self._moved.wait(min(left, IDLE_SECONDS_MAX))

    def _because(self) -> str | None:
        return None if self.trouble is None else str(self.trouble)

    @property
    def held_up_by(self) -> MnemologError | None:
        """What keeps rows from being applied and is tried again at this moment, if anything."""
        return self._projector.trouble or self._turns.error

    @property
    def trouble(self) -> MnemologError | None:
        """What is being tried again at this moment, if anything, of what follows the rows, too."""
        return self.held_up_by or self._follow_ups.error

    @property
    def reached(self) -> Mapping[str, Mapping[int, int]]:
        """The next offsets of each projection that took part in a turn, holes passed."""
        return self._projector.reached

    @property
    def projections(self) -> list[Projection]:
        """The projections that it keeps; use them only while it is paused or stopped."""
        return self._projector.projections

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self._work()
                self._turns.succeeded()
            except Superseded:
                return
            except StoreUnavailable as error:
                self._say_again("store unavailable; retrying", error, self._turns)
                if isinstance(error, LogUnavailable) or not self._projector.is_awake:
                    self._stopping.wait(self._turns.seconds)
            except Damaged as error:
                if self._renewed is None or not self._projector.damaged:
                    self._fail(error)
                    return
                self._say_again("store damaged; renewing", error, self._turns)
            except BaseException as error:  # noqa: BLE001 - kept for whoever waits
                self._fail(error)
                return

    def _work(self) -> None:
        """Take one turn; wait for the log if it found nothing to do."""
        with self._moved:
            self._moved.wait_for(lambda: not self._pauses)
            if self._holders:
                self._moved.wait(IDLE_SECONDS_MAX)
                return
        with self._turn:
            if self._renewed is not None:
                self._projector.renew(self._renewed)
            self._renew_reader()
            came = self._step()
            more = not came and self._follow_ups.is_due and self._follow_up()
            after = self._projector.positions()
        if came or more:
            with self._moved:
                self._moved.notify_all()
            return
        with self._moved:
            self._moved.notify_all()
        self._log.wait(after, timeout_seconds=IDLE_SECONDS_MAX)

    def _renew_reader(self) -> None:
        if self._wants_reader.is_set():
            self._wants_reader.clear()
            self._projector.rewind()
            self.tally.recreated.add()

    def _step(self) -> int:
        began = time.monotonic()
        came = self._projector.step(wait_seconds=0, reading=self._gate.reading)
        if came:
            self.tally.records.add(came)
            self.tally.batch_seconds.add(time.monotonic() - began)
        return came

    def _follow_up(self) -> bool:
        """Let each projection do some of what comes after its rows; say whether more is left.

        One that can't holds up neither the others nor new rows: it is tried again later.
        """
        seconds = FOLLOW_UP_SECONDS_MAX / max(1, len(self.projections))
        left, failure = False, None
        for projection in self.projections:
            try:
                with self._projector.noting_damage(projection):
                    left = projection.follow_up(seconds_max=seconds) or left
            except StoreUnavailable as error:
                failure = failure or error
        if failure is None:
            self._follow_ups.succeeded()
            return left
        self.tally.unfinished.add()
        self._say_again("what follows the rows failed; retrying", failure, self._follow_ups)
        return False

    def _say_again(self, event: str, error: MnemologError, back_off: BackOff) -> None:
        back_off.failed(error)
        _log.warning(event, error=str(error))
        self._tell(error)

    def _fail(self, error: BaseException) -> None:
        self.failure = error
        hint = error.hint if isinstance(error, MnemologError) else "This is our fault."
        _log.error("projecting stopped", error=str(error), hint=hint, exc_info=error)
        self._tell(error)
        with self._moved:
            self._moved.notify_all()
