"""One tenant of a worker: a thread opens its folder, keeps its projections, and begins anew.

What fails in one tenant's thread is told and tried again; the other tenants go on.
"""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from typing import Final

import structlog

from mnemolog.engine import LEASE_FILE, Engine
from mnemolog.ledgers import applied
from mnemolog.projections.kinds import CHECKPOINTS, MEMORIES, WEIGHTS
from mnemolog.projections.lease import Holding, look
from mnemolog.replay.rebuilding import Stage
from mnemolog.schemas.errors import (
    Damaged,
    HistoryLost,
    InvalidSetting,
    LogReplaced,
    LogUnavailable,
    MnemologError,
    Parked,
    StoreUnavailable,
)
from mnemolog.settings import Settings
from mnemolog.streams.log import Wakeable, topic_of
from mnemolog.upgrading import build_anew, take_over

LOOK_SECONDS: Final = 0.5  # between two looks at the dispatcher, the lease and the orders
STALLED_SECONDS: Final = 5.0  # after which a stopped former owner is ended
TELL_SECONDS: Final = 5.0  # between two words on how far a catch-up is
RETRY_SECONDS_MIN: Final = 0.2  # before another try, growing with each failure
RETRY_SECONDS_MAX: Final = 5.0
MEND_SECONDS: Final = 60.0  # before another try where a person has to act
END_SECONDS_MAX: Final = 75.0  # a little more than a dispatcher may take to stop

# What no other try mends: each says what is to be done.
NEEDS_A_PERSON: Final = (LogReplaced, HistoryLost, Damaged, InvalidSetting, Parked)

Attend = Callable[[Engine], AbstractContextManager[object]]

_log = structlog.get_logger("mnemolog.worker")


def nothing(_: Engine) -> AbstractContextManager[object]:
    """Do nothing beside the projections while a tenant is owned."""
    return nullcontext()


