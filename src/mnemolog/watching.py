"""Who watches: a thread that looks at every open tenant, and what it saw last."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

import structlog

from mnemolog.engine import present
from mnemolog.health import Level, Question, worst
from mnemolog.picture import Picture
from mnemolog.schemas.errors import MnemologError
from mnemolog.tenant_watch import Subject, TenantWatch
from mnemolog.watch_settings import Watching

LOOK_SECONDS: Final = 5.0
STALE_SECONDS: Final = 300.0  # without a look, after which what was seen says nothing
STOP_SECONDS_MAX: Final = 10.0
DETAILS_MAX: Final = 10  # that an answer to a probe names

_log = structlog.get_logger("mnemolog.watch")


class Subjects(Protocol):
    """The tenants of this process."""

    def tenants(self) -> Sequence[str]:
        """Return their names."""
        ...

    def using(self, tenant: str) -> AbstractContextManager[Subject]:
        """Give one of them, which stays open within the block if that can be promised."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """An answer to a probe: whether all is well, and what is not, without a tenant's name."""

    is_well: bool
    level: Level
    details: tuple[str, ...]


class Watch:
    """Looks at every tenant of *subjects* now and then, from `start` to `stop`."""

    def __init__(
        self,
        subjects: Subjects,
        watching: Watching,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = present,
    ) -> None:
        self._subjects = subjects
        self._watching = watching
        self._clock = clock
        self._now = now
        self._tenants: dict[str, TenantWatch] = {}
        self._looking = threading.Lock()
        self._looked_at = clock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mnemolog-watch", daemon=True)
        self.pictures: Mapping[str, Picture] = {}

    def start(self) -> None:
        """Begin. Call once."""
        self._thread.start()

    def stop(self) -> None:
        """End, and wait for it within a bound. Harmless twice, and before it began."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS_MAX)
        if self._looking.acquire(timeout=STOP_SECONDS_MAX):  # or a look hangs, and keeps its own
            try:
                for one in self._tenants.values():
                    one.close()
                self._tenants = {}
            finally:
                self._looking.release()

    def look(self) -> None:
        """Look at every tenant once. Any thread may ask; one looks at a time."""
        with self._looking:
            if self._stopping.is_set():
                return
            names = list(self._subjects.tenants())
            for gone in self._tenants.keys() - set(names):
                self._tenants.pop(gone).close()
            self.pictures = {name: self._look_at(name) for name in names}
            self._looked_at = self._clock()

    def alive(self) -> Told:
        """Say whether everything that is to move does, and somebody looks."""
        if self._clock() - self._looked_at > STALE_SECONDS:
            return Told(is_well=False, level=Level.FAILING, details=("nobody looks any more",))
        return self._told("moving")

    def ready(self) -> Told:
        """Say whether one may ask: all are open, their logs answer, none is too far behind."""
        return self._told("open", "behind", "moving")

    def metrics(self, *tenants: str) -> bytes:
        """Return what Prometheus reads, of *tenants* alone if any are named."""
        from mnemolog.metrics import rendered  # noqa: PLC0415 - its client is slow to load

        seen = [one for name, one in self.pictures.items() if not tenants or name in tenants]
        return rendered(seen, look_age_seconds=self._clock() - self._looked_at)

    def _told(self, *questions: Question) -> Told:
        every = [v for one in self.pictures.values() for v in one.health.verdicts]
        asked = [v for v in every if v.question in questions]
        bad = [v for v in asked if v.level is Level.FAILING]
        details = dict.fromkeys(f"{v.about}: {v.detail}" for v in bad)
        return Told(not bad, worst(asked), tuple(details)[:DETAILS_MAX])

    def _look_at(self, name: str) -> Picture:
        one = self._tenants.get(name)
        if one is None:
            one = TenantWatch(self._watching, clock=self._clock, now=self._now)
            self._tenants[name] = one
        try:
            with self._subjects.using(name) as subject:
                return one.look(subject)
        except MnemologError as error:
            return one.look(Subject(name, None, error))

    def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                self.look()
            except Exception:  # noqa: BLE001 - whatever it is, the next look may do better
                _log.exception("a look failed")
            self._stopping.wait(LOOK_SECONDS)