class Tending:
    """Keeps one tenant's projections in a thread of its own, from `start` to `end`.

    *is_there* says whether the tenant's log is on the brokers: nobody makes one by tending it.
    While `is_owned`, the block that *attend* gives is entered, too. `stopped_by` is what a person
    has to look at before it can go on.
    """

    def __init__(
        self, settings: Settings, *, is_there: Callable[[], bool], attend: Attend = nothing
    ) -> None:
        self.tenant = settings.tenant
        self.stopped_by: BaseException | None = None
        self._settings = settings
        self._is_there = is_there
        self._attend = attend
        self._engine: Engine | None = None
        self._owned = False
        self._ending = False
        self._orders = threading.Condition()
        self._said: object = None
        self._told_building = 0.0
        self._pause_seconds = RETRY_SECONDS_MIN
        self._thread = threading.Thread(target=self._run, name=f"tenant {self.tenant}", daemon=True)

    def start(self) -> None:
        """Begin. Call once."""
        self._thread.start()

    @property
    def engine(self) -> Engine | None:
        """What it keeps the projections with at this moment; any thread may look at it."""
        return self._engine

    @property
    def is_owned(self) -> bool:
        """Whether this worker is the one of its group that owns the tenant."""
        return self._owned

    def own(self, *, owned: bool) -> None:
        """Say whether it is owned from now on; does not wait."""
        with self._orders:
            self._owned = owned
            self._orders.notify_all()

    def wake(self) -> None:
        """Let the projector look at the log now; does not wait and never raises."""
        engine = self._engine
        if engine is not None and isinstance(engine.log, Wakeable):
            engine.log.wake()

    def end(self) -> None:
        """Let go of the tenant; does not wait. Harmless twice."""
        with self._orders:
            self._ending = True
            self._owned = False
            self._orders.notify_all()

    def join(self) -> None:
        """Wait until it has let go, within a bound."""
        self._thread.join(END_SECONDS_MAX)

    def _run(self) -> None:
        """Keep the tenant, again after each failure, until it is to end."""
        while not self._ending:
            try:
                self._keep()
            except _LetGo:
                return
            except NEEDS_A_PERSON as error:
                self.stopped_by = error
                self._say_error("tenant stopped", error)
                self._sleep(MEND_SECONDS)
            except Exception as error:  # noqa: BLE001 - a supervisor: what failed begins anew
                self._say_error("tenant failed; trying again", error)
                self._sleep(self._pause_seconds)
                self._pause_seconds = min(2 * self._pause_seconds, RETRY_SECONDS_MAX)

    def _keep(self) -> None:
        """Open the tenant's folder, take its lease, and stay until the end or a failure."""
        if not self._is_there():
            raise LogUnavailable(topic_of(self.tenant), "no such topic")
        with closing(Engine(self._settings)) as engine:
            self._engine = engine
            try:
                if not self._took(engine):
                    return
                build_anew(engine, tell=self._tell_building)
                self.stopped_by = self._said = None
                self._pause_seconds = RETRY_SECONDS_MIN
                self._stay(engine)
            finally:
                self._engine = None

    def _took(self, engine: Engine) -> bool:
        """Wait for the folder's lease; False where the end came first.

        The group has given the tenant to this worker, so that one on this folder that is stopped
        is no owner any more: it is ended, before it could wake up and write.
        """
        stalled_since: dict[int, float] = {}
        while not self._ending and not take_over(engine):
            found = look(engine.folder / LEASE_FILE)
            self._say("folder held; waiting", holder=str(found), folder=str(engine.folder))
            if found.pid is not None and self._owned and is_stalled_worker(found):
                since = stalled_since.setdefault(found.pid, time.monotonic())
                if time.monotonic() - since >= STALLED_SECONDS:
                    _log.warning("stalled owner ended", tenant=self.tenant, holder=str(found))
                    os.kill(found.pid, signal.SIGKILL)
            else:
                stalled_since.clear()
            self._sleep(LOOK_SECONDS)
        return not self._ending

    def _stay(self, engine: Engine) -> None:
        _log.info("tenant taken", tenant=self.tenant, folder=str(engine.folder))
        catching_up = _CatchUp(engine)
        while not self._ending:
            with self._attend(engine) if self._owned else nullcontext():
                was_owned = self._owned
                while not self._ending and self._owned == was_owned:
                    _check(engine)
                    catching_up.tell()
                    self._sleep(LOOK_SECONDS)
        _log.info("tenant let go", tenant=self.tenant)

    def _tell_building(self, projection: str, stage: Stage) -> None:
        """Tell how far a rebuild is; end it where the tenant is let go."""
        if self._ending:
            raise _LetGo
        if stage.seconds - self._told_building >= TELL_SECONDS or not stage.done:
            self._told_building = stage.seconds if stage.done else 0.0
            _log.info(
                "building",
                tenant=self.tenant,
                projection=projection,
                stage=stage.name,
                done=stage.done,
                total=stage.total,
            )

    def _sleep(self, seconds: float) -> None:
        """Wait, or less where there are new orders."""
        with self._orders:
            before = (self._ending, self._owned)
            self._orders.wait_for(lambda: before != (self._ending, self._owned), seconds)

    def _say_error(self, event: str, error: BaseException) -> None:
        known = isinstance(error, MnemologError)
        hint = error.hint if isinstance(error, MnemologError) else "This is our fault."
        self._say(event, error=str(error), hint=hint, exc_info=None if known else error)

    def _say(self, event: str, **more: object) -> None:
        """Say it, if it is not what was said last."""
        if self._said != (event, str(more)):
            self._said = (event, str(more))
            _log.warning(event, tenant=self.tenant, **more)


def is_stalled_worker(found: Holding) -> bool:
    """Say whether a folder is held by a worker of this host that was stopped by a signal."""
    if not (found.is_held and found.lives and found.is_stopped):
        return False
    try:
        words = Path(f"/proc/{found.pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return b"worker" in words and any(b"mnemolog" in word for word in words)


class _LetGo(Exception):
    """The tenant is let go in the middle of a rebuild, which a later owner begins again."""


class _CatchUp:
    """Tells how far a tenant that was just taken is behind its log, until it is not."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._since = time.monotonic()
        self._told = -TELL_SECONDS
        self._is_done = False

    def tell(self) -> None:
        if self._is_done:
            return
        try:
            behind = _behind(self._engine)
        except StoreUnavailable:
            return  # the dispatcher tells of it
        tenant, seconds = self._engine.settings.tenant, time.monotonic() - self._since
        self._is_done = behind == 0
        if self._is_done:
            _log.info("tenant ready", tenant=tenant, seconds=round(seconds, 1))
        elif seconds - self._told >= TELL_SECONDS:
            self._told = seconds
            _log.info("tenant catching up", tenant=tenant, behind=behind, seconds=round(seconds, 1))


def _behind(engine: Engine) -> int:
    """Return how many records the projection that is furthest behind has to apply."""
    ends = engine.log.ends()
    known = [applied(engine, name) for name in (MEMORIES, WEIGHTS, CHECKPOINTS)]
    return max(sum(max(0, end - 1 - at.get(p, -1)) for p, end in ends.items()) for at in known)


def _check(engine: Engine) -> None:
    """Raise what the dispatcher could not go on from."""
    failure = None if engine.dispatcher is None else engine.dispatcher.failure
    if failure is not None:
        raise failure
